// CUTLASS's ready-made float32 on tensor cores: each number as two of TF32, three products, for any GPU since
// sm_80. The sum stays in the tensor cores from beginning to end.
#include "cutlass/epilogue/thread/linear_combination_relu.h"
#include "cutlass/gemm/device/gemm.h"

#include "candidate.cuh"

template <class Tile, class Warp, int STAGES>
cutlass::Status run_tf32(const Call& call) {
    using Epilogue =
        cutlass::epilogue::thread::LinearCombinationRelu<float, 4, float, float,
                                                         cutlass::epilogue::thread::ScaleType::NoBetaScaling>;
    using Gemm = cutlass::gemm::device::Gemm<
        float, cutlass::layout::RowMajor, float, cutlass::layout::ColumnMajor, float,
        cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, Tile, Warp,
        cutlass::gemm::GemmShape<16, 8, 8>, Epilogue,
        cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>, STAGES, 4, 4, false,
        cutlass::arch::OpMultiplyAddFastF32>;
    // A matrix to be added whose rows lie 0 apart: the bias, again for every row.
    const typename Gemm::Arguments arguments({call.rows, call.cols, call.inner},
                                             {static_cast<const float*>(call.a), call.inner},
                                             {static_cast<const float*>(call.b), call.inner}, {call.bias, 0},
                                             {call.out, call.cols}, {call.scale});
    const cutlass::Status able = Gemm::can_implement(arguments);
    if (able != cutlass::Status::kSuccess) return able;
    return Gemm()(arguments, nullptr, call.stream);
}

template <int M, int N, int K>
using Shape = cutlass::gemm::GemmShape<M, N, K>;

static const Candidate TF32[] = {
    {"3 x TF32, 128 x 128 x 16, 4 stages", 0, run_tf32<Shape<128, 128, 16>, Shape<32, 64, 16>, 4>},
    {"3 x TF32, 128 x 128 x 32, 3 stages", 0, run_tf32<Shape<128, 128, 32>, Shape<32, 64, 32>, 3>},
    {"3 x TF32, 256 x 64 x 16, 3 stages", 0, run_tf32<Shape<256, 64, 16>, Shape<64, 32, 16>, 3>},
};
OFFER(TF32)
