// Both 16-bit formats are alike.
#pragma once
#include "simt/half.h"
