// Reductions are in the main header.
#pragma once
#include "../cooperative_groups.h"
