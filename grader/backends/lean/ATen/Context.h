// Instead of torch's own header of this name, while the narrow ones suffice. Every operator's header includes
// it and none uses it: without its contents an extension compiles in two thirds of the time.
#pragma once
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
