"""malloc, free, new and delete in kernels: right uses, and each wrong one. `// NAME` marks the line to report."""

import torch
from torch.utils.cpp_extension import load_inline

from grader.backends.simt.runtime import value_origins
from grader.protocol.recorded_launch import Asked

CUDA = r"""
#include <c10/cuda/CUDAException.h>
#include <cstdlib>
#define INDEX int t = threadIdx.x, i = blockIdx.x * blockDim.x + t
struct Node {
    float value;
    Node* next;
    __device__ Node(float v, Node* n) : value(v), next(n) {}
    __device__ ~Node() { atomicAdd(&gone, 1); }
    static __device__ int gone;
};
__device__ int Node::gone;
struct alignas(64) Wide { float f[16]; };
struct Filled { int a = 7; };
__device__ float* kept[8];
__device__ Node* head;
__host__ __device__ float* both(int n) { return static_cast<float*>(std::malloc(n * sizeof(float))); }
__host__ __device__ void back(float* p) { std::free(p); }
#define TAKE(N) static_cast<float*>(malloc((N) * sizeof(float)))

__global__ void own_memory(const float* x, float* y) {
    INDEX;
    float* mine = TAKE(4);
    for (int k = 0; k < 4; ++k) mine[k] = x[i] + k;
    y[i] = mine[0] + mine[3] + (reinterpret_cast<size_t>(mine) % 16 != 0);
    free(mine);
    free(nullptr);
}
__global__ void by_new(const float* x, float* y) {
    INDEX;
    float* mine = new float[3];
    Filled* filled = new Filled;
    Wide* wide = new Wide();
    mine[2] = x[i];
    y[i] = mine[2] + filled->a + wide->f[15] + reinterpret_cast<size_t>(wide) % 64;
    delete[] mine;
    delete filled;
    delete wide;
}
__global__ void shared_among_a_block(const float* x, float* y) {
    INDEX;
    __shared__ float* all;
    if (t == 0) all = TAKE(256);
    __syncthreads();
    all[t] = x[i];
    __syncthreads();
    y[i] = all[255 - t];
    __syncthreads();
    if (t == 0) free(all);
}
__global__ void keep(const float* x, float* y) {
    INDEX;
    if (i < 8) kept[i] = TAKE(4), kept[i][0] = x[i];
    y[i] = 0;
}
__global__ void use_kept(const float* x, float* y) { INDEX; y[i] = kept[i % 8][0]; }
__global__ void free_kept(const float* x, float* y) { INDEX; if (i < 8) free(kept[i]); y[i] = 0; }
__global__ void push(const float* x, float* y) {
    INDEX;
    Node* node = new Node(x[i], nullptr);
    __threadfence();
    Node* before = (Node*)atomicExch((unsigned long long*)&head, (unsigned long long)node);
    node->next = before;
    y[i] = 0;
}
__global__ void pop_all(const float* x, float* y) {
    INDEX;
    float sum = 0;
    int n = 0;
    for (Node* at = head; at; ++n) {
        Node* next = at->next;
        sum += at->value;
        delete at;
        at = next;
    }
    y[0] = sum, y[1] = n, y[2] = Node::gone;
}
__global__ void in_both(const float* x, float* y) {
    INDEX;
    float* p = both(2);
    p[1] = x[i];
    y[i] = p[1];
    back(p);
}
__global__ void fills(const float* x, float* y, int n) {
    INDEX;
    float* p = new float[n];
    y[i] = p == nullptr;
    Filled* more = new Filled;  // of what is left there is enough
    y[i] += 2 * (more != nullptr);
    delete more;
    delete[] p;
}
__global__ void many(const float* x, float* y) {
    INDEX;
    float sum = 0;
    for (int k = 1; k <= 50; ++k) {
        float* p = TAKE(k);
        p[k - 1] = x[i];
        sum += p[k - 1];
        free(p);
    }
    y[i] = sum;
}
__global__ void taken(float* y) { void* p = malloc(100); y[0] = p != nullptr; free(p); }

__global__ void past_end(const float* x, float* y) {
    INDEX;
    float* p = TAKE(4);
    p[t - t + 4] = x[i];  // past_end
    y[i] = 0;
    free(p);
}
__global__ void before_start(const float* x, float* y) {
    INDEX;
    float* p = new float[4];
    p[0] = 1;
    y[i] = p[int(t - t) - 1];  // before_start
}
__global__ void unwritten(const float* x, float* y) {
    INDEX;
    float* p = TAKE(4);
    p[0] = 1;
    y[i] = p[1 + t - t];  // unwritten
}
__global__ void after_free(const float* x, float* y) {
    INDEX;
    float* p = TAKE(4);
    p[0] = x[i];
    free(p);
    y[i] = p[0];  // after_free
}
__global__ void after_free_kept(const float* x, float* y) {
    INDEX;
    y[i] = kept[i % 8][0];  // after_free_kept
}
__global__ void twice(const float* x, float* y) {
    INDEX;
    float* p = TAKE(4);
    p[0] = x[i];
    y[i] = p[0];
    free(p);
    free(p);  // twice
}
__global__ void delete_twice(const float* x, float* y) {
    INDEX;
    int* p = new int(3);
    y[i] = *p;
    delete p;
    if (t == 3) delete p;  // delete_twice
}
__global__ void not_its_start(const float* x, float* y) {
    INDEX;
    float* p = TAKE(4);
    p[0] = x[i];
    y[i] = p[0];
    free(p + 1);  // not_its_start
}
__global__ void of_a_tensor(const float* x, float* y) {
    INDEX;
    y[i] = x[i];
    if (i == 5) free(y);  // of_a_tensor
}
__global__ void of_shared(const float* x, float* y) {
    INDEX;
    __shared__ float s[4];
    y[i] = x[i];
    if (i == 5) free(s);  // of_shared
}
__global__ void racing(const float* x, float* y) {
    INDEX;
    __shared__ float* all;
    if (t == 0) all = TAKE(4);
    __syncthreads();
    if (t % 64 == 3) all[1] = x[i];  // racing
    __syncthreads();
    y[i] = 0;
    if (t == 0) free(all);
}
__global__ void freed_too_early(const float* x, float* y) {
    INDEX;
    __shared__ float* all;
    if (t == 0) all = TAKE(256);
    __syncthreads();
    all[t] = x[i];
    __syncthreads();
    y[i] = all[t];
    if (t == 255) free(all);  // freed_too_early
}
__global__ void unchecked_null(const float* x, float* y, int n) {
    INDEX;
    float* p = new float[n];
    if (i == 0) kept[0] = p;
    p[t - t] = x[i];  // unchecked_null
    y[i] = 0;
}

static float* first_kept() {
    float* p;
    cudaMemcpyFromSymbol(&p, kept, sizeof p);
    return p;
}
torch::Tensor run(torch::Tensor x, std::string which) {
    auto y = torch::empty({4 * 256}, x.options());
    const float* a = x.data_ptr<float>();
    float* b = y.data_ptr<float>();
    size_t limit = 0;
#define CASE(NAME) if (which == #NAME) NAME<<<4, 256>>>(a, b);
    CASE(own_memory) CASE(by_new) CASE(shared_among_a_block) CASE(in_both) CASE(many)
    CASE(past_end) CASE(before_start) CASE(unwritten) CASE(after_free) CASE(twice) CASE(delete_twice)
    CASE(not_its_start) CASE(of_a_tensor) CASE(of_shared) CASE(racing) CASE(freed_too_early)
    if (which == "from_kernel_to_kernel") {
        keep<<<4, 256>>>(a, b);
        use_kept<<<4, 256>>>(a, b);
        auto z = y.clone();
        free_kept<<<4, 256>>>(a, b);
        return z;
    }
    if (which == "only_keep") keep<<<4, 256>>>(a, b);
    if (which == "only_use_kept") use_kept<<<4, 256>>>(a, b);
    if (which == "only_free_kept") free_kept<<<4, 256>>>(a, b);
    if (which == "list") {
        push<<<4, 256>>>(a, b);
        pop_all<<<1, 1>>>(a, b);
    }
    if (which == "full") fills<<<4, 256>>>(a, b, 3 << 20);
    if (which == "unchecked_null") unchecked_null<<<4, 256>>>(a, b, 3 << 20);
    if (which == "host_side") {
        float* p = both(4);
        p[3] = 5;
        y.fill_(p[3]);
        back(p);
        delete new Filled;
    }
    if (which == "limit") {
        std::vector<float> said;
        auto tell = [&] {
            cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
            taken<<<1, 1>>>(b);
            said.insert(said.end(), {float(limit), y[0].item<float>()});
        };
        cudaDeviceReset();
        tell();
        said.push_back(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64));
        cudaDeviceReset();
        said.push_back(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64));
        tell();
        cudaDeviceReset();
        tell();
        cudaGetLastError();
        auto told = torch::empty({int64_t(said.size())}, torch::kFloat32);  // torch::tensor needs all headers
        std::copy(said.begin(), said.end(), told.data_ptr<float>());
        return told;
    }
    if (which == "after_reset" || which == "after_free_kept") {
        keep<<<4, 256>>>(a, b);
        if (which == "after_free_kept") free_kept<<<4, 256>>>(a, b);
        else cudaDeviceReset();
        after_free_kept<<<4, 256>>>(a, b);
    }
    if (which.rfind("host_", 0) == 0 && which != "host_side") {
        keep<<<4, 256>>>(a, b);
        float* p = first_kept(), there[4];
        cudaError_t error = cudaSuccess;
        if (which == "host_copies") error = cudaMemcpy(there, p, sizeof there, cudaMemcpyDeviceToHost);  // host_copies
        if (which == "host_copies_to") error = cudaMemcpy(p, a, 16, cudaMemcpyDeviceToDevice);  // host_copies_to
        if (which == "host_fills") error = cudaMemset(p, 0, 16);  // host_fills
        if (which == "host_frees") error = cudaFree(p);  // host_frees
        if (which == "host_deletes") delete p;  // host_deletes
        if (which == "host_reads") there[0] = p[0];  // host_reads
        y.fill_(float(error));
        cudaGetLastError();
    }
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}
"""
NAMES = [
    "own_memory", "by_new", "shared_among_a_block", "from_kernel_to_kernel", "list", "in_both", "full", "many",
    "host_side", "limit", "past_end", "before_start", "unwritten", "after_free", "after_free_kept", "after_reset",
    "twice", "delete_twice", "not_its_start", "of_a_tensor", "of_shared", "racing", "freed_too_early",
    "unchecked_null", "host_copies", "host_copies_to", "host_fills", "host_frees", "host_deletes", "host_reads",
]  # fmt: skip


