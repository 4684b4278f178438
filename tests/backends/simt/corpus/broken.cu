// One mistake a case, and for most a look-alike that is right (its name begins with ok_). x has n floats.
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cassert>
#include <cub/cub.cuh>
#include <cstdlib>
#include <cstring>
#include <utility>
#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x
#define KERNEL(NAME) __global__ void NAME##_kernel(const float* x, float* y, int n)
#define LAUNCH(NAME, GRID, BLOCK, ...) \
    NAME##_kernel<<<GRID, BLOCK, ##__VA_ARGS__>>>(x, y, n)

// ---- outside of what is there
KERNEL(read_past_end) { INDEX; if (i < n) y[i] = x[i + 1]; }
void read_past_end(const float* x, float* y, int n) { LAUNCH(read_past_end, n / 256, 256); }
KERNEL(ok_read_past_end) { INDEX; if (i < n - 1) y[i] = x[i + 1]; }
void ok_read_past_end(const float* x, float* y, int n) { LAUNCH(ok_read_past_end, n / 256, 256); }
KERNEL(read_before_start) { INDEX; y[i] = x[i - 2]; }
void read_before_start(const float* x, float* y, int n) { LAUNCH(read_before_start, n / 256, 256); }
KERNEL(write_past_end) { INDEX; float v = i < n ? x[i] : 0; y[i] = v; }
void write_past_end(const float* x, float* y, int n) { LAUNCH(write_past_end, n / 256 + 1, 256); }
KERNEL(shared_past_end) { __shared__ float s[256]; INDEX; s[t + (t == 255)] = x[i]; __syncthreads(); y[i] = s[min(t, 254)]; }
void shared_past_end(const float* x, float* y, int n) { LAUNCH(shared_past_end, 1, 256); }
KERNEL(dynamic_past_end) { extern __shared__ float d[]; INDEX; d[t] = x[i]; y[i] = 0; }
void dynamic_past_end(const float* x, float* y, int n) { LAUNCH(dynamic_past_end, 1, 256, 64); }
KERNEL(ok_dynamic) { extern __shared__ float d[]; INDEX; d[t] = x[i]; y[i] = d[t]; }
void ok_dynamic(const float* x, float* y, int n) { LAUNCH(ok_dynamic, 1, 256, 1024); }
KERNEL(local_past_end) { float a[4]; INDEX; for (int k = 0; k * 256 <= n; ++k) a[k] = x[i + k]; y[i] = a[t & 3]; }
void local_past_end(const float* x, float* y, int n) { LAUNCH(local_past_end, 1, 32); }
KERNEL(ok_local) { float a[4]; INDEX; for (int k = 0; k * 256 < n; ++k) a[k] = x[i + k]; y[i] = a[t & 3]; }
void ok_local(const float* x, float* y, int n) { LAUNCH(ok_local, 1, 32); }
// All of a shared array by its first row: C++ frowns, nvcc and its readers do not.
KERNEL(ok_flat_shared) { __shared__ float s[8][32]; INDEX; s[0][t] = x[i]; __syncthreads(); y[i] = s[t / 32][t % 32]; }
void ok_flat_shared(const float* x, float* y, int n) { LAUNCH(ok_flat_shared, 1, 256); }
KERNEL(after_free) { INDEX; y[i] = x[i]; }
void after_free(const float* x, float* y, int n) {
    float* gone;
    cudaMalloc(&gone, n * sizeof(float));
    cudaMemset(gone, 0, n * sizeof(float));
    cudaFree(gone);
    after_free_kernel<<<1, 32>>>(gone, y, n);
}
KERNEL(misaligned) { INDEX; float4 v = *reinterpret_cast<const float4*>(x + t + 1); y[i] = v.x + v.w; }
void misaligned(const float* x, float* y, int n) { LAUNCH(misaligned, 1, 32); }
KERNEL(ok_aligned) { INDEX; float4 v = *reinterpret_cast<const float4*>(x + 4 * t); y[i] = v.x + v.w; }
void ok_aligned(const float* x, float* y, int n) { LAUNCH(ok_aligned, 1, 32); }
KERNEL(host_pointer) { INDEX; y[i] = x[i]; }
void host_pointer(const float* x, float* y, int n) {
    float* host = (float*)malloc(n * sizeof(float));
    host_pointer_kernel<<<1, 32>>>(host, y, n);
    cudaDeviceSynchronize();
    free(host);
}

