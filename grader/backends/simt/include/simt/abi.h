// The C interface between compiled student code and the runtime library (csrc/). No torch, no CUDA names
// beyond the three built-in types that cross it.
#pragma once
#include <cstddef>
#include <cstdint>

struct uint3 {
  unsigned x, y, z;
};

#ifdef SIMT_FAST
#define SIMT_INSTRUMENTED false
#else
#define SIMT_INSTRUMENTED true
#endif

namespace simt {
struct Builtins {
  uint3 thread, block, block_dim, grid_dim, cluster_dim;
};
struct LaunchConfig {
  uint3 grid, block;
  size_t shared_bytes;
  void* stream;
  bool has_cluster = false;
  uint3 cluster = {};
};
// One argument of a launch that is a pointer, or that may hold some: lets a finding say "x[1024]" instead of an
// address, and tells what the launch cannot write.
struct PointerArgument {
  int index;
  const void* pointer;
  size_t element;
  bool is_constant, hides_pointers;
  const void* type = nullptr;  // of a class: as in simt_tell_layout
};
struct LaunchSite {
  const char* kernel;
  const char* file;
  int line;
  bool instrumented = SIMT_INSTRUMENTED;  // compiled so that the runtime sees every access
};
// What one thread of a launch does. The runtime takes over `context`, which holds the arguments.
struct LaunchBody {
  void (*run)(void* context);
  void (*destroy)(void* context);
  void* context;
  size_t bytes;
  void* (*tls_anchor)();
  bool cooperative;
  const void* kernel = nullptr;  // where its code is, if the launch knows
};
}  // namespace simt

