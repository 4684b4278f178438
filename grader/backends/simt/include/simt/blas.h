// Products of matrices in device memory by torch's own operators, for the headers of cuBLAS. What cuBLAS computes is
// no kernel of the program's: checks and origins see it as they see an operator of torch.
#pragma once
#include "../cuComplex.h"
#include "../cuda_runtime.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/matmul.h>
#include <set>

enum cudaDataType_t {
  CUDA_R_32F = 0,
  CUDA_R_64F = 1,
  CUDA_R_16F = 2,
  CUDA_R_8I = 3,
  CUDA_R_32I = 10,
  CUDA_R_16BF = 14,
  CUDA_R_8F_E4M3 = 28,
  CUDA_R_8F_E5M2 = 29
};
typedef cudaDataType_t cudaDataType;

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_32I = 72,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77
};

typedef struct cublasContext* cublasHandle_t;

namespace simt::blas {

// The handles whose numbers (alpha, beta, results) lie in device memory.
inline std::set<cublasHandle_t>& by_device() {
  static std::set<cublasHandle_t> handles;
  return handles;
}
template <class T>
inline T taken(cublasHandle_t handle, const T* place) {
  if (!by_device().count(handle)) return *place;
  T value{};
  simt_fail(simt_copy(&value, place, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}
template <class T>
inline void put(cublasHandle_t handle, T* place, T value) {
  if (!by_device().count(handle))
    *place = value;
  else
    simt_fail(simt_copy(place, &value, sizeof value, cudaMemcpyHostToDevice));
}

inline at::ScalarType scalar_type(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F: return at::kDouble;
    case CUDA_R_16F: return at::kHalf;
    case CUDA_R_16BF: return at::kBFloat16;
    case CUDA_R_8I: return at::kChar;
    case CUDA_R_32I: return at::kInt;
    case CUDA_R_8F_E4M3: return at::kFloat8_e4m3fn;
    case CUDA_R_8F_E5M2: return at::kFloat8_e5m2;
    default: return at::kFloat;
  }
}

// Column-major matrices, `count` of them, each `apart` elements behind the one before.
struct Matrix {
  const void* data;
  cudaDataType_t type;
  int64_t leading;
  int64_t apart = 0, count = 1;

  // Its first rows x columns, or those of its transpose.
  at::Tensor view(int64_t rows, int64_t columns, bool transposed) const {
    std::vector<int64_t> sizes = {count, rows, columns};
    std::vector<int64_t> strides = {apart, transposed ? leading : 1, transposed ? 1 : leading};
    auto options = at::TensorOptions().dtype(scalar_type(type)).device(at::kCUDA, 0);
    return at::from_blob(const_cast<void*>(data), sizes, strides, options);
  }
  bool is_device_memory(int64_t rows, int64_t columns) const {
    if (!rows || !columns || !count) return true;
    size_t elements = size_t((count - 1) * apart + (columns - 1) * leading + rows);
    return simt_is_allocated(data, elements * elementSize(scalar_type(type)));
  }
};

// alpha or beta, which the caller hands over by pointer.
inline double number(cublasHandle_t handle, const void* pointer, cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_64F: return taken(handle, (const double*)pointer);
    case CUBLAS_COMPUTE_32I: return taken(handle, (const int*)pointer);
    case CUBLAS_COMPUTE_16F: return float(taken(handle, (const at::Half*)pointer));
    default: return taken(handle, (const float*)pointer);
  }
}

// The same for a tensor: whole numbers take none but whole ones.
inline at::Scalar factor_for(const at::Tensor& tensor, double factor) {
  return at::isIntegralType(tensor.scalar_type(), false) ? at::Scalar(int64_t(factor)) : at::Scalar(factor);
}

// alpha op(a) op(b), in the type that is computed in. Half precision is multiplied as float, as tensor cores do.
inline at::Tensor product(cublasOperation_t op_a, cublasOperation_t op_b, int64_t m, int64_t n, int64_t k, const Matrix& a,
                          const Matrix& b, cublasComputeType_t compute) {
  auto type = compute == CUBLAS_COMPUTE_64F ? at::kDouble : compute == CUBLAS_COMPUTE_32I ? at::kInt : at::kFloat;
  return at::matmul(a.view(m, k, op_a != CUBLAS_OP_N).to(type), b.view(k, n, op_b != CUBLAS_OP_N).to(type));
}

inline cublasStatus_t gemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int64_t m, int64_t n,
                           int64_t k, const void* alpha, const Matrix& a, const Matrix& b, const void* beta, const Matrix& c,
                           cublasComputeType_t compute) {
  int64_t a_rows = op_a == CUBLAS_OP_N ? m : k, b_rows = op_b == CUBLAS_OP_N ? k : n;
  if (m < 0 || n < 0 || k < 0 || c.count < 0 || a.leading < std::max<int64_t>(1, a_rows) ||
      b.leading < std::max<int64_t>(1, b_rows) || c.leading < std::max<int64_t>(1, m) || !alpha || !beta)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!m || !n || !c.count) return CUBLAS_STATUS_SUCCESS;
  bool there = a.is_device_memory(a_rows, op_a == CUBLAS_OP_N ? k : m) &&
               b.is_device_memory(b_rows, op_b == CUBLAS_OP_N ? n : k) && c.is_device_memory(m, n);
  if (!there) {
    simt_fail(cudaErrorIllegalAddress);
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  at::Tensor out = c.view(m, n, false), result = product(op_a, op_b, m, n, k, a, b, compute);
  result.mul_(factor_for(result, number(handle, alpha, compute)));
  if (double factor = number(handle, beta, compute)) result.add_(out.to(result.scalar_type()), factor_for(result, factor));
  out.copy_(result);
  return CUBLAS_STATUS_SUCCESS;
}

// Pointers to `count` matrices, which lie in device memory themselves; none if they do not.
inline std::vector<char*> pointers(const void* list, int count) {
  std::vector<char*> found(size_t(count > 0 ? count : 0));
  size_t bytes = found.size() * sizeof(char*);
  if (!simt_is_allocated(list, bytes)) {
    simt_fail(cudaErrorIllegalAddress);
    return {};
  }
  cudaMemcpy(found.data(), list, bytes, cudaMemcpyDeviceToHost);
  return found;
}

// A product for each of `count` triples of pointers.
inline cublasStatus_t gemm_batched(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n,
                                   int k, const void* alpha,
                                   const void* a, cudaDataType_t ta, int lda, const void* b, cudaDataType_t tb, int ldb,
                                   const void* beta, const void* c, cudaDataType_t tc, int ldc, int count,
                                   cublasComputeType_t compute) {
  if (count < 0) return CUBLAS_STATUS_INVALID_VALUE;
  auto all_a = pointers(a, count), all_b = pointers(b, count), all_c = pointers(c, count);
  for (int i = 0; i < count; ++i) {
    if (all_a.empty() || all_b.empty() || all_c.empty()) return CUBLAS_STATUS_EXECUTION_FAILED;
    auto status = gemm(handle, op_a, op_b, m, n, k, alpha, {all_a[i], ta, lda}, {all_b[i], tb, ldb}, beta,
                       {all_c[i], tc, ldc}, compute);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

// Every `step`-th of n elements.
inline at::Tensor vector(const void* data, cudaDataType_t type, int64_t n, int64_t step) {
  return Matrix{data, type, step}.view(n, 1, true).select(2, 0).select(0, 0);
}

}  // namespace simt::blas
