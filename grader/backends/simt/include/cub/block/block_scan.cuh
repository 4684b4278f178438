// Part of what CUB offers to blocks and warps.
#pragma once
#include "../cub.cuh"
