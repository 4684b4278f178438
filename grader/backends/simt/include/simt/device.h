// Everything a kernel can name without an include.
#pragma once
#include "alternatives.h"
#include "atomics.h"
#include "cluster.h"
#include "math.h"
#include "nv_atomics.h"
#include "ptx.h"
#include "sync.h"
