// cublasLtMatmul with its usual epilogues, by torch's own operators.
#pragma once
#include "cublas_v2.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>

typedef struct cublasLtContext* cublasLtHandle_t;
enum cublasLtEpilogue_t {
  CUBLASLT_EPILOGUE_DEFAULT = 1,
  CUBLASLT_EPILOGUE_RELU = 2,
  CUBLASLT_EPILOGUE_BIAS = 4,
  CUBLASLT_EPILOGUE_RELU_BIAS = 6,
  CUBLASLT_EPILOGUE_GELU = 32,
  CUBLASLT_EPILOGUE_GELU_BIAS = 36,
  // Of training: not supported here, as cublasLtMatmulDescSetAttribute then answers.
  CUBLASLT_EPILOGUE_RELU_AUX = 130,
  CUBLASLT_EPILOGUE_RELU_AUX_BIAS = 134,
  CUBLASLT_EPILOGUE_DRELU = 136,
  CUBLASLT_EPILOGUE_DRELU_BGRAD = 152,
  CUBLASLT_EPILOGUE_GELU_AUX = 160,
  CUBLASLT_EPILOGUE_GELU_AUX_BIAS = 164,
  CUBLASLT_EPILOGUE_DGELU = 192,
  CUBLASLT_EPILOGUE_DGELU_BGRAD = 208,
  CUBLASLT_EPILOGUE_BGRADA = 256,
  CUBLASLT_EPILOGUE_BGRADB = 512
};
enum cublasLtMatmulDescAttributes_t {
  CUBLASLT_MATMUL_DESC_TRANSA,
  CUBLASLT_MATMUL_DESC_TRANSB,
  CUBLASLT_MATMUL_DESC_EPILOGUE,
  CUBLASLT_MATMUL_DESC_BIAS_POINTER,
  CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
  CUBLASLT_MATMUL_DESC_SCALE_TYPE,
  CUBLASLT_MATMUL_DESC_FAST_ACCUM,
  CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
  CUBLASLT_MATMUL_DESC_B_SCALE_POINTER,
  CUBLASLT_MATMUL_DESC_C_SCALE_POINTER,
  CUBLASLT_MATMUL_DESC_D_SCALE_POINTER,
  CUBLASLT_MATMUL_DESC_AMAX_D_POINTER,
  // Not supported, either.
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
  CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE,
  CUBLASLT_MATMUL_DESC_POINTER_MODE
};
enum cublasLtMatrixLayoutAttribute_t {
  CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
  CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
  CUBLASLT_MATRIX_LAYOUT_ORDER
};
enum cublasLtMatmulPreferenceAttributes_t { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES };

