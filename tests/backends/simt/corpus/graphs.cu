// CUDA graphs: captured and built node by node, launched more than once, changed in between. x has n floats, y 8192.
#include <cuda_runtime.h>

__global__ void add_kernel(float* y, float v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += v;
}
__global__ void scale_kernel(const float* x, float* y, float v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * v;
}
static int called = 0;
static void count_call(void* data) { called += *(int*)data; }
static void to_device(float* y, float value) { cudaMemcpy(y, &value, sizeof value, cudaMemcpyHostToDevice); }

// Nothing is done while it is captured; a second stream joins by an event, and the first one waits for it.
void graph_capture(const float* x, float* y, int n) {
    cudaStream_t first, second;
    cudaEvent_t begun, done;
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    cudaEventCreate(&begun);
    cudaEventCreate(&done);
    cudaMemset(y, 0, 4 * n * sizeof(float));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int one = 1;
    called = 0;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    cudaMemcpyAsync(y, x, n * sizeof(float), cudaMemcpyDeviceToDevice, first);
    cudaEventRecord(begun, first);
    cudaStreamWaitEvent(second, begun, 0);
    add_kernel<<<(n + 63) / 64, 64, 0, first>>>(y, 1.0f, n);
    add_kernel<<<(n + 63) / 64, 64, 0, second>>>(y + n, 2.0f, n);
    cudaMemsetAsync(y + 2 * n, 0, n * sizeof(float), second);
    cudaEventRecord(done, second);
    cudaStreamWaitEvent(first, done, 0);
    add_kernel<<<(n + 63) / 64, 64, 0, first>>>(y + 2 * n, 3.0f, n);
    cudaLaunchHostFunc(first, count_call, &one);
    cudaStreamCaptureStatus status;
    cudaStreamIsCapturing(second, &status);
    cudaStreamEndCapture(first, &graph);
    size_t nodes = 0;
    cudaGraphGetNodes(graph, nullptr, &nodes);
    float before;
    cudaMemcpy(&before, y + n, sizeof before, cudaMemcpyDeviceToHost);
    cudaGraphInstantiate(&exec, graph, 0);
    for (int i = 0; i < 3; ++i) cudaGraphLaunch(exec, first);
    cudaStreamSynchronize(first);
    to_device(y + 3 * n, before);
    to_device(y + 3 * n + 1, float(nodes));
    to_device(y + 3 * n + 2, float(called));
    to_device(y + 3 * n + 3, float(status));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaEventDestroy(begun);
    cudaEventDestroy(done);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}

void graph_nodes(const float* x, float* y, int n) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t cleared, scaled, added, copied, asked;
    cudaGraphCreate(&graph, 0);
    cudaMemsetParams zeros = {};
    zeros.dst = y, zeros.elementSize = sizeof(float), zeros.width = 2 * n, zeros.height = 1;
    cudaGraphAddMemsetNode(&cleared, graph, nullptr, 0, &zeros);
    float by = 2.0f, more = 5.0f;
    int two = 2;
    called = 0;
    void* to_scale[] = {&x, &y, &by, &n};
    void* to_add[] = {&y, &more, &n};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void*)scale_kernel;
    kernel.gridDim = dim3((n + 63) / 64), kernel.blockDim = dim3(64), kernel.kernelParams = to_scale;
    cudaGraphAddKernelNode(&scaled, graph, &cleared, 1, &kernel);
    kernel.func = (void*)add_kernel, kernel.kernelParams = to_add;
    // Added before what it needs: the order is that of the dependencies.
    cudaGraphAddMemcpyNode1D(&copied, graph, nullptr, 0, y + n, y, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaGraphAddKernelNode(&added, graph, &scaled, 1, &kernel);
#if CUDART_VERSION >= 13000
    cudaGraphAddDependencies(graph, &added, &copied, nullptr, 1);
#else
    cudaGraphAddDependencies(graph, &added, &copied, 1);
#endif
    cudaHostNodeParams host = {count_call, &two};
    cudaGraphAddHostNode(&asked, graph, &copied, 1, &host);
    cudaGraphInstantiate(&exec, graph, 0);
    by = more = -1.0f;  // what a node was given is its own
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(y + 2 * n, y + n, n * sizeof(float), cudaMemcpyDeviceToDevice);
    more = 7.0f;
    cudaGraphExecKernelNodeSetParams(exec, added, &kernel);
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(y + 3 * n, y + n, n * sizeof(float), cudaMemcpyDeviceToDevice);
    to_device(y + 4 * n, float(called));
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

// What a launch was given stays its own, also where the next one is given something else before it has run.
void graph_changed(const float* x, float* y, int n) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaStream_t stream;
    float by = 2.0f;
    void* arguments[] = {&x, &y, &by, &n};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void*)scale_kernel;
    kernel.gridDim = dim3((n + 63) / 64), kernel.blockDim = dim3(64), kernel.kernelParams = arguments;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaStreamCreate(&stream);
    for (int part = 0; part < 4; ++part, y += n, by += 1.0f) {
        cudaGraphExecKernelNodeSetParams(exec, node, &kernel);
        cudaGraphLaunch(exec, stream);
    }
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}

// Waiting within a capture ends it, and says so.
void graph_broken(const float* x, float* y, int n) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    add_kernel<<<1, 64, 0, stream>>>(y, 1.0f, n);
    int waited = cudaStreamSynchronize(stream);
    int ended = cudaStreamEndCapture(stream, &graph);
    cudaGetLastError();
    to_device(y, float(waited));
    to_device(y + 1, float(ended));
    to_device(y + 2, graph == nullptr);
    cudaStreamDestroy(stream);
}
