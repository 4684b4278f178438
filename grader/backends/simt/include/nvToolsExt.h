// All of it is in one place.
#pragma once
#include "nvtx3/nvToolsExt.h"
