// CUDA graphs: what a stream is asked to do while it is captured, or what is added node by node, done again and again.
#pragma once
#include "../cuda_runtime.h"

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal,
  cudaStreamCaptureModeThreadLocal,
  cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone,
  cudaStreamCaptureStatusActive,
  cudaStreamCaptureStatusInvalidated
};
enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel,
  cudaGraphNodeTypeMemcpy,
  cudaGraphNodeTypeMemset,
  cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph,
  cudaGraphNodeTypeEmpty
};
enum cudaGraphExecUpdateResult { cudaGraphExecUpdateSuccess, cudaGraphExecUpdateError };
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim_, blockDim_;  // as the rewriter calls members of these names
  unsigned sharedMemBytes;
  void **kernelParams, **extra;
};
struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void* userData;
};
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
};
enum { cudaGraphInstantiateFlagAutoFreeOnLaunch = 1, cudaGraphInstantiateFlagUpload = 2 };
typedef struct simt_graph_handle* cudaGraph_t;
typedef struct simt_node_handle* cudaGraphNode_t;
typedef struct simt_exec_handle* cudaGraphExec_t;

// ---- capture
inline cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  bool is_default = stream == nullptr || stream == cudaStreamLegacy;
  return (cudaError_t)simt_fail(is_default ? cudaErrorStreamCaptureUnsupported
                                           : simt_begin_capture(stream, nullptr));
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return (cudaError_t)simt_fail(simt_end_capture(stream, (void**)graph));
}
inline cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = (cudaStreamCaptureStatus)simt_is_captured(stream);
  return cudaSuccess;
}
inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

// ---- graphs node by node
namespace simt {

// What a node does, as a graph of its own: `ask` asks a stream for it that is captured.
template <class Ask>
cudaError_t work_of(cudaGraph_t* out, Ask ask) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  if (int error = simt_begin_capture(stream, nullptr)) return (cudaError_t)simt_fail(error);
  cudaError_t error = ask(stream);
  simt_end_capture(stream, (void**)out);
  return error;
}
template <class Ask>
cudaError_t add(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, Ask ask) {
  size_t first = simt_graph_size(graph);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  if (int error = simt_begin_capture(stream, graph)) return (cudaError_t)simt_fail(error);
  cudaError_t error = ask(stream);
  void* same;
  simt_end_capture(stream, &same);
  if (error || simt_graph_size(graph) == first) return error ? error : (cudaError_t)simt_fail(cudaErrorInvalidValue);
  *out = (cudaGraphNode_t)simt_graph_node(graph, first);
  for (size_t i = 0; i < count; ++i) simt_node_after(*out, after[i]);
  return cudaSuccess;
}
inline auto kernel(const cudaKernelNodeParams& p, const char* file, int line) {
  return [=](cudaStream_t stream) {
    Config config(p.gridDim_, p.blockDim_, p.sharedMemBytes, stream);
    return launch_address({p.func}, config, false, p.kernelParams, file, line);
  };
}
inline auto copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return [=](cudaStream_t stream) { return cudaMemcpyAsync(to, from, bytes, kind, stream); };
}
inline auto fill(const cudaMemsetParams& p) {
  return [=](cudaStream_t stream) {
    bool is_element = p.elementSize == 1 || p.elementSize == 2 || p.elementSize == 4;
    size_t bytes = p.width * p.elementSize, rows = p.height ? p.height : 1;
    if (!is_element || (rows > 1 && p.pitch < bytes)) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
    if (rows > 1 && p.pitch > bytes) return (cudaError_t)simt_fail(cudaErrorNotSupported);  // rows with gaps
    simt_keep_fill(stream, p.dst, p.value, rows * bytes, p.elementSize);
    return cudaSuccess;
  };
}
inline auto call(const cudaHostNodeParams& p) {
  return [=](cudaStream_t stream) { return cudaLaunchHostFunc(stream, p.fn, p.userData); };
}
template <class Ask>
cudaError_t change(cudaGraphExec_t exec, cudaGraphNode_t node, Ask ask) {
  cudaGraph_t work;
  if (cudaError_t error = work_of(&work, ask)) return error;
  bool found = simt_exec_changes(exec, node, work);
  simt_end_graph(work);
  return (cudaError_t)simt_fail(found ? cudaSuccess : cudaErrorInvalidValue);
}

}  // namespace simt

