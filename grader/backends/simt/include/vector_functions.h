// All of it is in one place.
#pragma once
#include "cuda_runtime.h"
