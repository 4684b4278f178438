// Counting some blocks of a large launch for all. Blocks at the grid's edges, where guards differ, are counted
// each for itself. Of the others a sample is counted; if its blocks agree in every number, the kernel is
// regular and what is multiplied up is exact, else it is an estimate and said to be one.
#include "counting.h"

namespace simt {

static constexpr u64 SAMPLES = 16;

void Counter::start_sampling(uint3 grid, u64 threads, u64 sample_above) {
  grid_ = grid;
  part_ = Part::ITSELF;
  regular_ = true;
  seen_inside_ = sampled_ = skipped_ = sample_every_ = 0;
  sample_.clear();
  sum_.clear();
  if (!sample_above || threads <= sample_above) return;
  auto inside = [](unsigned extent) { return extent > 2 ? u64(extent - 2) : u64(1); };
  u64 blocks = inside(grid.x) * inside(grid.y) * inside(grid.z);
  sample_every_ = std::max<u64>(1, blocks / SAMPLES);
}

static bool at_an_edge(unsigned at, unsigned extent) { return extent > 2 && (at == 0 || at == extent - 1); }

void Counter::begin_block(uint3 block) {
  ++block_;
  if (!sample_every_) return;
  if (at_an_edge(block.x, grid_.x) || at_an_edge(block.y, grid_.y) || at_an_edge(block.z, grid_.z)) {
    part_ = Part::ITSELF;
  } else if (seen_inside_++ % sample_every_ == 0) {
    part_ = Part::SAMPLE;
    before_ = totals();
  } else {
    part_ = Part::NONE;
    ++skipped_;
  }
}

void Counter::end_block() {
  if (part_ != Part::SAMPLE) return;
  std::vector<u64> once = totals();
  before_.resize(once.size());
  for (size_t k = 0; k < once.size(); ++k) once[k] -= before_[k];
  if (!sampled_++) sample_ = once;
  sample_.resize(once.size());  // an instruction that only later blocks have
  sum_.resize(once.size());
  regular_ &= sample_ == once;
  for (size_t k = 0; k < once.size(); ++k) sum_[k] += once[k];
}

void Counter::finish() {
  if (skipped_) add(sum_, double(skipped_) / double(sampled_));
  part_ = Part::ITSELF;
}

// Every number that is extrapolated, in the order of first appearance: barriers and tensor operations, then in pairs of
// generations instructions and basic blocks, so that new ones only lengthen what was there.
std::vector<u64> Counter::totals() const {
  std::vector<u64> all{barriers, tensor_operations};
  for (size_t k = 0; k < std::max(instructions_.size(), blocks_.size()); ++k) {
    static const Instruction none{};
    static const BasicBlock empty{};
    const Instruction& i = k < instructions_.size() ? instructions_[k] : none;
    const BasicBlock& b = k < blocks_.size() ? blocks_[k] : empty;
    all.insert(all.end(), {i.requests, i.lanes, i.sectors, i.wavefronts, i.least, b.warps, b.lanes});
  }
  return all;
}

void Counter::add(const std::vector<u64>& once, double times) {
  size_t k = 0;
  auto more = [&](u64& total) {
    if (k < once.size()) total += u64(double(once[k]) * times + 0.5);
    ++k;
  };
  more(barriers);
  more(tensor_operations);
  BasicBlock unused_block;
  Instruction unused;
  for (size_t n = 0; n < std::max(instructions_.size(), blocks_.size()); ++n) {
    Instruction& i = n < instructions_.size() ? instructions_[n] : unused;
    for (u64* total : {&i.requests, &i.lanes, &i.sectors, &i.wavefronts, &i.least}) more(*total);
    BasicBlock& b = n < blocks_.size() ? blocks_[n] : unused_block;
    for (u64* total : {&b.warps, &b.lanes}) more(*total);
  }
}

}  // namespace simt
