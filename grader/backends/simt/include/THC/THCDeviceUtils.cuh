// torch's older name for its CUDA side; programs still include it.
#pragma once
#include "../simt/torch.h"