extern "C" {
#define SIMT_EXPORT __attribute__((visibility("default")))
#define SIMT_TLS __attribute__((tls_model("initial-exec")))

// ---- launching
// Launches are queued, and run in their order when the host waits for one of them or looks at memory.
SIMT_EXPORT void simt_launch(const simt::LaunchSite* site, const simt::LaunchConfig* config,
                             const simt::LaunchBody* body, const simt::PointerArgument* pointers,
                             int pointer_count);
SIMT_EXPORT void simt_wait();                      // runs what is queued
// By a thread of a kernel (dynamic parallelism): the grid runs once the one that launches it has ended.
SIMT_EXPORT void simt_launch_child(const simt::LaunchSite* site, const simt::LaunchConfig* config, const simt::LaunchBody* body,
                                   const simt::PointerArgument* pointers, int pointer_count, const void* return_address);
SIMT_EXPORT void* simt_child_memory(size_t bytes, size_t alignment);  // for its arguments: zeros
SIMT_EXPORT void* simt_child_stream();  // another one, of the running block
SIMT_EXPORT void* simt_current_stream();            // PyTorch's, of this thread; nullptr: the default one
SIMT_EXPORT void* simt_stream_of(int device);       // the same of a device; below 0: of the current one
SIMT_EXPORT void simt_set_current_stream(void* stream);
SIMT_EXPORT int simt_device();                      // the current one, of this thread
SIMT_EXPORT int simt_exchange_device(int device);   // returns the one before; one that does not exist: no change
SIMT_EXPORT int simt_device_exists(int device);
SIMT_EXPORT void simt_record_event(double* when);  // queued too; -1 until its turn comes, then seconds
SIMT_EXPORT int simt_register_kernels(const char* declarations);  // "name param param,name param"; "<<<": some launch others
SIMT_EXPORT int simt_register_managed(const void* begin, const void* end);  // where the __managed__ variables lie
// A type of the program, which the address `type` stands for: `members` writes a byte for each of its own, 0 if an object
// may leave it unwritten. Told again, both hold.
SIMT_EXPORT void simt_tell_layout(const void* type, size_t bytes, size_t alignment, int has_unions, void (*members)(unsigned char*));
SIMT_EXPORT void simt_tell_shared(const char* name, const void* type);  // of a __shared__ variable: name@function
SIMT_EXPORT int simt_register_source(const char* file, int first_line, const char* text);
SIMT_EXPORT int simt_allow_dynamic_shared(const void* kernel, int bytes);
SIMT_EXPORT size_t simt_static_shared(const void* kernel);  // bytes of its __shared__ variables
SIMT_EXPORT int simt_launch_bound(const void* kernel);      // of __launch_bounds__, else 1024
SIMT_EXPORT int simt_allow_large_clusters(const void* kernel, int allowed);
SIMT_EXPORT int simt_allows_large_clusters(const void* kernel);
// An address of code that the host knows, and a GPU has elsewhere: "function" or "table" (of virtual functions); nullptr
// if these bytes of an argument hold none.
SIMT_EXPORT const char* simt_host_code_in(const void* argument, size_t bytes);
SIMT_EXPORT void simt_refuse_argument(const simt::LaunchSite* site, const simt::LaunchConfig* config, int number, const char* code);
SIMT_EXPORT void simt_device_tells(const void* bytes, size_t size);  // the host gets a variable's: addresses in them are the device's
SIMT_EXPORT int simt_refuse_launch(int code, const char* why);  // one that asks for what there is not; returns the code

// ---- called by kernels
#ifdef __clang__
__attribute__((nomerge))  // two barriers in the source stay two call sites
#endif
// Which barrier of the source it is, and in which function: each instance of a template has a barrier of its own.
SIMT_EXPORT void simt_syncthreads(uint64_t number, const char* function);
SIMT_EXPORT int simt_syncthreads_vote(uint64_t number, const char* function, int operation, int predicate);  // 0 count, 1 and, 2 or
SIMT_EXPORT void simt_syncwarp(unsigned mask);
SIMT_EXPORT uint64_t simt_shuffle(unsigned mask, uint64_t bits, int kind, int argument, int width);
SIMT_EXPORT unsigned simt_ballot(unsigned mask, int predicate);
SIMT_EXPORT uint64_t simt_match(unsigned mask, uint64_t bits);
SIMT_EXPORT unsigned simt_lane();
SIMT_EXPORT void simt_multiplied(unsigned operations);  // tells the counts what tensor cores did for a warp
SIMT_EXPORT float* simt_factors(unsigned warp);  // twice 512 numbers: what its lanes show each other of a product's factors
SIMT_EXPORT void simt_fence(int scope);
SIMT_EXPORT void simt_round_towards(int direction);  // as fesetround(), which a kernel may not call itself
SIMT_EXPORT void simt_sync_grid();
SIMT_EXPORT void simt_cluster_sync();  // arrives and waits
SIMT_EXPORT void simt_cluster_arrive();
SIMT_EXPORT void simt_cluster_wait();
SIMT_EXPORT void* simt_cluster_map(const void* address, unsigned rank);  // the same place in another block's shared memory
SIMT_EXPORT unsigned simt_cluster_rank_of(const void* address);          // whose shared memory it is in
SIMT_EXPORT int simt_is_cluster_shared(const void* address);
SIMT_EXPORT int simt_is_cooperative();
SIMT_EXPORT int simt_in_kernel();  // whether a kernel runs on this OS thread
SIMT_EXPORT void simt_let_others_run();
SIMT_EXPORT void simt_read_only(const void* address, int size);  // a read by a cache that sees no write of the launch
SIMT_EXPORT void simt_strong(int in_block);  // the next volatile access is one of PTX's strong ones
SIMT_EXPORT void simt_in_block();  // the next atomic access has the scope of a block
SIMT_EXPORT void simt_atomic(void* address, int size);  // tells the checks about an atomic access
SIMT_EXPORT void simt_exchange(void* address, int size);  // about one that writes whatever was there before
// Copies to shared memory that arrive when their thread waits: begun, put into a group, waited for.
SIMT_EXPORT void simt_copy_async(void* to, const void* from, unsigned bytes, unsigned zeros);
SIMT_EXPORT void simt_commit_copies();
SIMT_EXPORT void simt_wait_copies(unsigned left, int all);
SIMT_EXPORT void simt_copies_for(void* barrier);  // those begun from here on belong to it; nullptr: to the thread again
// A cuda::barrier: its address stands for it, phases are numbered from 0.
SIMT_EXPORT void simt_barrier_init(void* barrier, unsigned expected);
SIMT_EXPORT unsigned simt_barrier_arrive(void* barrier, unsigned count, int drop);  // the phase arrived in
SIMT_EXPORT void simt_barrier_wait(void* barrier, unsigned phase);
SIMT_EXPORT int simt_barrier_test(void* barrier, unsigned phase);  // whether it is complete, after letting others run
SIMT_EXPORT unsigned simt_barrier_phase(void* barrier);
SIMT_EXPORT void simt_barrier_expect(void* barrier, unsigned bytes);
SIMT_EXPORT void simt_bulk_copy(void* to, const void* from, unsigned bytes, void* barrier);
// A barrier that no memory holds, by its number: so many threads meet, 0 for all of the block.
SIMT_EXPORT void simt_numbered_barrier(unsigned number, unsigned count, int waits);
SIMT_EXPORT void simt_assert_fail(const char* expression, const char* file, unsigned line,
                                  const char* function);

// ---- device memory
SIMT_EXPORT int simt_malloc(void** out, size_t bytes);
SIMT_EXPORT int simt_free(void* pointer);            // after what is queued
SIMT_EXPORT int simt_cuda_malloc(void** out, size_t bytes);  // the student's own: should be freed again
SIMT_EXPORT int simt_cuda_free(void* pointer);
SIMT_EXPORT int simt_malloc_for_both(void** out, size_t bytes, int kind);  // 1: pinned, 2: managed memory
SIMT_EXPORT int simt_is_for_both(const void* pointer);                     // its kind, 0 for any other
SIMT_EXPORT void simt_mark_initialised(const void* pointer, size_t bytes);
SIMT_EXPORT int simt_copy(void* to, const void* from, size_t bytes, int kind);  // kind as cudaMemcpyKind
SIMT_EXPORT int simt_fill(void* to, unsigned value, size_t bytes, unsigned element = 1);  // bytes of an element of the value
// Kernels see these bytes of the host by a function of the API: the host tells them what it has put there. 0: no more.
SIMT_EXPORT void simt_show_kernels(const void* object, size_t bytes);
SIMT_EXPORT void simt_tell_variable(const void* begin, size_t bytes, int managed);  // the host knows where it lies
SIMT_EXPORT int simt_variable_kind(const void* pointer);  // 0: of no such variable, 2: of a managed one
SIMT_EXPORT void simt_symbol_changes(const void* to, const void* from, size_t bytes);  // such a variable is about to be
SIMT_EXPORT void simt_symbol_written(const void* to, const void* from, size_t bytes);  // a __constant__ or __device__ variable was
SIMT_EXPORT int simt_is_device_pointer(const void* pointer);
SIMT_EXPORT int simt_is_allocated(const void* pointer, size_t bytes);  // all of it, in one allocation
SIMT_EXPORT void simt_record_stream(const void* pointer);  // as Tensor::record_stream does, for any stream
SIMT_EXPORT void simt_label(const void* pointer, const char* description, int element_bytes);
SIMT_EXPORT size_t simt_memory(int peak);
// The heap that malloc and new of kernels take from.
SIMT_EXPORT size_t simt_heap_limit();
SIMT_EXPORT int simt_limit_heap(size_t bytes);  // an error once a kernel has used it
SIMT_EXPORT int simt_reset_heap();

// ---- CUDA graphs: graphs, their nodes and what can be launched are handles
SIMT_EXPORT int simt_begin_capture(void* stream, void* graph);  // into a new one where none is given
SIMT_EXPORT int simt_end_capture(void* stream, void** graph);
SIMT_EXPORT int simt_is_captured(void* stream);  // 2: the capture has failed
SIMT_EXPORT void simt_join_capture(void* stream);
SIMT_EXPORT int simt_keep_copy(void* stream, void* to, const void* from, size_t bytes, int kind);  // whether it was kept
SIMT_EXPORT int simt_keep_symbol(void* stream, void* to, const void* from, size_t bytes);
SIMT_EXPORT int simt_keep_fill(void* stream, void* to, unsigned value, size_t bytes, unsigned element = 1);
SIMT_EXPORT int simt_keep_call(void* stream, void (*function)(void*), void* data);
SIMT_EXPORT void* simt_graph(const void* copied);
SIMT_EXPORT void simt_end_graph(void* graph);
SIMT_EXPORT void* simt_graph_add(void* graph, const void* child);  // an empty node where there is no child
SIMT_EXPORT size_t simt_graph_size(const void* graph);
SIMT_EXPORT void* simt_graph_node(const void* graph, size_t i);
SIMT_EXPORT int simt_node_type(const void* node);
SIMT_EXPORT void simt_node_after(void* node, void* other);
SIMT_EXPORT void simt_node_becomes(void* node, const void* graph);
SIMT_EXPORT void* simt_graph_exec(const void* graph);
SIMT_EXPORT void simt_end_graph_exec(void* exec);
SIMT_EXPORT void simt_graph_launch(const void* exec, void* stream);
SIMT_EXPORT int simt_exec_changes(void* exec, const void* node, const void* graph);
SIMT_EXPORT int simt_exec_follows(void* exec, const void* graph);

// ---- errors, numbered as cudaError_t
SIMT_EXPORT int simt_last_error(int clear);
SIMT_EXPORT int simt_fail(int code);  // remembers the error of a call and returns it
SIMT_EXPORT int simt_synchronize();

// ---- in which order work is (csrc/stream_order.cpp); events by the address of what holds them
SIMT_EXPORT void simt_new_stream(const void* stream, int blocking);
SIMT_EXPORT void simt_set_stream_kind(const void* stream, unsigned flags, int priority);
SIMT_EXPORT unsigned simt_stream_flags(const void* stream);
SIMT_EXPORT int simt_stream_priority(const void* stream);
SIMT_EXPORT void simt_uncount_stream(const void* stream);
SIMT_EXPORT void simt_event_on(const void* event, const void* stream);
SIMT_EXPORT void simt_forget_event(const void* event);
SIMT_EXPORT void simt_stream_waits(const void* stream, const void* event);
SIMT_EXPORT void simt_stream_follows(const void* stream, const void* other);
SIMT_EXPORT void simt_host_waits_for_event(const void* event);
SIMT_EXPORT void simt_host_waits_for_stream(const void* stream);
SIMT_EXPORT void simt_host_waits_for_all();
SIMT_EXPORT void simt_copy_is_on(const void* stream);
SIMT_EXPORT int simt_cuda_free_on(void* pointer, const void* stream);
SIMT_EXPORT const char* simt_error_detail();
}
