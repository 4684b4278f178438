// A group's threads copy together: each of them its share, in the widest pieces that the addresses allow.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group>
SIMT_INLINE void memcpy_async(const Group& group, void* to, const void* from, size_t bytes) {
  size_t all = (size_t)to | (size_t)from | bytes;
  unsigned each = all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
  for (size_t i = group.thread_rank() * (size_t)each; i < bytes; i += group.size() * (size_t)each) {
    if (each == 1) ((char*)to)[i] = ((const char*)from)[i];
    else simt_copy_async((char*)to + i, (const char*)from + i, each, 0);
  }
  simt_commit_copies();
}
template <class Group, class T>
SIMT_INLINE void memcpy_async(const Group& group, T* to, size_t room, const T* from, size_t number) {
  memcpy_async(group, (void*)to, (const void*)from, (room < number ? room : number) * sizeof(T));
}
template <class Group>
SIMT_INLINE void wait(const Group& group) {
  simt_wait_copies(0, 0);
  group.sync();
}
template <unsigned LEFT, class Group>
SIMT_INLINE void wait_prior(const Group& group) {
  simt_wait_copies(LEFT, 0);
  group.sync();
}

}  // namespace cooperative_groups