// ---- scopes
KERNEL(narrow_atomic) { INDEX; atomicAdd_block(y, x[i]); }
void narrow_atomic(const float* x, float* y, int n) { cudaMemset(y, 0, 4); LAUNCH(narrow_atomic, 4, 32); }
KERNEL(ok_narrow_atomic) { INDEX; atomicAdd_block((int*)y + blockIdx.x, t); }
void ok_narrow_atomic(const float* x, float* y, int n) { cudaMemset(y, 0, 16); LAUNCH(ok_narrow_atomic, 4, 32); }
__device__ unsigned narrow_tickets, wide_tickets;
template <bool WIDE>
__device__ void last_block_sums(const float* x, float* y, unsigned* tickets) {
    y[1 + blockIdx.x] = x[blockIdx.x];
    if (WIDE) __threadfence(); else __threadfence_block();
    if (atomicAdd(tickets, 1) != gridDim.x - 1) return;
    float sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += ((volatile float*)y)[1 + b];
    y[0] = sum;
    *tickets = 0;
}
KERNEL(narrow_fence) { last_block_sums<false>(x, y, &narrow_tickets); }
void narrow_fence(const float* x, float* y, int n) { LAUNCH(narrow_fence, 4, 1); }
KERNEL(ok_wide_fence) { last_block_sums<true>(x, y, &wide_tickets); }
void ok_wide_fence(const float* x, float* y, int n) { LAUNCH(ok_wide_fence, 4, 1); }
KERNEL(read_only_written) { INDEX; y[i] = x[i]; __syncthreads(); if (t == 0) y[32] = __ldg(y + 5); }
void read_only_written(const float* x, float* y, int n) { LAUNCH(read_only_written, 1, 32); }
KERNEL(ok_read_only) { INDEX; y[i] = __ldg(x + (i + 1) % 32); }
void ok_read_only(const float* x, float* y, int n) { LAUNCH(ok_read_only, 1, 32); }

// ---- addresses of code
struct Shape {
    __host__ __device__ virtual float at(float v) const { return v; }
};
struct Double : Shape {
    __host__ __device__ float at(float v) const override { return 2 * v; }
};
typedef float (*Function)(float);
__device__ float tripled(float v) { return 3 * v; }
__device__ Function of_device = tripled;
__device__ Function of_host;
__global__ void by_object(const Shape* shape, const float* x, float* y) { y[threadIdx.x] = shape->at(x[threadIdx.x]); }
__global__ void by_function(const Function* f, const float* x, float* y) { y[threadIdx.x] = (*f)(x[threadIdx.x]); }
__global__ void by_variable(const float* x, float* y) { y[threadIdx.x] = of_host(x[threadIdx.x]); }
__global__ void by_argument(Function f, const float* x, float* y) { y[threadIdx.x] = f(x[threadIdx.x]); }
__global__ void makes_object(void* place) { new (place) Double; }
void object_of_the_host(const float* x, float* y, int n) {
    void* place;
    cudaMallocManaged(&place, sizeof(Double));
    by_object<<<1, 32>>>(new (place) Double, x, y);
    cudaFree(place);
}
void copied_object(const float* x, float* y, int n) {
    Double of_stack;
    void* place;
    cudaMalloc(&place, sizeof(Double));
    cudaMemcpy(place, &of_stack, sizeof(Double), cudaMemcpyHostToDevice);
    by_object<<<1, 32>>>((const Shape*)place, x, y);
    cudaFree(place);
}
void copied_function(const float* x, float* y, int n) {
    Function of_stack = tripled, *place;
    cudaMalloc(&place, sizeof(Function));
    cudaMemcpy(place, &of_stack, sizeof(Function), cudaMemcpyHostToDevice);
    by_function<<<1, 32>>>(place, x, y);
    cudaFree(place);
}
void function_in_variable(const float* x, float* y, int n) {
    Function of_stack = tripled;
    cudaMemcpyToSymbol(of_host, &of_stack, sizeof(Function));
    by_variable<<<1, 32>>>(x, y);
}
void ok_object_of_a_kernel(const float* x, float* y, int n) {
    void* place;
    cudaMalloc(&place, sizeof(Double));
    makes_object<<<1, 1>>>(place);
    by_object<<<1, 32>>>((const Shape*)place, x, y);
    cudaFree(place);
}
void ok_object_made_again(const float* x, float* y, int n) {
    Double of_stack;
    void* place;
    cudaMalloc(&place, sizeof(Double));
    cudaMemcpy(place, &of_stack, sizeof(Double), cudaMemcpyHostToDevice);
    makes_object<<<1, 1>>>(place);
    by_object<<<1, 32>>>((const Shape*)place, x, y);
    cudaFree(place);
}
void ok_function_of_device(const float* x, float* y, int n) {
    Function told, *place;
    cudaMemcpyFromSymbol(&told, of_device, sizeof(Function));
    by_argument<<<1, 32>>>(told, x, y);
    cudaMalloc(&place, sizeof(Function));
    cudaMemcpy(place, &told, sizeof(Function), cudaMemcpyHostToDevice);
    by_function<<<1, 32>>>(place, x, y);
    cudaFree(place);
}

