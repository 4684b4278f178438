// cuda::barrier, cuda::pipeline and cuda::memcpy_async: copies that arrive when somebody has waited for them.
#pragma once
#include "../cooperative_groups.h"
#include "libcu_atomic.h"

namespace cuda {

template <size_t Alignment>
struct aligned_size_t {
  static constexpr size_t align = Alignment;
  size_t value;
  explicit constexpr aligned_size_t(size_t bytes) : value(bytes) {}
  constexpr operator size_t() const { return value; }
};

namespace std {
struct __empty_completion {
  void operator()() {}
};
}  // namespace std

// Eight bytes of shared memory, whose address is what the runtime knows it by.
template <thread_scope Scope, class Completion = std::__empty_completion>
class barrier {
  static_assert(::std::is_same_v<Completion, std::__empty_completion>,
                "a function that runs when a barrier's phase is complete cannot run on the CPU: let one thread call it after the wait");

 public:
  class arrival_token {
    friend class barrier;
    explicit arrival_token(unsigned phase) : phase_(phase) {}
    unsigned phase_;
  };
  barrier() = default;
  barrier(ptrdiff_t expected, Completion = {}) { simt_barrier_init(this, (unsigned)expected); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  static constexpr ptrdiff_t max() { return (1 << 20) - 1; }

  SIMT_INLINE friend void init(barrier* b, ptrdiff_t expected, Completion = {}) { simt_barrier_init(b, (unsigned)expected); }
  [[nodiscard]] SIMT_INLINE arrival_token arrive(ptrdiff_t count = 1) {
    return arrival_token(simt_barrier_arrive(this, (unsigned)count, 0));
  }
  SIMT_INLINE void wait(arrival_token&& token) const { simt_barrier_wait(self(), token.phase_); }
  SIMT_INLINE void wait_parity(bool parity) const {
    unsigned phase = simt_barrier_phase(self());  // one that is complete has the other parity
    if ((phase & 1) == parity) simt_barrier_wait(self(), phase);
    else if (phase) simt_barrier_wait(self(), phase - 1);
  }
  SIMT_INLINE void arrive_and_wait() { simt_barrier_wait(this, simt_barrier_arrive(this, 1, 0)); }
  SIMT_INLINE void arrive_and_drop() { simt_barrier_arrive(this, 1, 1); }
  SIMT_INLINE bool try_wait(arrival_token&& token) const { return simt_barrier_test(self(), token.phase_); }
  SIMT_INLINE bool try_wait_parity(bool parity) const {
    unsigned phase = simt_barrier_phase(self());
    return (phase & 1) == parity ? simt_barrier_test(self(), phase) : !phase || simt_barrier_test(self(), phase - 1);
  }

 private:
  void* self() const { return (void*)this; }
  uint64_t simt_opaque_;
};

namespace simt_detail {

// Thread `rank` of `size` begins to copy its share, in the widest pieces that addresses and size allow. What no asynchronous
// copy is made of, single bytes or memory that is not shared, is copied at once.
SIMT_INLINE void begin_copy(char* to, const char* from, size_t bytes, size_t rank, size_t size) {
  size_t all = (size_t)to | (size_t)from | bytes;
  unsigned each = all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
  bool later = each > 1 && simt_is_cluster_shared(to);
  for (size_t i = rank * each; i < bytes; i += size * each) {
    if (later) simt_copy_async(to + i, from + i, each, 0);
    else if (each == 1) to[i] = from[i];
    else for (unsigned k = 0; k < each; k += 4) *(unsigned*)(to + i + k) = *(const unsigned*)(from + i + k);
  }
}
}  // namespace simt_detail

namespace std {
template <class Completion = __empty_completion>
using barrier = ::cuda::barrier<thread_scope_system, Completion>;
}  // namespace std

enum class async_contract_fulfillment { none, async };

template <class Size, thread_scope Scope, class C>
SIMT_INLINE auto memcpy_async(void* to, const void* from, Size bytes, barrier<Scope, C>& b) {
  simt_copies_for(&b);
  simt_detail::begin_copy((char*)to, (const char*)from, (size_t)bytes, 0, 1);
  simt_copies_for(nullptr);
  return async_contract_fulfillment::async;
}
template <class Group, class Size, thread_scope Scope, class C>
SIMT_INLINE auto memcpy_async(const Group& group, void* to, const void* from, Size bytes, barrier<Scope, C>& b) {
  simt_copies_for(&b);
  simt_detail::begin_copy((char*)to, (const char*)from, (size_t)bytes, group.thread_rank(), group.size());
  simt_copies_for(nullptr);
  return async_contract_fulfillment::async;
}

enum class pipeline_role { producer, consumer };

// Of a block: for each stage a barrier that says that it is filled, and one that it may be filled again.
template <thread_scope Scope, unsigned Stages>
class pipeline_shared_state {
  static_assert(Scope == thread_scope_block, "a pipeline of more than one block cannot run on the CPU: use cuda::thread_scope_block");

