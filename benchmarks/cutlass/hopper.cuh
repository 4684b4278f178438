// One product of halves on Hopper, as CUTLASS's collective builder puts it together: TMA, wgmma, warps of
// their own for copying, blocks that stay for several tiles, and scale, bias and ReLU in the epilogue.
#pragma once

#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/epilogue/fusion/operations.hpp"
#include "cutlass/epilogue/thread/activation.h"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"

#include "candidate.cuh"

using cute::Int;
using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Cooperative = cutlass::gemm::KernelTmaWarpSpecializedCooperative;  // two warpgroups share a tile
using Pingpong = cutlass::gemm::KernelTmaWarpSpecializedPingpong;        // each has a tile of its own

template <class Schedule>
struct EpilogueOf;
template <>
struct EpilogueOf<Cooperative> {
    using Type = cutlass::epilogue::TmaWarpSpecializedCooperative;
};
template <>
struct EpilogueOf<Pingpong> {
    using Type = cutlass::epilogue::TmaWarpSpecialized;
};

template <int M, int N, int K, class Schedule_>
struct Parts {
    using Schedule = Schedule_;
    using Tile = cute::Shape<Int<M>, Int<N>, Int<K>>;
    using Cluster = cute::Shape<Int<2>, Int<1>, Int<1>>;
    using Fusion = cutlass::epilogue::fusion::LinCombPerColBiasEltAct<cutlass::epilogue::thread::ReLu, float,
                                                                      float, float, void>;
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, float, float, void, Row, 4, float, Row, 4,
        typename EpilogueOf<Schedule>::Type, Fusion>::CollectiveOp;
    using Stages = cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
        sizeof(typename Epilogue::SharedStorage))>;
    using Builder = cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Half, Row, 8, Half, Column, 8, float, Tile,
        Cluster, Stages, Schedule>;
};

template <class Mainloop, class Epilogue, class... More>
cutlass::Status run_hopper(const Call& call, More... more) {
    using Kernel =
        cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue>;
    using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
    static const auto card = cutlass::KernelHardwareInfo::make_kernel_hardware_info<Kernel>();
    (void)cudaGetLastError();  // it can do without what it could not find out
    // Row by row, one matrix: a column of b.T is a row of b.
    const auto pitch = [](int64_t of) { return cute::make_stride(of, Int<1>{}, int64_t{0}); };
    typename Gemm::Arguments arguments{
        cutlass::gemm::GemmUniversalMode::kGemm,
        {call.rows, call.cols, call.inner, 1},
        {static_cast<const Half*>(call.a), pitch(call.inner), static_cast<const Half*>(call.b),
         pitch(call.inner), more...},
        {{}, nullptr, {}, call.out, pitch(call.cols)},
        card};
    arguments.epilogue.thread.alpha = call.scale;
    arguments.epilogue.thread.bias_ptr = call.bias;
    const cutlass::Status able = Gemm::can_implement(arguments);
    if (able != cutlass::Status::kSuccess) return able;
    return Gemm().run(arguments, nullptr, call.stream);
}
