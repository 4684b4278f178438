// What is there of CUB: its names, results and need for barriers, written anew for one CPU.
#pragma once
#include "cub_operators.h"
#include "cub_iterators.h"
#include "cub_warp.h"
#include "cub_block.h"
#include "cub_arrange.h"
#include "cub_device.h"