 public:
  pipeline_shared_state() = default;
  pipeline_shared_state(const pipeline_shared_state&) = delete;
  struct Stage {
    barrier<thread_scope_block> filled, freed;
  } simt_stages[Stages];
};

template <thread_scope Scope>
class pipeline;

// A thread's own: its groups of copies, in their order.
template <>
class pipeline<thread_scope_thread> {
 public:
  pipeline() = default;
  pipeline(pipeline&&) = default;
  void producer_acquire() {}
  SIMT_INLINE void producer_commit() {
    simt_commit_copies();
    ++begun_;
  }
  SIMT_INLINE void consumer_wait() { simt_wait_copies(begun_ > taken_ ? begun_ - taken_ - 1 : 0, 0); }
  void consumer_release() { ++taken_; }
  template <class Rep, class Period>
  bool consumer_wait_for(const Rep&, const Period&) = delete;
  bool quit() { return true; }
  SIMT_INLINE void simt_begin(char* to, const char* from, size_t bytes, size_t rank, size_t size) {
    simt_detail::begin_copy(to, from, bytes, rank, size);
  }
  template <unsigned Left>
  SIMT_INLINE void simt_wait_prior() {
    simt_wait_copies(Left, 0);
  }

 private:
  unsigned begun_ = 0, taken_ = 0;
};

template <>
class pipeline<thread_scope_block> {
 public:
  template <unsigned Stages>
  pipeline(pipeline_shared_state<thread_scope_block, Stages>* state, bool produces, bool consumes)
      : stages_((Stage*)state->simt_stages), number_(Stages), produces_(produces), consumes_(consumes) {}
  pipeline(const pipeline&) = delete;
  pipeline(pipeline&&) = default;

  SIMT_INLINE void producer_acquire() {
    if (filled_ >= number_) simt_barrier_wait(&at(filled_).freed, filled_ / number_ - 1);
  }
  SIMT_INLINE void producer_commit() { simt_barrier_arrive(&at(filled_++).filled, 1, 0); }
  SIMT_INLINE void consumer_wait() { simt_barrier_wait(&at(taken_).filled, taken_ / number_); }
  SIMT_INLINE void consumer_release() { simt_barrier_arrive(&at(taken_++).freed, 1, 0); }
  bool quit() {
    for (unsigned i = 0; i < number_; ++i) {
      if (produces_) simt_barrier_arrive(&at(filled_ + i).filled, 1, 1);
      if (consumes_) simt_barrier_arrive(&at(taken_ + i).freed, 1, 1);
    }
    return true;
  }
  SIMT_INLINE void simt_begin(char* to, const char* from, size_t bytes, size_t rank, size_t size) {
    simt_copies_for(&at(filled_).filled);
    simt_detail::begin_copy(to, from, bytes, rank, size);
    simt_copies_for(nullptr);
  }
  template <unsigned Left>
  SIMT_INLINE void simt_wait_prior() {
    if (filled_ > Left) simt_barrier_wait(&at(filled_ - Left - 1).filled, (filled_ - Left - 1) / number_);
  }

 private:
  using Stage = pipeline_shared_state<thread_scope_block, 1>::Stage;
  Stage& at(unsigned i) const { return stages_[i % number_]; }
  Stage* stages_;
  unsigned number_, filled_ = 0, taken_ = 0;
  bool produces_, consumes_;
};

inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

namespace simt_detail {
template <class Group, unsigned Stages>
SIMT_INLINE void set_up(const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state, unsigned producers,
                        unsigned consumers) {
  if (group.thread_rank() == 0)
    for (auto& stage : state->simt_stages) init(&stage.filled, producers), init(&stage.freed, consumers);
  sync(group);
}
}  // namespace simt_detail

template <class Group, unsigned Stages>
SIMT_INLINE pipeline<thread_scope_block> make_pipeline(const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state) {
  simt_detail::set_up(group, state, (unsigned)group.size(), (unsigned)group.size());
  return {state, true, true};
}
template <class Group, unsigned Stages>
SIMT_INLINE pipeline<thread_scope_block> make_pipeline(const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state,
                                                       size_t producers) {
  bool produces = group.thread_rank() < producers;
  simt_detail::set_up(group, state, (unsigned)producers, (unsigned)(group.size() - producers));
  return {state, produces, !produces};
}
template <class Group, unsigned Stages>
SIMT_INLINE pipeline<thread_scope_block> make_pipeline(const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state,
                                                       pipeline_role role) {
  bool produces = role == pipeline_role::producer;
  unsigned producers = (unsigned)__syncthreads_count(produces);
  simt_detail::set_up(group, state, producers, (unsigned)group.size() - producers);
  return {state, produces, !produces};
}

template <class Size, thread_scope Scope>
SIMT_INLINE auto memcpy_async(void* to, const void* from, Size bytes, pipeline<Scope>& p) {
  p.simt_begin((char*)to, (const char*)from, (size_t)bytes, 0, 1);
  return async_contract_fulfillment::async;
}
template <class Group, class Size, thread_scope Scope>
SIMT_INLINE auto memcpy_async(const Group& group, void* to, const void* from, Size bytes, pipeline<Scope>& p) {
  p.simt_begin((char*)to, (const char*)from, (size_t)bytes, group.thread_rank(), group.size());
  return async_contract_fulfillment::async;
}
template <unsigned Left, thread_scope Scope>
SIMT_INLINE void pipeline_consumer_wait_prior(pipeline<Scope>& p) {
  p.template simt_wait_prior<Left>();
}
}  // namespace cuda
