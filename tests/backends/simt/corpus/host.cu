// The runtime API. Every host function: x has n floats (on the device), y is written.
#include <cuda_runtime.h>
#include <cstdlib>
#include <cstring>
#include <vector>

__global__ void add_kernel(const float* x, float* y, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + by;
}
struct Answers {  // collected on the host, copied to y at the end
    std::vector<float> values;
    void operator()(double v) { values.push_back(float(v)); }
    void to(float* y) { cudaMemcpy(y, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice); }
};

void memory_calls(const float* x, float* y, int n) {
    Answers say;
    float *d = nullptr, *pinned = nullptr, host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {};
    say(cudaMalloc(&d, sizeof host));
    say(cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice));
    add_kernel<<<1, 32>>>(d, d, 8, 10);
    say(cudaMemcpy(back, d, sizeof host, cudaMemcpyDeviceToHost));
    for (float v : back) say(v);
    say(cudaMemset(d, 0, 16));
    say(cudaMemcpy(back, d, sizeof host, cudaMemcpyDefault));
    say(back[3] + back[4]);
    say(cudaMallocHost((void**)&pinned, 64));
    pinned[0] = 5;
    say(cudaMemcpyAsync(d, pinned, 4, cudaMemcpyHostToDevice, 0));
    say(cudaStreamSynchronize(0));
    say(cudaMemcpy(back, d, 4, cudaMemcpyDeviceToHost));
    say(back[0]);
    say(cudaFreeHost(pinned));
    say(cudaHostAlloc((void**)&pinned, 64, cudaHostAllocDefault));
    say(cudaFreeHost(pinned));
    float* later = nullptr;
    cudaStream_t stream;
    say(cudaStreamCreate(&stream));
    say(cudaMallocAsync((void**)&later, 32, stream));
    say(cudaMemsetAsync(later, 0, 32, stream));
    add_kernel<<<1, 8, 0, stream>>>(later, later, 8, 3);
    say(cudaMemcpyAsync(back, later, 32, cudaMemcpyDeviceToHost, stream));
    say(cudaStreamSynchronize(stream));
    say(back[7]);
    say(cudaFreeAsync(later, stream));
    say(cudaStreamDestroy(stream));
    say(cudaMemcpy2D(d, 16, host, 8, 8, 2, cudaMemcpyHostToDevice));
    say(cudaMemcpy(back, d, sizeof host, cudaMemcpyDeviceToHost));
    say(back[0] + 10 * back[1] + 100 * back[4] + 1000 * back[5]);
    cudaPointerAttributes attributes;
    say(cudaPointerGetAttributes(&attributes, d));
    say(attributes.type == cudaMemoryTypeDevice);
    size_t free_bytes = 0, total = 0;
    say(cudaMemGetInfo(&free_bytes, &total));
    say(free_bytes > 0 && free_bytes <= total);
    say(cudaFree(d));
    say(cudaFree(nullptr));
    say.to(y);
}

