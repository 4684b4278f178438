// torch's older place for it.
#pragma once
#include "../../cublas_v2.h"
