// Waiting for other threads: block barriers and everything that a warp does together.
#pragma once
#include "worker.h"

namespace simt {

void release_block_barrier(Worker* w);
bool release_any_warp_barrier(Worker* w, int warp);
bool release_active_mask(Worker* w, int warp);

}  // namespace simt