struct cublasLtMatmulDescOpaque_t {
  cublasComputeType_t compute;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
  int bias_type = -1;  // that of D, unless it is set
  // In device memory: factors of A, B, C and D, and where the largest |D| goes, before D's factor.
  const float *scale_a = nullptr, *scale_b = nullptr, *scale_c = nullptr, *scale_d = nullptr;
  float* largest = nullptr;
};
typedef cublasLtMatmulDescOpaque_t* cublasLtMatmulDesc_t;
struct cublasLtMatrixLayoutOpaque_t {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t leading, apart = 0;
  int32_t count = 1;
};
typedef cublasLtMatrixLayoutOpaque_t* cublasLtMatrixLayout_t;
struct cublasLtMatmulPreferenceOpaque_t {};
typedef cublasLtMatmulPreferenceOpaque_t* cublasLtMatmulPreference_t;
struct cublasLtMatmulAlgo_t {};
struct cublasLtMatmulHeuristicResult_t {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize = 0;
  cublasStatus_t state = CUBLAS_STATUS_SUCCESS;
  float wavesCount = 1;
};

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = (cublasLtHandle_t)handle;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* out, cublasComputeType_t compute, cudaDataType_t) {
  *out = new cublasLtMatmulDescOpaque_t{compute};
  return CUBLAS_STATUS_SUCCESS;
}
// Each kind of description can also lie in memory of the program's.
inline cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t d, cublasComputeType_t compute, cudaDataType_t) {
  *d = {compute};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType_t type, uint64_t rows,
                                               uint64_t columns, int64_t leading) {
  *layout = {type, rows, columns, leading};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  delete d;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t what,
                                                     const void* value, size_t) {
  switch (what) {
    case CUBLASLT_MATMUL_DESC_TRANSA: d->op_a = *(const cublasOperation_t*)value; break;
    case CUBLASLT_MATMUL_DESC_TRANSB: d->op_b = *(const cublasOperation_t*)value; break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      if (*(const int*)value > CUBLASLT_EPILOGUE_GELU_BIAS) return CUBLAS_STATUS_NOT_SUPPORTED;
      d->epilogue = *(const cublasLtEpilogue_t*)value;
      break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: d->bias = *(const void* const*)value; break;
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: d->bias_type = *(const cudaDataType_t*)value; break;
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: break;
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM: break;  // sums are exact to float here
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER: d->scale_a = *(const float* const*)value; break;
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER: d->scale_b = *(const float* const*)value; break;
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER: d->scale_c = *(const float* const*)value; break;
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER: d->scale_d = *(const float* const*)value; break;
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER: d->largest = *(float* const*)value; break;
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* out, cudaDataType_t type, uint64_t rows,
                                                 uint64_t columns, int64_t leading) {
  *out = new cublasLtMatrixLayoutOpaque_t{type, rows, columns, leading};
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                       cublasLtMatrixLayoutAttribute_t what, const void* value, size_t) {
  if (what == CUBLASLT_MATRIX_LAYOUT_ORDER) return CUBLAS_STATUS_NOT_SUPPORTED;  // columns are what is computed with
  if (what == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    layout->count = *(const int32_t*)value;
  else
    layout->apart = *(const int64_t*)value;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* out) {
  *out = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                           cublasLtMatmulPreferenceAttributes_t, const void*, size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                                                     cublasLtMatmulHeuristicResult_t* out, int* found) {
  *out = {};
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

namespace simt::blas {

// A factor in device memory, 1 without one.
inline double scale(const float* place) {
  float value = 1;
  if (place) simt_fail(simt_copy(&value, place, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}
// What does not fit into 8 bits becomes the largest number that does.
inline at::Tensor saturated(const at::Tensor& values, cudaDataType_t type) {
  double most = type == CUDA_R_8F_E4M3 ? 448 : type == CUDA_R_8F_E5M2 ? 57344 : 0;
  return most ? values.clamp(-most, most) : values;
}

}  // namespace simt::blas

// D = scale_d epilogue(scale_a scale_b alpha op(A) op(B) + scale_c beta C + bias), the bias one number a row.
inline cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t d, const void* alpha, const void* a,
                                     cublasLtMatrixLayout_t la, const void* b, cublasLtMatrixLayout_t lb,
                                     const void* beta, const void* c, cublasLtMatrixLayout_t lc, void* out,
                                     cublasLtMatrixLayout_t lo, const cublasLtMatmulAlgo_t*, void*, size_t,
                                     cudaStream_t) {
  using simt::blas::Matrix;
  auto matrix = [](const void* p, cublasLtMatrixLayout_t l) { return Matrix{p, l->type, l->leading, l->apart, l->count}; };
  int64_t m = int64_t(lo->rows), n = int64_t(lo->columns), k = int64_t(d->op_a == CUBLAS_OP_N ? la->columns : la->rows);
  bool there = matrix(a, la).is_device_memory(la->rows, la->columns) &&
               matrix(b, lb).is_device_memory(lb->rows, lb->columns) && matrix(out, lo).is_device_memory(m, n);
  if (!there) {
    simt_fail(cudaErrorIllegalAddress);
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  auto result = simt::blas::product(d->op_a, d->op_b, m, n, k, matrix(a, la), matrix(b, lb), d->compute);
  double scaled = simt::blas::scale(d->scale_a) * simt::blas::scale(d->scale_b);
  result.mul_(simt::blas::factor_for(result, scaled * simt::blas::number(nullptr, alpha, d->compute)));
  if (double factor = simt::blas::scale(d->scale_c) * simt::blas::number(nullptr, beta, d->compute))
    result.add_(matrix(c, lc).view(m, n, false).to(result.scalar_type()), simt::blas::factor_for(result, factor));
  if (d->epilogue & CUBLASLT_EPILOGUE_BIAS) {
    auto type = d->bias_type < 0 ? lo->type : cudaDataType_t(d->bias_type);
    result.add_(Matrix{d->bias, type, m}.view(m, 1, false).to(result.scalar_type()));
  }
  if (d->epilogue & CUBLASLT_EPILOGUE_RELU) result = at::relu(result);
  if (d->epilogue & CUBLASLT_EPILOGUE_GELU) result = at::gelu(result, "tanh");
  if (d->largest) {
    float most = result.numel() ? result.abs().max().item().toFloat() : 0;
    simt_fail(simt_copy(d->largest, &most, sizeof most, cudaMemcpyHostToDevice));
  }
  if (d->scale_d) result.mul_(simt::blas::scale(d->scale_d));
  matrix(out, lo).view(m, n, false).copy_(simt::blas::saturated(result, lo->type));
  return CUBLAS_STATUS_SUCCESS;
}
