// The machine's cores, for blocks that nobody watches.
#pragma once
#include "base.h"

#include <functional>

namespace simt {

// Runs the task on the calling thread and on helpers, one for each further core; returns when all are done.
void on_every_core(const std::function<void()>& task);

}  // namespace simt
