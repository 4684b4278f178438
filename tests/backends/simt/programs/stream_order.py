"""Two kernels of which one reads what the other writes, in streams and graphs with and without order."""

import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
constexpr int N = 1024;
__constant__ float factor;
__global__ void third(const float* x, float* t) { int i = blockIdx.x * 256 + threadIdx.x; t[i] = x[i] * factor; }
__global__ void first(const float* x, float* t) { int i = blockIdx.x * 256 + threadIdx.x; t[i] = x[i] + 1; }
__global__ void second(const float* t, float* y) { int i = blockIdx.x * 256 + threadIdx.x; y[i] = 2 * t[i]; }
static cudaStream_t side, blocking;
static cudaEvent_t event;
static void graph(const float* x, float* t, float* y, bool edge, bool fork, cudaStream_t s) {
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaGraphCreate(&g, 0);
    cudaGraphNode_t a, b, other;
    cudaKernelNodeParams p{};
    p.gridDim = dim3(4), p.blockDim = dim3(256);
    void* of_first[] = {&x, &t};
    p.func = (void*)first, p.kernelParams = of_first;
    cudaGraphAddKernelNode(&a, g, nullptr, 0, &p);
    if (fork) {  // beside the first: its result is its own
        float* apart = y + N;
        void* of_other[] = {&x, &apart};
        p.kernelParams = of_other;
        cudaGraphAddKernelNode(&other, g, nullptr, 0, &p);
    }
    void* of_second[] = {&t, &y};
    p.func = (void*)second, p.kernelParams = of_second;
    cudaGraphAddKernelNode(&b, g, &a, edge, &p);
    cudaGraphInstantiate(&e, g, 0);
    cudaGraphLaunch(e, s);
    cudaGraphExecDestroy(e);
    cudaGraphDestroy(g);
}
torch::Tensor run(torch::Tensor input, std::string which) {
    auto mid = torch::empty_like(input), out = torch::empty({2 * N}, input.options());
    const float* x = input.data_ptr<float>();
    float *t = mid.data_ptr<float>(), *y = out.data_ptr<float>(), *extra = nullptr;
    cudaStream_t s = at::cuda::getCurrentCUDAStream();
    if (!side) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaStreamCreate(&blocking);
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    }
    cudaDeviceSynchronize();
    if (which == "nothing") first<<<4, 256, 0, side>>>(x, t), second<<<4, 256, 0, s>>>(t, y);
    if (which == "early_event") {
        cudaEventRecord(event, side);
        first<<<4, 256, 0, side>>>(x, t);
        cudaStreamWaitEvent(s, event, 0);
        second<<<4, 256, 0, s>>>(t, y);
    }
    if (which == "event" || which == "event_of_another") {
        first<<<4, 256, 0, side>>>(x, t);
        cudaEventRecord(event, which == "event" ? side : blocking);
        cudaStreamWaitEvent(s, event, 0);
        second<<<4, 256, 0, s>>>(t, y);
    }
    if (which == "through_two") {  // side -> blocking -> s
        first<<<4, 256, 0, side>>>(x, t);
        cudaEventRecord(event, side);
        cudaStreamWaitEvent(blocking, event, 0);
        cudaEventRecord(event, blocking);
        cudaStreamWaitEvent(s, event, 0);
        second<<<4, 256, 0, s>>>(t, y);
    }
    if (which == "host_waits") {
        first<<<4, 256, 0, side>>>(x, t);
        cudaStreamSynchronize(side);
        second<<<4, 256, 0, s>>>(t, y);
    }
    if (which == "host_waits_for_another") {
        first<<<4, 256, 0, side>>>(x, t);
        cudaStreamSynchronize(s);
        second<<<4, 256, 0, s>>>(t, y);
    }
    if (which == "blocking") first<<<4, 256, 0, blocking>>>(x, t), second<<<4, 256, 0, 0>>>(t, y);
    if (which == "overwritten") {  // read here, written there
        cudaMemcpy(t, x, N * 4, cudaMemcpyDeviceToDevice);
        second<<<4, 256, 0, s>>>(t, y);
        first<<<4, 256, 0, side>>>(x, t);
    }
    if (which == "copy") {
        first<<<4, 256, 0, s>>>(x, t);
        cudaMemcpyAsync(y, t, N * 4, cudaMemcpyDeviceToDevice, side);
    }
    if (which == "fill") {
        first<<<4, 256, 0, s>>>(x, t);
        cudaMemsetAsync(t, 0, N * 4, side);
    }
    if (which == "copy_in_order") {
        first<<<4, 256, 0, side>>>(x, t);
        cudaMemcpyAsync(y, t, N * 4, cudaMemcpyDeviceToDevice, side);
    }
    if (which == "freed" || which == "freed_in_order") {
        cudaStream_t of = which == "freed" ? side : s;
        cudaMallocAsync(&extra, N * 4, of);
        first<<<4, 256, 0, s>>>(x, extra);
        cudaFreeAsync(extra, of);
    }
    if (which == "operator") {
        first<<<4, 256, 0, side>>>(x, t);
        out = mid + 1;
    }
    if (which.rfind("pinned", 0) == 0) {  // what the copy brings, and what the host does meanwhile
        static float* kept = nullptr;
        if (!kept) cudaMallocHost(&kept, N * 4);
        cudaDeviceSynchronize();
        for (int i = 0; i < N; ++i) kept[i] = i;
        if (which == "pinned_read_early" || which == "pinned_read") {
            cudaMemcpyAsync(kept, x, N * 4, cudaMemcpyDeviceToHost, s);
            if (which == "pinned_read") cudaStreamSynchronize(s);
            out[0] = kept[5];
        } else {
            cudaMemcpyAsync(t, kept, N * 4, cudaMemcpyHostToDevice, s);
            if (which == "pinned_written") cudaStreamSynchronize(s);
            if (which != "pinned_kept") kept[7] = 0;
        }
        first<<<4, 256, 0, s>>>(x, t);
        cudaDeviceSynchronize();
    }
    if (which.rfind("given_back", 0) == 0) {
        auto own = input + 1;
        cudaEventRecord(event, s);
        cudaStreamWaitEvent(side, event, 0);
        second<<<4, 256, 0, side>>>(own.data_ptr<float>(), y);
        cudaEventRecord(event, side);
        if (which == "given_back_waited") cudaStreamWaitEvent(s, event, 0);
        if (which == "given_back_recorded") own.record_stream(c10::cuda::getStreamFromExternal(side, 0));
        if (which == "given_back_recorded_below")
            c10::cuda::CUDACachingAllocator::recordStream(own.storage().data_ptr(), c10::cuda::getStreamFromExternal(side, 0));
        own = torch::Tensor();
        auto other = torch::ones({which == "given_back_of_another_size" ? 2 * N : N}, input.options());
        cudaStreamWaitEvent(s, event, 0);
    }
    if (which.rfind("variable", 0) == 0) {
        const float two = 2, other = which == "variable_same" ? 2 : 3;
        cudaMemcpyToSymbol(factor, &two, 4);
        third<<<4, 256, 0, side>>>(x, t);
        if (which == "variable_waited") cudaStreamSynchronize(side);
        cudaMemcpyToSymbol(factor, &other, 4);
        cudaDeviceSynchronize();
    }
    if (which == "graph_without_edge") graph(x, t, y, false, false, s);
    if (which == "graph") graph(x, t, y, true, true, s), second<<<4, 256, 0, s>>>(t, y);
    if (which == "captured") {
        cudaGraph_t g;
        cudaGraphExec_t e;
        cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal);
        first<<<4, 256, 0, side>>>(x, t);
        second<<<4, 256, 0, side>>>(t, y);
        cudaStreamEndCapture(side, &g);
        cudaGraphInstantiate(&e, g, 0);
        cudaGraphLaunch(e, side);
        cudaStreamSynchronize(side);
    }
    if (which.rfind("forked", 0) == 0) {  // within a capture: `other` goes on where `side` is, and `side` behind it
        static cudaStream_t other = nullptr;
        static int calls = 0;
        if (!other) cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
        const float two = 2;
        cudaGraph_t g;
        cudaGraphExec_t e;
        cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal);
        third<<<4, 256, 0, side>>>(x, t);
        cudaEventRecord(event, side);
        cudaStreamWaitEvent(other, event, 0);
        if (which == "forked_copy") cudaMemcpyAsync(y, t, N * 4, cudaMemcpyDeviceToDevice, other);
        if (which == "forked_rows") cudaMemcpy2DAsync(y, 64, t, 128, 64, N / 32, cudaMemcpyDeviceToDevice, other);
        if (which == "forked_peer") cudaMemcpyPeerAsync(y, 0, t, 0, N * 4, other);
        if (which == "forked_symbol") cudaMemcpyToSymbolAsync(factor, &two, 4, 0, cudaMemcpyHostToDevice, other);
        if (which == "forked_fill") cudaMemsetAsync(t, 0, N * 4, other);
        if (which == "forked_call") cudaLaunchHostFunc(other, [](void* n) { ++*(int*)n; }, &calls);
        cudaEventRecord(event, other);
        cudaStreamWaitEvent(side, event, 0);
        third<<<4, 256, 0, side>>>(x, t);
        cudaStreamEndCapture(side, &g);
        cudaGraphInstantiate(&e, g, 0);
        for (int i = 0; i < 2; ++i) cudaGraphLaunch(e, side);
        cudaStreamSynchronize(side);
    }
    if (which == "copied_in_a_graph" || which == "filled_in_a_graph") {  // which is launched beside the kernel
        cudaGraph_t g;
        cudaGraphExec_t e;
        cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal);
        if (which == "copied_in_a_graph")
            cudaMemcpyAsync(y, t, N * 4, cudaMemcpyDeviceToDevice, side);  // in a graph
        else
            cudaMemsetAsync(t, 0, N * 4, side);
        cudaStreamEndCapture(side, &g);
        cudaGraphInstantiate(&e, g, 0);
        first<<<4, 256, 0, s>>>(x, t);
        cudaGraphLaunch(e, side);
    }
    if (which == "rows_of_a_stream") {
        first<<<4, 256, 0, side>>>(x, t);
        cudaMemcpy2DAsync(y, 64, t, 128, 64, N / 32, cudaMemcpyDeviceToDevice, side);
    }
    return out;
}
void launch(torch::Tensor x, torch::Tensor y) {
    first<<<4, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>());
}
"""
WRONG = ["nothing", "early_event", "event_of_another", "host_waits_for_another", "overwritten", "copy", "fill", "freed",
         "operator", "graph_without_edge", "variable", "pinned_written_early", "pinned_read_early",
         "given_back", "copied_in_a_graph", "filled_in_a_graph"]  # fmt: skip
RIGHT = [
    "event",
    "through_two",
    "host_waits",
    "blocking",
    "copy_in_order",
    "freed_in_order",
    "graph",
    "captured",
    "forked_copy",
    "forked_rows",
    "forked_peer",
    "forked_symbol",
    "forked_fill",
    "forked_call",
    "rows_of_a_stream",
    "variable_same",
    "given_back_waited",
    "given_back_recorded",
    "given_back_recorded_below",
    "given_back_of_another_size",
    "variable_waited",
    "pinned_kept",
    "pinned_read",
    "pinned_written",
]


class Twice(torch.autograd.Function):
    """Its backward pass runs in a thread of PyTorch's, which goes on in the forward pass's stream."""

    @staticmethod
    def forward(ctx, x, module):
        ctx.module = module
        y = torch.empty_like(x)
        module.launch(x, y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        out = torch.empty_like(y)
        ctx.module.launch(y, out)
        return out * grad, None


def in_python(module, how):
    """The first kernel on a stream of Python's, the second on the default one."""
    x, t, y = (torch.ones(1024, device="cuda") for _ in range(3))
    stream, event = torch.cuda.Stream(), torch.cuda.Event()
    torch.cuda.synchronize()
    if how in ("recorded", "given_back"):
        with torch.cuda.stream(stream):
            module.launch(x, y)
        if how == "recorded":
            x.record_stream(stream)
        del x
        return torch.ones(1024, device="cuda").sum().item()
    if how == "before_the_wait":
        torch.cuda.current_stream().wait_stream(stream)
    with torch.cuda.stream(stream):
        module.launch(x, t)
        event.record()
        if how == "default_waits":  # said while the other one is current
            torch.cuda.default_stream().wait_stream(stream)
    if how == "wait_stream":
        torch.cuda.current_stream().wait_stream(stream)
    if how == "wait_event":
        event.wait()
    if how == "host":
        event.synchronize()
    if how == "stream":
        stream.synchronize()
    module.launch(t, y)
    return (t + y).sum().item()


def backwards(module):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        x = torch.ones(1024, device="cuda", requires_grad=True)
        y = Twice.apply(x, module).sum()
        y.backward()
    torch.cuda.current_stream().wait_stream(stream)
    return x.grad.sum().item()


def cases():
    heads = [
        "torch::Tensor run(torch::Tensor input, std::string which);",
        "void launch(torch::Tensor x, torch::Tensor y);",
    ]
    module = load_inline("stream_order", heads, [CUDA], functions=["run", "launch"])

    def of(name):
        out = module.run(torch.ones(1024, device="cuda"), name)
        torch.cuda.synchronize()
        return out.shape[0]

    return (
        {name: lambda _, name=name: of(name) for name in [*WRONG, *RIGHT]}
        | {f"python_{how}": lambda _, how=how: in_python(module, how)
           for how in ("nothing", "before_the_wait", "wait_stream", "wait_event", "host", "stream", "default_waits",
                      "recorded", "given_back")}
        | {"backwards": lambda _: backwards(module)}
    )  # fmt: skip
