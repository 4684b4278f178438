// Counts what Nsight Compute counts: requests, sectors and wavefronts. Lanes run one after another, so a
// warp's request is put together afterwards: the n-th execution of one instruction by each of its lanes.
#pragma once
#include "base.h"

#include <unordered_map>

namespace simt {

enum Space : u8 { GLOBAL = 0, SHARED = 1, VARIABLE = 2 };  // VARIABLE: of the module, __device__ or __constant__

// One load, store or atomic instruction of the running launch.
struct Instruction {
  size_t pc;
  Access access;
  Space space;
  u16 size;
  bool touched = false;                                                 // in this warp's turn
  u32 executions[32] = {};                                              // by each lane, in this turn
  std::vector<u64> addresses;                                           // [execution][lane]
  std::vector<u32> active;                                              // lanes of each execution
  u64 requests = 0, lanes = 0, sectors = 0, wavefronts = 0, least = 0;  // least: sectors or wavefronts needed
};

// What runs in a straight line: the compiler tells of each entry. Its arithmetic is in the object code.
struct BasicBlock {
  size_t pc;
  bool touched = false;
  u32 executions[32] = {};
  u64 warps = 0, lanes = 0;  // executions by a warp with any lane, and by single lanes
};

// Whether a block's counts stand for itself alone, for its like too, or are not taken at all.
enum class Part : u8 { ITSELF, SAMPLE, NONE };

class Counter {
 public:
  u64 barriers = 0;
  u64 tensor_operations = 0;  // of tensor cores: a product and a sum are two

  // With more threads than `sample_above`, blocks inside the grid are sampled (0: never).
  void start(uint3 grid, u64 threads, u64 sample_above);
  void begin_block(uint3 block);
  void end_block();
  void finish();
  void enter(size_t pc, int lane);
  void note(size_t address, unsigned size, Access access, Space space, size_t pc, int lane);
  void multiplied(unsigned operations) {
    if (part_ != Part::NONE) tensor_operations += operations;
  }
  void end_of_warp_turn();
  void expect_slot(size_t slot, size_t bytes);  // that was taken after the start
  std::string json(size_t module_base) const;

 private:
  void start_sampling(uint3 grid, u64 threads, u64 sample_above);
  std::vector<u64> totals() const;
  void add(const std::vector<u64>& once, double times);
  int instruction(size_t pc, Access access, Space space, unsigned size);
  void commit_records();
  void forget_slot(size_t slot, size_t bytes);
  void touch_sectors(size_t address, unsigned size, Access access);

  struct CacheLine {
    u64 key = ~u64(0);
    int index = 0;
  };
  std::vector<Instruction> instructions_;
  std::unordered_map<u64, int> index_of_;
  CacheLine cache_[1024];
  CacheLine block_cache_[1024];
  std::vector<BasicBlock> blocks_;
  std::unordered_map<u64, int> block_of_;
  std::vector<int> touched_, touched_blocks_;

  uint3 grid_{};
  Part part_ = Part::ITSELF;
  bool regular_ = true;
  u64 sample_every_ = 0, seen_inside_ = 0, sampled_ = 0, skipped_ = 0;
  std::vector<u64> before_, sample_, sum_;
  u8* sectors_ = nullptr;  // bit 0: read, bit 1: written
  size_t committed_ = 0;   // of the arena
  u64 read_bytes_ = 0, written_bytes_ = 0;
  u64 fetched_bytes_ = 0;     // read, in pairs of sectors, as device memory hands them out
  u64 block_read_bytes_ = 0;  // distinct bytes that each block reads, all blocks added up
  u32* last_block_ = nullptr;  // to read a sector, by its number since the first launch
  u32 block_ = 0;
};

}  // namespace simt
