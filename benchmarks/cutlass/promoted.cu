// Split halves in chunks, with promotion: after each chunk the sum leaves the tensor cores and is added in
// float32. CUTLASS has that in its mainloop for FP8, whose sums are the coarser ones; nothing in it asks for
// FP8, so the parts that the builder chose for halves are put into that mainloop by hand.
//
// Two sums are kept, the chunk's and the whole, so tiles are smaller than without promotion.
#include "hopper.cuh"

template <class P, int TERMS>
cutlass::Status run_promoted(const Call& call) {
    using B = typename P::Builder;
    using Policy = cutlass::gemm::MainloopSm90TmaGmmaWarpSpecializedFP8<B::PipelineStages,
                                                                        typename P::Cluster,
                                                                        typename P::Schedule>;
    using Mainloop = cutlass::gemm::collective::CollectiveMma<
        Policy, typename P::Tile, Half, cutlass::gemm::TagToStrideA_t<Row>, Half,
        cutlass::gemm::TagToStrideB_t<Column>, typename B::TiledMma, typename B::GmemTiledCopyA,
        typename B::SmemLayoutAtomA, void, cute::identity, typename B::GmemTiledCopyB,
        typename B::SmemLayoutAtomB, void, cute::identity>;
    constexpr uint32_t instructions = 3 * TERMS / 16;  // of one output and one chunk, each 16 terms deep
    return run_hopper<Mainloop, typename P::Epilogue>(call, instructions);
}

using Square = Parts<128, 128, 64, Cooperative>;
using Wide = Parts<128, 192, 64, Cooperative>;
using Shallow = Parts<128, 192, 32, Cooperative>;  // a chunk of 32 terms is three tiles of 32

static const Candidate PROMOTED[] = {
    {"promoted after 64 terms, 128 x 128 x 64", 64, run_promoted<Square, 64>},
    {"promoted after 64 terms, 128 x 192 x 64", 64, run_promoted<Wide, 64>},
    {"promoted after 256 terms, 128 x 192 x 64", 256, run_promoted<Wide, 256>},
    {"promoted after 32 terms, 128 x 192 x 32", 32, run_promoted<Shallow, 32>},
};
OFFER(PROMOTED)
