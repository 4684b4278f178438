// Streams and events. There is one queue, in which all work runs in the order of the program; which of it a GPU could
// run at once is known all the same.
#pragma once
#include "runtime_types.h"


inline cudaError_t cudaDeviceSynchronize() {
  cudaError_t error = (cudaError_t)simt_synchronize();
  simt_host_waits_for_all();
  return error;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t s) {
  cudaError_t error = (cudaError_t)simt_synchronize();
  simt_host_waits_for_stream(s);
  return error;
}
inline cudaError_t cudaStreamCreate(cudaStream_t* s) {
  static long number = 16;
  if (simt_in_kernel()) return *s = (cudaStream_t)simt_child_stream(), cudaSuccess;
  *s = (cudaStream_t)++number;  // a handle of its own, never dereferenced
  simt_new_stream(*s, 1);
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) {
  cudaError_t error = cudaStreamCreate(s);
  if (simt_in_kernel()) return error;
  simt_new_stream(*s, flags != cudaStreamNonBlocking);
  simt_set_stream_kind(*s, flags, 0);
  return error;
}
// A priority beyond the range is the nearest one in it.
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* s, unsigned flags, int priority) {
  cudaError_t error = cudaStreamCreateWithFlags(s, flags);
  if (!simt_in_kernel()) simt_set_stream_kind(*s, flags, priority < -5 ? -5 : priority > 0 ? 0 : priority);
  return error;
}
inline cudaError_t cudaStreamGetFlags(cudaStream_t s, unsigned* flags) {
  *flags = simt_stream_flags(s);
  return cudaSuccess;
}
inline cudaError_t cudaStreamGetPriority(cudaStream_t s, int* priority) {
  *priority = simt_stream_priority(s);
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}
inline cudaError_t cudaStreamSetAttribute(cudaStream_t, cudaStreamAttrID, const cudaStreamAttrValue*) {
  return cudaSuccess;
}
inline cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
// Whoever asks again and again gets its answer: asking runs the queue.
inline cudaError_t cudaStreamQuery(cudaStream_t s) {
  simt_wait();
  simt_host_waits_for_stream(s);
  return cudaSuccess;
}
// Who waits for what a captured stream does is captured as well.
inline cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned = 0) {
  if (e->captured)
    simt_join_capture(s);
  else
    simt_stream_waits(s, e);
  return cudaSuccess;
}
inline cudaError_t cudaLaunchHostFunc(cudaStream_t s, void (*function)(void*), void* data) {
  if (simt_keep_call(s, function, data)) return cudaSuccess;
  simt_wait();
  function(data);
  return cudaSuccess;
}
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void* data);
inline cudaError_t cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t function, void* data, unsigned) {
  simt_wait();
  function(s, (cudaError_t)simt_last_error(0), data);
  return cudaSuccess;
}
typedef void (*cudaHostFn_t)(void* data);

inline cudaError_t cudaEventCreate(cudaEvent_t* e) {
  *e = new simt::Event{-2};
  return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
inline cudaError_t cudaEventCreate(cudaEvent_t* e, unsigned) { return cudaEventCreate(e); }
inline cudaError_t cudaEventDestroy(cudaEvent_t e) {
  simt_wait();  // the queue may still hold it
  simt_forget_event(e);
  delete e;
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s = nullptr) {
  e->captured = simt_is_captured(s);
  if (e->captured) return cudaSuccess;
  simt_record_event(&e->seconds);
  simt_event_on(e, s);
  return cudaSuccess;
}
inline cudaError_t cudaEventQuery(cudaEvent_t e) {
  simt_host_waits_for_event(e);
  if (e->seconds != -1) return cudaSuccess;
  simt_wait();
  return cudaErrorNotReady;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t e) {
  cudaError_t error = (cudaError_t)simt_synchronize();
  simt_host_waits_for_event(e);
  return error;
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (begin->seconds == -2 || end->seconds == -2) return (cudaError_t)simt_fail(cudaErrorInvalidResourceHandle);
  if (begin->seconds == -1 || end->seconds == -1) return cudaErrorNotReady;
  *milliseconds = (float)((end->seconds - begin->seconds) * 1e3);
  return cudaSuccess;
}
