__global__ void load(const float* x, float* y, int a, int b, int c, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = (unsigned(i) * a + unsigned(i / 32) * b + c) & (most - 1);
    y[i] = x[at];
}
__global__ void store(const float* x, float* y, int a, int b, int c, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = (unsigned(i) * a + unsigned(i / 32) * b + c) & (most - 1);
    y[at] = 1.0f;
}
__global__ void banks(const float* x, float* y, int a, int b, int c, int most) {
    __shared__ float s[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned at = (unsigned(i) * a + unsigned(i / 32) * b + c) & 1023;
    s[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = s[at];
}
__global__ void guarded(const float* x, float* y, int n, int lanes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && int(threadIdx.x % 32) < lanes) y[i] = x[i] * 2.0f + 1.0f;
}
__global__ void uneven(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned k = 0; k < blockIdx.x % 7; ++k) y[i] = x[i] + k;
}
__global__ void functions(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = fabsf(x[i]) + 1.0f;
    y[i] = v / (x[i] + 2.0f) + 1.0f / v - sqrtf(v) * expf(v);
}
#define EXPORT extern "C" __attribute__((visibility("default")))
static const int MOST = 1 << 16;
static float* memory() {
    static float* p = nullptr;
    if (!p) cudaMalloc((void**)&p, 2 * MOST * sizeof(float));
    return p;
}
EXPORT void run(int which, int blocks, int threads, int a, int b, int c) {
    float *x = memory(), *y = x + MOST;
    if (which == 0) load<<<blocks, threads>>>(x, y, a, b, c, MOST);
    if (which == 1) store<<<blocks, threads>>>(x, y, a, b, c, MOST);
    if (which == 2) banks<<<blocks, threads>>>(x, y, a, b, c, MOST);
    if (which == 3) guarded<<<blocks, threads>>>(x, y, a, b);
    if (which == 4) uneven<<<blocks, threads>>>(x, y, a);
    if (which == 5) functions<<<blocks, threads>>>(x, y, a);
    cudaDeviceSynchronize();
}