void streams_and_events(const float* x, float* y, int n) {
    Answers say;
    cudaStream_t a, b;
    cudaEvent_t begin, end, between;
    int low, high;
    say(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    say(cudaDeviceGetStreamPriorityRange(&low, &high));
    say(cudaStreamCreateWithPriority(&b, cudaStreamNonBlocking, high));
    say(cudaEventCreate(&begin) + cudaEventCreate(&end) + cudaEventCreateWithFlags(&between, cudaEventDisableTiming));
    say(cudaEventRecord(begin, a));
    add_kernel<<<(n + 255) / 256, 256, 0, a>>>(x, y + 64, n, 1);
    say(cudaEventRecord(between, a));
    say(cudaStreamWaitEvent(b, between, 0));
    add_kernel<<<(n + 255) / 256, 256, 0, b>>>(y + 64, y + 64, n, 2);
    say(cudaEventRecord(end, b));
    say(cudaEventSynchronize(end));
    float ms = -1;
    say(cudaEventElapsedTime(&ms, begin, end));
    say(ms >= 0);
    say(cudaEventQuery(end));
    say(cudaStreamQuery(b));
    say(cudaEventDestroy(begin) + cudaEventDestroy(end) + cudaEventDestroy(between));
    say(cudaStreamDestroy(a) + cudaStreamDestroy(b));
    say(cudaDeviceSynchronize());
    say.to(y);
}

__global__ void __launch_bounds__(256) heavy_kernel(float* y) {
    __shared__ float s[1024];
    s[threadIdx.x] = 1;
    y[threadIdx.x] = s[threadIdx.x];
}
void device_facts(const float* x, float* y, int n) {
    Answers say;
    int count = 0, device = -1, value = 0, blocks = 0, size = 0, least = 0, version = 0;
    say(cudaGetDeviceCount(&count));
    say(count >= 1);
    say(cudaSetDevice(0));
    say(cudaGetDevice(&device));
    say(device);
    cudaDeviceProp p;
    say(cudaGetDeviceProperties(&p, 0));
    say(p.warpSize + p.maxThreadsPerBlock + (p.major >= 7) + (p.multiProcessorCount > 0) + p.maxThreadsDim[2]);
    say(cudaDeviceGetAttribute(&value, cudaDevAttrMaxThreadsPerBlock, 0));
    say(value);
    say(cudaDeviceGetAttribute(&value, cudaDevAttrCooperativeLaunch, 0));
    say(value);
    say(cudaDeviceGetAttribute(&value, cudaDevAttrMaxBlockDimX, 0));
    say(value);
    say(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimY, 0));
    say(value);
    say(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, heavy_kernel, 256, 0));
    say(blocks);
    say(cudaOccupancyMaxPotentialBlockSize(&least, &size, heavy_kernel, 0, 0));
    say(size);
    cudaFuncAttributes attributes;
    say(cudaFuncGetAttributes(&attributes, heavy_kernel));
    say(float(attributes.sharedSizeBytes) + attributes.maxThreadsPerBlock);
    say(cudaFuncSetCacheConfig(heavy_kernel, cudaFuncCachePreferL1));
    say(cudaRuntimeGetVersion(&version));
    say(version >= 11000);
    say(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    say.to(y);
}

// Errors: which call returns them, and how long they stay.
__global__ void nothing_kernel() {}
__global__ void dynamic_kernel(float* y) {
    extern __shared__ float s[];
    s[threadIdx.x] = 1;
    y[threadIdx.x] = s[threadIdx.x];
}
void launch_errors(const float* x, float* y, int n) {
    Answers say;
    say(cudaGetLastError());
    nothing_kernel<<<0, 32>>>();
    say(cudaPeekAtLastError());
    say(cudaDeviceSynchronize());  // a launch that never was is no error of the device
    say(cudaGetLastError());
    say(cudaGetLastError());  // reading cleared it
    nothing_kernel<<<1, 1025>>>();
    nothing_kernel<<<1, 32>>>();  // a good launch does not clear it
    say(cudaGetLastError());
    nothing_kernel<<<1, dim3(1, 1, 65)>>>();
    say(cudaGetLastError());
    nothing_kernel<<<dim3(1, 65536), 1>>>();
    say(cudaGetLastError());
    dynamic_kernel<<<1, 32, 50000>>>(y);
    say(cudaGetLastError());
    say(cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 300000));
    say(cudaGetLastError());
    say(cudaFuncSetAttribute(dynamic_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    dynamic_kernel<<<1, 32, 50000>>>(y);
    say(cudaGetLastError());
    say(cudaMalloc((void**)&x, size_t(1) << 50));
    say(cudaGetLastError());
    say(cudaSetDevice(77));
    say(cudaGetLastError());
    say(cudaFree((void*)8));
    say(cudaGetLastError());
    say(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue"));
    say(std::strcmp(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument"));
    say(cudaStreamQuery(nullptr));
    say.to(y);
}
void launched_by_name(const float* x, float* y, int n) {
    float by = 2.5f;
    void* arguments[] = {&x, &y, &n, &by};
    cudaLaunchKernel((const void*)add_kernel, dim3((n + 63) / 64), dim3(64), arguments, 0, 0);
}
void default_arguments(const float* x, float* y, int n) {
    dim3 block = {32}, grid;
    grid.x = (n + block.x - 1) / block.x;
    add_kernel<<<grid, block>>>(x, y, n, 0);
    add_kernel<<<grid, block>>>(x, y, n, {});
    const size_t bytes = 0;
    add_kernel<<<grid, block, bytes, NULL>>>(x, y, n, 1);
}
