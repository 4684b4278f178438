// Instead of torch's own header of this name, while the narrow one suffices. Bindings are compiled apart and
// have pybind11 already; a CUDA source that wants it says so.
#pragma once
#include <narrow.h>
