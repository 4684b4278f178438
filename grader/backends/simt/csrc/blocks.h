// Blocks that are put aside half done, because they wait for other blocks.
#pragma once
#include "worker.h"

namespace simt {

SavedBlock put_aside(Worker* w);
void take_up(Worker* w, SavedBlock& saved);

}  // namespace simt
