// torch's CUDA side, for simt.
#pragma once
#include "simt/torch.h"
