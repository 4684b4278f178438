// Instead of torch's own header of this name, while the narrow one suffices.
#pragma once
#include <narrow.h>
