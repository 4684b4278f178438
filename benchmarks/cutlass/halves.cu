// Split halves, the three products as one: its sum is three times as long, and stays in the tensor cores from
// beginning to end. This is how fast CUTLASS multiplies; the error is that of the tensor cores' own sum.
#include "hopper.cuh"

template <class P>
cutlass::Status run_halves(const Call& call) {
    return run_hopper<typename P::Builder::CollectiveOp, typename P::Epilogue>(call);
}

constexpr int ALL = 1 << 30;  // terms: one chunk, however long the sum is

static const Candidate HALVES[] = {
    {"halves, 128 x 256 x 64, cooperative", ALL, run_halves<Parts<128, 256, 64, Cooperative>>},
    {"halves, 256 x 128 x 64, cooperative", ALL, run_halves<Parts<256, 128, 64, Cooperative>>},
    {"halves, 64 x 256 x 64, pingpong", ALL, run_halves<Parts<64, 256, 64, Pingpong>>},
};
OFFER(HALVES)
