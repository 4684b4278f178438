// Which work of the device is known to be done before which other: what streams, events and the host's waiting order.
#pragma once
#include "base.h"

#include <map>
#include <memory>

namespace simt {

using Clock = std::map<const void*, u64>;  // of each stream: its work up to this number

// A piece of a stream's work. All pieces are numbered on, in the order of the program.
struct Work {
  const void* stream = nullptr;
  u64 number = 0;
  u64 all_before = 0;  // the host had waited for all up to this one
  std::shared_ptr<const Clock> after;  // and these are done, too, when it begins

  bool follows(const void* other, u64 its_number) const {
    if (its_number <= all_before) return true;
    auto known = after->find(other);
    return known != after->end() && its_number <= known->second;
  }
};

Work new_work(const void* stream);
void begin_runs(const Work& work, u32 first_run);  // blocks of its kernel have numbers from this one on
bool may_overlap(const Work& work);                // with a kernel that has run, but need not have, when it begins
bool done_before(u32 run, const Work& work);
bool several_streams();
Work new_work_on_default();  // the same of the default stream, whichever stream PyTorch has as its current one
// Of the copy or fill that the host asks for: its stream, and whether the host goes on at once; and of a graph's, where
// the program asked for it. Asked once.
struct CopyCall {
  const void* stream;
  bool asynchronous;
  size_t node_from;
};
CopyCall copy_call();
void next_copy_is_a_node(const void* stream, size_t from);

// The nodes of a graph that is launched on a stream, where one does not simply follow the other.
class GraphOrder {
  const void *stream_, *outer_;
  Clock before_, all_;
  std::map<const void*, Clock> done_;  // by node

 public:
  explicit GraphOrder(const void* stream);
  void begin(const void* node, const std::vector<const void*>& after);
  void end(const void* node);
  ~GraphOrder();
};

}  // namespace simt
