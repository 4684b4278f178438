// The primitives are what is run here of CUDA's pipelines.
#pragma once
#include "cuda_pipeline_primitives.h"
