// The device's queue: launches, events and frees wait in it until the host waits for them.
#pragma once
#include "base.h"

#include <functional>

namespace simt {

// Does `task` now if nothing is queued or launches are blocking, else when its turn comes.
void in_turn(std::function<void()> task, bool may_wait);
bool is_idle();
bool is_default_stream(const void* stream);
bool is_own_stream(const void* stream);  // neither that nor one that PyTorch had as its current one
const void* thread_stream();  // the one that PyTorch has as current in this thread; nullptr: the default one
void note_device(const void* stream);  // of a launch: whether it goes to another device than the tensors'

}  // namespace simt