def cases():
    module = load_inline(
        "simt_heap", "torch::Tensor run(torch::Tensor x, std::string which);", CUDA, functions=["run"]
    )

    def case(name):
        def call(runtime):
            y = module.run(torch.arange(1024.0).cuda(), name)
            torch.cuda.synchronize()
            return y.cpu().tolist()

        return call

    def counted(runtime):
        runtime.count(on=True)
        case("own_memory")(runtime)
        runtime.count(on=False)

    def recorded(runtime):
        runtime.recorder.begin(Asked(neighbours=False))
        case("many")(runtime)
        head, _ = runtime.recorder.recorded()
        runtime.recorder.end()
        return [(o.kind, o.bytes) for o in head.objects]

    def watched(runtime):
        x, origins = torch.arange(1024.0).cuda(), value_origins.held()
        origins.begin(products=False, prepared=())
        y = module.run(x, "from_kernel_to_kernel")
        foreign = origins.take(y)[1:]
        return {"foreign": foreign, "writers": origins.end()}

    def limit_told(runtime):
        x, origins = torch.arange(1024.0).cuda(), value_origins.held()
        origins.begin(products=False, prepared=())
        module.run(x, "limit")
        origins.end()
        limits = [told.words for told in origins.told() if "limit" in told.what]
        return [words[0] for words in limits if len(words) == 2]  # the heap's alone

    def written_before(runtime):
        """What a kernel of an earlier call has left in the heap is no value of the host's."""
        x, origins = torch.arange(1024.0).cuda(), value_origins.held()
        module.run(x, "only_keep")
        origins.begin(products=False, prepared=())
        y = module.run(x, "only_use_kept")
        return {"foreign": origins.take(y)[1:], "writers": origins.end()}

    def memory(runtime):
        before = torch.cuda.memory_allocated()
        x = torch.arange(1024.0).cuda()
        kept = module.run(x, "only_keep")
        torch.cuda.synchronize()
        during = torch.cuda.memory_allocated()
        del x, kept
        module.run(torch.arange(1024.0).cuda(), "only_free_kept")
        torch.cuda.synchronize()
        return [during - before, torch.cuda.memory_allocated() - before]

    modes = (counted, recorded, watched, limit_told, written_before, memory)
    return {name: case(name) for name in NAMES} | {each.__name__: each for each in modes}