inline cudaError_t cudaGraphCreate(cudaGraph_t* out, unsigned) {
  *out = (cudaGraph_t)simt_graph(nullptr);
  return cudaSuccess;
}
inline cudaError_t cudaGraphClone(cudaGraph_t* out, cudaGraph_t graph) {
  *out = (cudaGraph_t)simt_graph(graph);
  return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  simt_end_graph(graph);
  return cudaSuccess;
}
inline cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                          size_t count, const cudaKernelNodeParams* p,
                                          const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  return simt::add(out, graph, after, count, simt::kernel(*p, file, line));
}
inline cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                            size_t count, void* to, const void* from, size_t bytes,
                                            cudaMemcpyKind kind) {
  return simt::add(out, graph, after, count, simt::copy(to, from, bytes, kind));
}
inline cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                          size_t count, const cudaMemcpy3DParms* p) {
  bool is_one_row = p->extent.height <= 1 && p->extent.depth <= 1 && !p->srcArray && !p->dstArray;
  if (!is_one_row) return (cudaError_t)simt_fail(cudaErrorNotSupported);
  char *to = (char*)p->dstPtr.ptr + p->dstPos.x, *from = (char*)p->srcPtr.ptr + p->srcPos.x;
  return cudaGraphAddMemcpyNode1D(out, graph, after, count, to, from, p->extent.width, p->kind);
}
inline cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                          size_t count, const cudaMemsetParams* p) {
  return simt::add(out, graph, after, count, simt::fill(*p));
}
inline cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                        size_t count, const cudaHostNodeParams* p) {
  return simt::add(out, graph, after, count, simt::call(*p));
}
inline cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                              size_t count, cudaGraph_t child) {
  *out = (cudaGraphNode_t)simt_graph_add(graph, child);
  for (size_t i = 0; i < count; ++i) simt_node_after(*out, after[i]);
  return cudaSuccess;
}
inline cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* out, cudaGraph_t graph, const cudaGraphNode_t* after,
                                         size_t count) {
  return cudaGraphAddChildGraphNode(out, graph, after, count, nullptr);
}
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            size_t count) {
  for (size_t i = 0; i < count; ++i) simt_node_after(to[i], from[i]);
  return cudaSuccess;
}
inline cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  size_t all = simt_graph_size(graph);
  for (size_t i = 0; nodes && i < all && i < *count; ++i) nodes[i] = (cudaGraphNode_t)simt_graph_node(graph, i);
  *count = all;
  return cudaSuccess;
}
inline cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = (cudaGraphNodeType)simt_node_type(node);
  return cudaSuccess;
}
inline cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* p,
                                                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  cudaGraph_t work;
  if (cudaError_t error = simt::work_of(&work, simt::kernel(*p, file, line))) return error;
  simt_node_becomes(node, work);
  simt_end_graph(work);
  return cudaSuccess;
}

// ---- what can be launched
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long = 0) {
  if (graph) *out = (cudaGraphExec_t)simt_graph_exec(graph);
  return (cudaError_t)simt_fail(graph ? cudaSuccess : cudaErrorInvalidValue);
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* out, cudaGraph_t graph, cudaGraphNode_t*, char*, size_t) {
  return cudaGraphInstantiate(out, graph);
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* out, cudaGraph_t graph, unsigned long long = 0) {
  return cudaGraphInstantiate(out, graph);
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  simt_end_graph_exec(exec);
  return cudaSuccess;
}
inline cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (!exec) return (cudaError_t)simt_fail(cudaErrorInvalidValue);
  simt_graph_launch(exec, stream);
  return (cudaError_t)simt_last_error(0);
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  bool fits = simt_exec_follows(exec, graph);
  info->result = fits ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateError;
  return (cudaError_t)simt_fail(fits ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t*,
                                       cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info;
  cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
  *result = info.result;
  return error;
}
inline cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const cudaKernelNodeParams* p,
                                                    const char* file = __builtin_FILE(),
                                                    int line = __builtin_LINE()) {
  return simt::change(exec, node, simt::kernel(*p, file, line));
}
inline cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
                                                      const void* from, size_t bytes, cudaMemcpyKind kind) {
  return simt::change(exec, node, simt::copy(to, from, bytes, kind));
}
inline cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const cudaMemsetParams* p) {
  return simt::change(exec, node, simt::fill(*p));
}
inline cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  const cudaHostNodeParams* p) {
  return simt::change(exec, node, simt::call(*p));
}