// ---- never written
KERNEL(to_host_unwritten) { INDEX; if (t < 24) y[i] = x[i]; }
void to_host_unwritten(const float* x, float* y, int n) {
    float *fresh, host[32];
    cudaMalloc(&fresh, sizeof host);
    to_host_unwritten_kernel<<<1, 32>>>(x, fresh, n);
    cudaMemcpy(host, fresh, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(fresh);
}
KERNEL(ok_to_host) { INDEX; y[i] = x[i]; }
void ok_to_host(const float* x, float* y, int n) {
    float *fresh, host[32];
    cudaMalloc(&fresh, sizeof host);
    ok_to_host_kernel<<<1, 32>>>(x, fresh, n);
    cudaMemcpy(host, fresh, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(fresh);
}
KERNEL(copied_unwritten) { INDEX; y[i] = x[i]; }
void copied_unwritten(const float* x, float* y, int n) {
    float *from, *to;
    cudaMalloc(&from, 128);
    cudaMalloc(&to, 128);
    cudaMemset(from, 0, 124);
    cudaMemset(to, 0, 128);
    cudaMemcpy(to, from, 128, cudaMemcpyDeviceToDevice);
    copied_unwritten_kernel<<<1, 32>>>(to, y, n);
    cudaFree(from);
    cudaFree(to);
}
KERNEL(ok_copied_in_part) { INDEX; if (t < 31) y[i] = x[i]; }
void ok_copied_in_part(const float* x, float* y, int n) {
    float *from, *to;
    cudaMalloc(&from, 128);
    cudaMalloc(&to, 128);
    cudaMemset(from, 0, 124);
    cudaMemcpy(to, from, 128, cudaMemcpyDeviceToDevice);
    ok_copied_in_part_kernel<<<1, 32>>>(to, y, n);
    cudaFree(from);
    cudaFree(to);
}
KERNEL(unwritten_global) { INDEX; y[i] = x[i] * 2; }
void unwritten_global(const float* x, float* y, int n) {
    float* fresh;
    cudaMalloc(&fresh, n * sizeof(float));
    unwritten_global_kernel<<<1, 256>>>(fresh, y, n);
    cudaFree(fresh);
}
void ok_written_global(const float* x, float* y, int n) {
    float* fresh;
    cudaMalloc(&fresh, n * sizeof(float));
    unwritten_global_kernel<<<1, 256>>>(x, fresh, n);
    unwritten_global_kernel<<<1, 256>>>(fresh, y, n);
    cudaFree(fresh);
}
KERNEL(unwritten_shared) { __shared__ float s[256]; INDEX; if (t < 255) s[t] = x[i]; __syncthreads(); y[i] = s[t]; }
void unwritten_shared(const float* x, float* y, int n) { LAUNCH(unwritten_shared, 1, 256); }

// ---- objects with padding, copied whole: GCC makes one access of each
struct Tail { double d; float f; };
struct Inner { char c; float f; };
struct alignas(16) Wide { float f, g, h; };
struct Row { char c; float f[9]; };
struct Rows { Inner inner[3]; };
template <class K> struct Keyed { K k; float f; };
struct Tagged { int kind; union { float f; double wide; }; };
union Either { float f; double wide; };
struct Named { int kind; Either either; };
using Key = Keyed<char>;
__device__ void put(Tail& to, float v) { to.d = 1; to.f = v; }
__device__ void put(Inner& to, float v) { to.c = 1; to.f = v; }
__device__ void put(Key& to, float v) { to.k = 1; to.f = v; }
__device__ void put(Tagged& to, float v) { to.kind = 1; to.f = v; }
__device__ void put(Either& to, float v) { to.f = v; }
__device__ void put(Row& to, float v) { to.c = 1; for (float& f : to.f) f = v; }
__device__ void put(Wide& to, float v) { to.f = to.g = to.h = v; }
__device__ void put(Rows& to, float v) { for (auto& each : to.inner) put(each, v); }
__device__ void put(Named& to, float v) { to.kind = 1; to.either.f = v; }
__device__ float take(const Row& from) { return from.f[8]; }
__device__ float take(const Rows& from) { return from.inner[2].f; }
__device__ float take(const Named& from) { return from.either.f; }
template <class T> __device__ float take(const T& from) { return from.f; }
// Shared to global memory, through memcpy, into dynamic shared memory, and into an array of the thread's own.
template <class T> __global__ void copies_kernel(const float* x, float* y, T* kept) {
    __shared__ T s[32];
    extern __shared__ double room[];
    T *d = (T*)room, own[2];
    INDEX;
    put(s[t], x[i]);
    __syncthreads();
    kept[t] = s[31 - t];
    memcpy(&d[t], &kept[t], sizeof(T));
    own[t & 1] = d[t];
    y[i] = take(own[t & 1]) + take(d[t]);
}
template <class T> void copies(const float* x, float* y) {
    T* kept;
    cudaMalloc(&kept, 32 * sizeof(T));
    copies_kernel<<<1, 32, 32 * sizeof(T)>>>(x, y, kept);
    cudaFree(kept);
}
void ok_padding_at_the_end(const float* x, float* y, int n) { copies<Tail>(x, y); }
void ok_padding_inside(const float* x, float* y, int n) { copies<Inner>(x, y); }
void ok_padding_by_alignment(const float* x, float* y, int n) { copies<Wide>(x, y); }
void ok_padding_before_an_array(const float* x, float* y, int n) { copies<Row>(x, y); }
void ok_padding_in_an_array(const float* x, float* y, int n) { copies<Rows>(x, y); }
void ok_padding_of_a_template(const float* x, float* y, int n) { copies<Key>(x, y); }
void ok_union_with_a_tag(const float* x, float* y, int n) { copies<Tagged>(x, y); }
void ok_union(const float* x, float* y, int n) { copies<Either>(x, y); }
void ok_union_as_a_member(const float* x, float* y, int n) { copies<Named>(x, y); }
__global__ void ok_padding_of_a_pair_kernel(const float* x, float* y, std::pair<char, float>* kept) {
    __shared__ char room[32 * sizeof(std::pair<char, float>)];
    auto* s = (std::pair<char, float>*)room;
    INDEX;
    s[t].first = 1, s[t].second = x[i];
    __syncthreads();
    new (&kept[t]) std::pair<char, float>(s[31 - t]);
    auto both = kept[t];
    y[i] = both.second;
}
void ok_padding_of_a_pair(const float* x, float* y, int n) {
    std::pair<char, float>* kept;
    cudaMalloc(&kept, 32 * sizeof *kept);
    ok_padding_of_a_pair_kernel<<<1, 32>>>(x, y, kept);
    cudaFree(kept);
}
// A member that nobody wrote is missed in a copy, and padding by whoever reads it as data.
KERNEL(member_unwritten) { __shared__ Inner s[32], d[32]; INDEX; s[t].c = 1; __syncthreads(); d[t] = s[t]; y[i] = d[t].c; }
void member_unwritten(const float* x, float* y, int n) { LAUNCH(member_unwritten, 1, 32); }
KERNEL(tag_unwritten) { __shared__ Tagged s[32], d[32]; INDEX; s[t].f = x[i]; __syncthreads(); d[t] = s[t]; y[i] = d[t].f; }
void tag_unwritten(const float* x, float* y, int n) { LAUNCH(tag_unwritten, 1, 32); }
KERNEL(element_unwritten) { __shared__ Inner s[32], d[32]; INDEX; if (t) put(s[t], x[i]); __syncthreads(); d[t] = s[t]; __syncthreads(); y[i] = d[31 - t].c; }
void element_unwritten(const float* x, float* y, int n) { LAUNCH(element_unwritten, 1, 32); }
KERNEL(component_unwritten) { __shared__ float4 s[32], d[32]; INDEX; s[t].x = s[t].y = s[t].z = x[i]; __syncthreads(); d[t] = s[t]; y[i] = d[t].x; }
void component_unwritten(const float* x, float* y, int n) { LAUNCH(component_unwritten, 1, 32); }
KERNEL(padding_as_data) { __shared__ Inner s[32]; INDEX; put(s[t], x[i]); __syncthreads(); y[i] = ((char*)&s[t])[2]; }
void padding_as_data(const float* x, float* y, int n) { LAUNCH(padding_as_data, 1, 32); }
KERNEL(padding_as_words) { __shared__ Inner s[32]; INDEX; put(s[t], x[i]); __syncthreads(); y[i] = *(int*)&s[t]; }
void padding_as_words(const float* x, float* y, int n) { LAUNCH(padding_as_words, 1, 32); }
KERNEL(copied_padding_as_data) { __shared__ Inner s[32], d[32]; INDEX; put(s[t], x[i]); __syncthreads(); d[t] = s[t]; y[i] = ((char*)&d[t])[2]; }
void copied_padding_as_data(const float* x, float* y, int n) { LAUNCH(copied_padding_as_data, 1, 32); }

// ---- races
KERNEL(missing_barrier) { __shared__ float s[256]; INDEX; s[t] = x[i]; y[i] = s[255 - t]; }
void missing_barrier(const float* x, float* y, int n) { LAUNCH(missing_barrier, 1, 256); }
KERNEL(ok_barrier) { __shared__ float s[256]; INDEX; s[t] = x[i]; __syncthreads(); y[i] = s[255 - t]; }
void ok_barrier(const float* x, float* y, int n) { LAUNCH(ok_barrier, 1, 256); }
KERNEL(missing_warp_barrier) { __shared__ float s[32]; INDEX; s[t] = x[i]; y[i] = s[31 - t]; }
void missing_warp_barrier(const float* x, float* y, int n) { LAUNCH(missing_warp_barrier, 1, 32); }
KERNEL(ok_warp_barrier) { __shared__ float s[32]; INDEX; s[t] = x[i]; __syncwarp(); y[i] = s[31 - t]; }
void ok_warp_barrier(const float* x, float* y, int n) { LAUNCH(ok_warp_barrier, 1, 32); }
KERNEL(missing_second_barrier) {
    __shared__ float s[64];
    INDEX;
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
        s[t] = x[k * 64 + t];
        __syncthreads();
        sum += s[63 - t];
    }
    y[i] = sum;
}
void missing_second_barrier(const float* x, float* y, int n) { LAUNCH(missing_second_barrier, 1, 64); }
// Everybody reads a word, and then somebody writes it: of many readers only some are on record.
KERNEL(many_readers) {
    __shared__ float s[1];
    INDEX;
    if (t == 0) s[0] = x[0];
    __syncthreads();
    y[i] = s[0];
    if (t == 127) s[0] = 1;
}
void many_readers(const float* x, float* y, int n) { LAUNCH(many_readers, 1, 128); }
KERNEL(ok_many_readers) {
    __shared__ float s[1];
    INDEX;
    if (t == 0) s[0] = x[0];
    __syncthreads();
    y[i] = s[0];
    __syncthreads();
    if (t == 127) s[0] = 1;
}
void ok_many_readers(const float* x, float* y, int n) { LAUNCH(ok_many_readers, 1, 128); }
KERNEL(many_reading_blocks) { INDEX; y[i + 1] = y[0] + x[i]; if (i == 511) y[0] = 1; }
void many_reading_blocks(const float* x, float* y, int n) { cudaMemset(y, 0, 4); LAUNCH(many_reading_blocks, 4, 128); }
KERNEL(ok_one_reading_block) { INDEX; y[i + 1] = y[0] + x[i]; __syncthreads(); if (i == 127) y[0] = 1; }
void ok_one_reading_block(const float* x, float* y, int n) { cudaMemset(y, 0, 4); LAUNCH(ok_one_reading_block, 1, 128); }
KERNEL(racing_blocks) { INDEX; y[t] = x[i]; }
void racing_blocks(const float* x, float* y, int n) { LAUNCH(racing_blocks, 4, 64); }
KERNEL(racing_counter) { INDEX; y[0] = y[0] + x[i]; }
void racing_counter(const float* x, float* y, int n) { cudaMemset(y, 0, 4); LAUNCH(racing_counter, 1, 64); }
using Sums = cub::BlockReduce<float, 64>;
KERNEL(storage_reused) {
    __shared__ typename Sums::TempStorage storage;
    INDEX;
    float a = Sums(storage).Sum(x[i]), b = Sums(storage).Sum(2 * x[i]);
    y[i] = a + b;
}
void storage_reused(const float* x, float* y, int n) { LAUNCH(storage_reused, 1, 64); }
KERNEL(ok_storage) {
    __shared__ typename Sums::TempStorage storage;
    INDEX;
    float a = Sums(storage).Sum(x[i]);
    __syncthreads();
    y[i] = a + Sums(storage).Sum(2 * x[i]);
}
void ok_storage(const float* x, float* y, int n) { LAUNCH(ok_storage, 1, 64); }
__device__ float total;
KERNEL(racing_variable) { INDEX; total = total + x[i]; y[i] = 0; }
void racing_variable(const float* x, float* y, int n) { LAUNCH(racing_variable, 2, 32); }
__device__ float sums[4];
KERNEL(ok_variable) { INDEX; atomicAdd(&sums[t & 3], x[i]); y[i] = 0; }
KERNEL(ok_variable_later) { INDEX; y[i] = sums[t & 3]; __syncthreads(); if (i < 4) sums[i] = 0; }
void ok_variable(const float* x, float* y, int n) { LAUNCH(ok_variable, 4, 32); LAUNCH(ok_variable_later, 1, 32); }
KERNEL(ok_counter) { INDEX; atomicAdd(y, x[i]); }
void ok_counter(const float* x, float* y, int n) { cudaMemset(y, 0, 4); LAUNCH(ok_counter, 2, 64); }

// ---- waiting
KERNEL(different_barriers) {
    __shared__ float s[64];
    INDEX;
    if (t < 32) {
        s[t] = x[i];
        __syncthreads();
    } else {
        s[t] = -x[i];
        __syncthreads();
    }
    y[i] = s[t];
}
void different_barriers(const float* x, float* y, int n) { LAUNCH(different_barriers, 1, 64); }
KERNEL(left_before_barrier) { INDEX; if (t >= 48) return; y[i] = x[i]; __syncthreads(); }
void left_before_barrier(const float* x, float* y, int n) { LAUNCH(left_before_barrier, 1, 64); }
KERNEL(absent_lane) { INDEX; float v = x[i]; if (t < 16) v += __shfl_down_sync(0xffff, v, 8); y[i] = v; }
void absent_lane(const float* x, float* y, int n) { LAUNCH(absent_lane, 1, 32); }
KERNEL(ok_half_warp) { INDEX; float v = x[i]; if (t < 16) v += __shfl_down_sync(0xffff, v, 8, 16); y[i] = v; }
void ok_half_warp(const float* x, float* y, int n) { LAUNCH(ok_half_warp, 1, 32); }
KERNEL(wrong_mask) { INDEX; float v = x[i]; if (t >= 16) v += __shfl_xor_sync(0xffff, v, 1); y[i] = v; }
void wrong_mask(const float* x, float* y, int n) { LAUNCH(wrong_mask, 1, 32); }
KERNEL(stuck) { INDEX; float v = x[i]; if (t < 16) v += __shfl_xor_sync(0xffffffff, v, 1); else __syncthreads(); y[i] = v; }
void stuck(const float* x, float* y, int n) { LAUNCH(stuck, 1, 32); }
KERNEL(endless) { volatile int k = 0; while (k >= 0) k = k ? 0 : 1; y[0] = k; }
void endless(const float* x, float* y, int n) { LAUNCH(endless, 1, 1); }
KERNEL(grid_without_cooperation) { INDEX; y[i] = x[i]; cooperative_groups::this_grid().sync(); }
void grid_without_cooperation(const float* x, float* y, int n) { LAUNCH(grid_without_cooperation, 2, 32); }

KERNEL(written_constant) { INDEX; y[i] = x[t]; const_cast<float*>(x)[t + 32] = 1; }  // by every block
void written_constant(const float* x, float* y, int n) { LAUNCH(written_constant, 2, 32); }
KERNEL(ok_written_constant) { INDEX; y[i] = x[i]; const_cast<float*>(x)[i] = 1; }
void ok_written_constant(const float* x, float* y, int n) { LAUNCH(ok_written_constant, 2, 32); }
KERNEL(read_then_written) {  // by all warps, so that their reads are on record no more, and then by one thread
    __shared__ float s[64];
    INDEX;
    s[t] = x[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 64; ++k) sum += s[k];
    if (t == 40) s[3] = sum;
    y[i] = sum;
}
void read_then_written(const float* x, float* y, int n) { LAUNCH(read_then_written, 1, 64); }

// ---- arithmetic, assertions, memory that is kept
KERNEL(asserts) { assert(threadIdx.x < 7); y[threadIdx.x] = x[threadIdx.x]; }
void asserts(const float* x, float* y, int n) { LAUNCH(asserts, 1, 32); }
KERNEL(divides_by_zero) { INDEX; y[i] = 5 / (n - 1024); }
void divides_by_zero(const float* x, float* y, int n) { LAUNCH(divides_by_zero, 1, 32); }
KERNEL(overflows) { INDEX; int at = n * n * n * 2 + t; y[i] = x[at & 1023]; }
void overflows(const float* x, float* y, int n) { LAUNCH(overflows, 1, 32); }
__device__ float without_return(float v) { if (v < 1e30f) return 0; }
KERNEL(ends_without_return) { INDEX; y[i] = without_return(n ? 2e30f : x[i]); }
void ends_without_return(const float* x, float* y, int n) { LAUNCH(ends_without_return, 1, 32); }
__device__ float in_a_large_array(float v) {
    volatile float a[200000];
    for (int i = 0; i < 200000; i += 50000) a[i] = v;
    return a[150000];
}
KERNEL(large_array) { INDEX; y[i] = in_a_large_array(x[i]); }
void large_array(const float* x, float* y, int n) { LAUNCH(large_array, 2, 32); }
__device__ __noinline__ int calls_itself(const float* x, int v) { return x[v & 31] < 1e30f ? calls_itself(x, v + 1) + 1 : 0; }
KERNEL(endless_calls) { INDEX; y[i] = calls_itself(x, i); }
void endless_calls(const float* x, float* y, int n) { LAUNCH(endless_calls, 1, 32); }
__device__ float in_an_array(float v) {
    volatile float a[40000];
    for (int i = 0; i < 40000; i += 10000) a[i] = v;
    return a[30000];
}
KERNEL(ok_large_array) { INDEX; y[i] = in_an_array(x[i]); }
void ok_large_array(const float* x, float* y, int n) { LAUNCH(ok_large_array, 2, 32); }
KERNEL(ok_wide) { INDEX; long long at = (long long)n * n * n * 2 + t; y[i] = x[at & 1023]; }
void ok_wide(const float* x, float* y, int n) { LAUNCH(ok_wide, 1, 32); }
KERNEL(ok_unsigned) { INDEX; unsigned at = (unsigned)n * n * n * 4 + t; y[i] = x[at & 1023]; }
void ok_unsigned(const float* x, float* y, int n) { LAUNCH(ok_unsigned, 1, 32); }
KERNEL(ok_hash) { INDEX; int h = (t + 7) * 1103515245 + 12345; y[i] = x[h & 1023]; }
void ok_hash(const float* x, float* y, int n) { LAUNCH(ok_hash, 1, 32); }
void kept_memory(const float* x, float* y, int n) { float* p; cudaMalloc(&p, 4096); cudaMemset(p, 0, 4096); }
void ok_given_back(const float* x, float* y, int n) { float* p; cudaMalloc(&p, 4096); cudaFree(p); }
