// A copy's bytes are out of reach from its beginning until its thread has waited: nobody may read or write them. Here
// they arrive at that moment and not before, so that a kernel that forgets to wait never has luck.
#include "async_copies.h"

#include "check.h"
#include "findings.h"
#include "layouts.h"
#include "unseen.h"

#define RETURN_ADDRESS __builtin_return_address(0)

namespace simt {

const AsyncCopy* copy_under_way(const Worker* w, size_t address, unsigned size) {
  for (auto& copy : w->copies)
    if ((size_t)copy.to < address + size && address < (size_t)copy.to + copy.bytes) return &copy;
  return nullptr;
}

// The records of the bytes at `address` in shared memory; nullptr for any other place.
static u8* defined_at(Worker* w, size_t address, u64** marks) {
  if (size_t offset = address - w->tls; offset < w->tls_bytes) {
    *marks = w->shared->marks + offset / 4;
    return w->static_defined.data() + offset;
  }
  if (size_t offset = address - (size_t)w->dynamic_shared; offset < w->launch->shared_bytes) {
    *marks = w->dynamic->marks + offset / 4;
    return w->dynamic_defined.data() + offset;
  }
  return nullptr;
}

static void set_defined(Worker* w, const AsyncCopy& copy, u8 value) {
  u64* marks = nullptr;
  if (!(w->mode & CHECK)) return;
  if (u8* defined = defined_at(w, (size_t)copy.to, &marks)) {
    memset(defined, value, copy.bytes);
    for (unsigned i = 0; i < (copy.bytes + 3) / 4; ++i) marks[i] = 0;
  }
}

static void arrive(Worker* w, const AsyncCopy& copy, void* waits) {
  set_defined(w, copy, 1);
  int mode = w->mode;
  w->mode &= ~COUNT;  // it was counted when it began
  if (mode & CHECK) access(copy.to, copy.bytes, WRITE, waits);
  w->mode = mode;
  if (!w->killed) memcpy(copy.to, copy.data, copy.bytes);
}

// Those that a barrier's phase waits for. What orders their writes is that their threads have begun them before they arrived.
void bring_copies(Worker* w, size_t barrier, u32 phase) {
  std::erase_if(w->copies, [&](const AsyncCopy& copy) {
    if (copy.barrier != barrier || copy.barrier_phase != phase) return false;
    set_defined(w, copy, 1);
    if (w->looking) heard_of(copy.to, copy.bytes);
    memcpy(copy.to, copy.data, copy.bytes);
    return true;
  });
}

bool is_shared(const Worker* w, size_t address) {
  return address - w->tls < w->tls_bytes || address - (size_t)w->dynamic_shared < MAX_SHARED;
}

void copy_async(Worker* w, void* to, const void* from, unsigned bytes, unsigned zeros, void* here) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes) {
    char why[96];
    if (zeros > bytes) snprintf(why, sizeof why, "begins an asynchronous copy of %u bytes of which %u are to be zeros", bytes, zeros);
    else snprintf(why, sizeof why, "begins an asynchronous copy of %u byte%s: there are those of 4, 8 and 16", bytes, bytes == 1 ? "" : "s");
    report(w, "async-copy", (size_t)here - 1, {.detail = why});
    return kill_launch(w);
  }
  const Thread& thread = w->threads[w->current];
  AsyncCopy copy{w->current, AsyncCopy::NO_GROUP, 0, w->block_phase, thread.warp_phase, thread.copies_for, thread.copies_phase, (char*)to, bytes, {}};
  if (w->launch->module) copy.pc_in_module = u32((size_t)here - 1 - w->launch->module->base);
  if (w->mode) {
    unsigned read = bytes - zeros, step = zeros ? 1 : bytes;
    w->padded = w->mode & CHECK && reads_padding_alone(w, (size_t)from, read, AS_MEMCPY);
    for (unsigned i = 0; i < read; i += step) access((char*)from + i, step, READ, here);
    w->padded = false;
    access(to, bytes, WRITE, here);
  }
  if (w->killed) return;
  memcpy(copy.data, from, bytes - zeros);
  memset(to, 0xff, bytes);
  w->copies.push_back(copy);
  set_defined(w, copy, UNDER_WAY);
}

}  // namespace simt

using namespace simt;

// Begins to copy `bytes` (4, 8 or 16), of which the last `zeros` are zeros and not read.
extern "C" SIMT_EXPORT void simt_copy_async(void* to, const void* from, unsigned bytes, unsigned zeros) {
  if (Worker* w = t_worker; w && w->fibre) copy_async(w, to, from, bytes, zeros, RETURN_ADDRESS);
}

extern "C" SIMT_EXPORT void simt_commit_copies() {
  Worker* w = t_worker;
  if (!w || !w->fibre) return;
  u32 group = w->threads[w->current].copy_groups++;
  for (auto& copy : w->copies)
    if (copy.thread == w->current && copy.group == AsyncCopy::NO_GROUP && !copy.barrier) copy.group = group;
}

// Until all groups of this thread but the `left` newest have arrived; `all`: what is not committed, too.
extern "C" SIMT_EXPORT void simt_wait_copies(unsigned left, int all) {
  Worker* w = t_worker;
  if (!w || !w->fibre) return;
  u32 groups = w->threads[w->current].copy_groups, done = groups > left ? groups - left : 0;
  std::vector<AsyncCopy> arrived;
  std::erase_if(w->copies, [&](const AsyncCopy& copy) {
    bool here = copy.thread == w->current && !copy.barrier && (all || (copy.group != AsyncCopy::NO_GROUP && copy.group < done));
    if (here) arrived.push_back(copy);
    return here;
  });
  for (auto& copy : arrived) arrive(w, copy, RETURN_ADDRESS);
}
