#include "counting.h"

#include "json.h"
#include "memory.h"

#include <utility>

namespace simt {

static constexpr size_t SECTOR = 32;

void Counter::start(uint3 grid, u64 threads, u64 sample_above) {
  instructions_.clear();
  index_of_.clear();
  touched_.clear();
  blocks_.clear();
  block_of_.clear();
  touched_blocks_.clear();
  for (auto& line : cache_) line.key = ~u64(0);
  for (auto& line : block_cache_) line.key = ~u64(0);
  barriers = tensor_operations = read_bytes_ = written_bytes_ = fetched_bytes_ = block_read_bytes_ = 0;
  start_sampling(grid, threads, sample_above);
  if (!sectors_) sectors_ = (u8*)reserve_only(g_arena_bytes / SECTOR);
  if (!last_block_) last_block_ = (u32*)reserve_only(g_arena_bytes / SECTOR * sizeof(u32));
  commit_records();
  for_each_live_slot([&](size_t slot, size_t bytes) { forget_slot(slot, bytes); });
}

void Counter::expect_slot(size_t slot, size_t bytes) {
  commit_records();
  forget_slot(slot, bytes);
}

void Counter::commit_records() {
  if (committed_ < g_committed && commit(sectors_, committed_ / SECTOR, g_committed / SECTOR) &&
      commit(last_block_, committed_ / SECTOR * sizeof(u32), g_committed / SECTOR * sizeof(u32)))
    committed_ = g_committed;
}

void Counter::forget_slot(size_t slot, size_t bytes) {
  madvise(sectors_ + slot / SECTOR, bytes / SECTOR, MADV_DONTNEED);  // slots are multiples of 32 pages
}

int Counter::instruction(size_t pc, Access access, Space space, unsigned size) {
  u64 key = pc << 2 | space;
  CacheLine& line = cache_[(pc ^ pc >> 10) & 1023];
  if (line.key == key) return line.index;
  auto [it, fresh] = index_of_.try_emplace(key, int(instructions_.size()));
  if (fresh) {
    Instruction i{};
    i.pc = pc;
    i.access = access;
    i.space = space;
    i.size = u16(size);
    instructions_.push_back(std::move(i));
  }
  line = {key, it->second};
  return it->second;
}

void Counter::touch_sectors(size_t address, unsigned size, Access access) {
  size_t offset = address - (size_t)g_arena;
  if (offset + size > committed_) return;  // the access itself will fail
  for (size_t s = offset / SECTOR; s <= (offset + size - 1) / SECTOR; ++s) {
    u8 bits = access == READ ? 1 : access == WRITE ? 2 : 3, fresh = bits & ~sectors_[s];
    sectors_[s] |= bits;
    if (fresh & 1) {
      read_bytes_ += SECTOR;
      if (!(sectors_[s ^ 1] & 1)) fetched_bytes_ += 2 * SECTOR;
    }
    if (access != WRITE && last_block_[s] != block_) {
      last_block_[s] = block_;
      block_read_bytes_ += SECTOR;
    }
    if (fresh & 2) written_bytes_ += SECTOR;
  }
}

void Counter::note(size_t address, unsigned size, Access access, Space space, size_t pc, int lane) {
  if (space == GLOBAL) touch_sectors(address, size, access);
  if (part_ == Part::NONE) return;
  int id = instruction(pc, access, space, size);
  Instruction& i = instructions_[id];
  if (!i.touched) {
    i.touched = true;
    touched_.push_back(id);
  }
  u32 n = i.executions[lane]++;
  if (n >= i.active.size()) {
    i.active.resize(n + 16, 0);
    i.addresses.resize((n + 16) * 32);
  }
  i.active[n] |= 1u << lane;
  i.addresses[n * 32 + lane] = address;
}

void Counter::enter(size_t pc, int lane) {
  if (part_ == Part::NONE) return;
  CacheLine& line = block_cache_[(pc ^ pc >> 10) & 1023];
  if (line.key != pc) {
    auto [it, fresh] = block_of_.try_emplace(pc, int(blocks_.size()));
    if (fresh) {
      blocks_.push_back({});
      blocks_.back().pc = pc;
    }
    line = {pc, it->second};
  }
  BasicBlock& block = blocks_[line.index];
  if (!block.touched) {
    block.touched = true;
    touched_blocks_.push_back(line.index);
  }
  ++block.executions[lane];
}

static unsigned distinct_sectors(const u64* addresses, u32 active, unsigned size) {
  u64 seen[64];
  unsigned count = 0;
  for (u32 m = active; m; m &= m - 1) {
    u64 p = addresses[__builtin_ctz(m)];
    for (u64 s = p / SECTOR; s <= (p + size - 1) / SECTOR && count < 64; ++s) {
      if (count && seen[count - 1] == s) continue;
      unsigned k = 0;
      while (k < count && seen[k] != s) ++k;
      if (k == count) seen[count++] = s;
    }
  }
  return count;
}

// Shared memory serves 32, 16 or 8 lanes at once (4, 8 or 16 bytes each); in such a group every distinct
// word of the fullest bank takes one wavefront.
static unsigned shared_wavefronts(const u64* addresses, u32 active, unsigned size) {
  unsigned group = size <= 4 ? 32 : size == 8 ? 16 : 8, total = 0;
  for (unsigned first = 0; first < 32; first += group) {
    u32 lanes = group == 32 ? active : active & (((1u << group) - 1) << first);
    u64 words[32][32];
    u8 count[32] = {};
    unsigned fullest = 0;
    for (; lanes; lanes &= lanes - 1) {
      u64 word = addresses[__builtin_ctz(lanes)] / 4;
      for (unsigned k = 0; k < std::max(1u, size / 4); ++k, ++word) {
        unsigned bank = word & 31, i = 0;
        while (i < count[bank] && words[bank][i] != word) ++i;
        if (i == count[bank]) words[bank][count[bank]++] = word;
        fullest = std::max<unsigned>(fullest, count[bank]);
      }
    }
    total += fullest;
  }
  return total;
}

void Counter::end_of_warp_turn() {
  for (int id : touched_) {
    Instruction& i = instructions_[id];
    u32 executions = *std::max_element(i.executions, i.executions + 32);
    for (u32 n = 0; n < executions; ++n) {
      u32 active = i.active[n];
      if (!active) continue;
      const u64* addresses = &i.addresses[n * 32];
      unsigned lanes = __builtin_popcount(active);
      ++i.requests;
      i.lanes += lanes;
      if (i.space != SHARED) {
        i.sectors += distinct_sectors(addresses, active, i.size);
        i.least += (lanes * i.size + SECTOR - 1) / SECTOR;
      } else {
        i.wavefronts += shared_wavefronts(addresses, active, i.size);
        i.least += (lanes * std::max<unsigned>(i.size, 4) + 127) / 128;
      }
      i.active[n] = 0;
    }
    memset(i.executions, 0, sizeof i.executions);
    i.touched = false;
  }
  touched_.clear();
  for (int id : touched_blocks_) {
    BasicBlock& b = blocks_[id];
    b.warps += *std::max_element(b.executions, b.executions + 32);
    for (u32& n : b.executions) b.lanes += std::exchange(n, 0);
    b.touched = false;
  }
  touched_blocks_.clear();
}

std::string Counter::json(size_t module_base) const {
  Json json;
  json.open('{');
  json.field("barriers", (long long)barriers);
  json.field("tensor_operations", (long long)tensor_operations);
  json.field("read_bytes", (long long)read_bytes_);
  json.field("written_bytes", (long long)written_bytes_);
  json.field("fetched_bytes", (long long)fetched_bytes_);
  json.field("block_read_bytes", (long long)block_read_bytes_);
  json.field("sampled_blocks", (long long)sampled_);
  json.field("skipped_blocks", (long long)skipped_);
  json.field("regular", (long long)regular_);
  json.key("blocks").open('[');
  for (auto& b : blocks_) {
    json.open('{');
    json.field("pc", (long long)(b.pc - module_base));
    json.field("warps", (long long)b.warps);
    json.field("lanes", (long long)b.lanes);
    json.close('}');
  }
  json.close(']');
  json.key("instructions").open('[');
  for (auto& i : instructions_) {
    json.open('{');
    json.field("pc", (long long)(i.pc - module_base));
    json.field("access", i.access);
    json.field("space", i.space);
    json.field("size", i.size);
    json.field("requests", (long long)i.requests);
    json.field("lanes", (long long)i.lanes);
    json.field("sectors", (long long)i.sectors);
    json.field("wavefronts", (long long)i.wavefronts);
    json.field("least", (long long)i.least);
    json.close('}');
  }
  json.close(']').close('}');
  return json.text;
}

}  // namespace simt
