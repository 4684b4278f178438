#include "blocks.h"

#include "recording.h"

extern "C" __thread simt::Builtins simt_builtins SIMT_TLS;

namespace simt {

// The block's shared memory: its static variables one after the other, then the dynamic part.
template <class Move>
static void for_each_shared_byte(Worker* w, std::vector<char>& saved, Move move) {
  if (w->cluster && w->cluster->memory) {  // where the cluster's other blocks find it
    char* slot = w->cluster->slot(w->rank);
    for (auto* v : w->launch->shared_variables) move((char*)w->tls + v->begin, slot + v->begin, v->end - v->begin);
    move(w->dynamic_shared, slot + w->cluster->dynamic_at, w->launch->shared_bytes);
    return;
  }
  size_t at = 0;
  for (auto* v : w->launch->shared_variables) {
    size_t bytes = v->end - v->begin;
    if (saved.size() < at + bytes) saved.resize(at + bytes);
    move((char*)w->tls + v->begin, saved.data() + at, bytes);
    at += bytes;
  }
  if (saved.size() < at + w->launch->shared_bytes) saved.resize(at + w->launch->shared_bytes);
  move(w->dynamic_shared, saved.data() + at, w->launch->shared_bytes);
}

SavedBlock put_aside(Worker* w) {
  SavedBlock s{w->block, w->block_phase, w->finished, w->at_grid, {}, {}, w->exit_reported, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, w->cluster, w->rank, w->clocks, false, 0};
  std::copy(w->vote_count, w->vote_count + 2, s.vote_count);
  std::copy(w->vote_result, w->vote_result + 2, s.vote_result);
  s.states.assign(w->states, w->states + w->launch->thread_count);
  s.waits.assign(w->waits, w->waits + w->launch->thread_count);
  s.threads.assign(w->threads, w->threads + w->launch->thread_count);
  s.warps.assign(w->warps, w->warps + w->launch->warp_count);
  for_each_shared_byte(w, s.shared_memory, [](char* live, char* saved, size_t n) { memcpy(saved, live, n); });
  s.static_defined = w->static_defined;
  s.dynamic_defined = w->dynamic_defined;
  s.copies = w->copies;
  s.given = w->given;  // a turn may end between the two halves of a product
  if (w->launch->shows_factors && !w->factors.empty())
    s.factors.assign(w->factors.begin(), w->factors.begin() + w->launch->warp_count * NUMBERS_OF_FACTORS);
  s.doubtful = std::exchange(w->doubtful, {});
  leave_cluster(w);
  if (w->cluster) s.waits_for_cluster = is_kept_by_its_cluster(w), s.waited_since = w->cluster->phase;
  if (w->recording) record_block_ends(w);
  return s;
}

void take_up(Worker* w, SavedBlock& s) {
  w->block = s.block;
  w->plain = false;  // a block that has ended in the meantime may have been
  w->cluster = s.cluster;
  w->rank = s.rank;
  w->clocks = s.clocks;
  w->run = w->launch->first_run + w->launch->grid_round * u32(w->launch->block_count) + u32(s.block);
  w->block_phase = s.block_phase;
  w->finished = s.finished;
  w->at_grid = s.at_grid;
  w->arrived = 0;
  for (auto state : s.states) w->arrived += state == AT_BLOCK_BARRIER;
  std::copy(s.vote_count, s.vote_count + 2, w->vote_count);
  std::copy(s.vote_result, s.vote_result + 2, w->vote_result);
  w->exit_reported = s.exit_reported;
  std::copy(s.states.begin(), s.states.end(), w->states);
  std::copy(s.waits.begin(), s.waits.end(), w->waits);
  std::copy(s.threads.begin(), s.threads.end(), w->threads);
  std::copy(s.warps.begin(), s.warps.end(), w->warps);
  for_each_shared_byte(w, s.shared_memory, [](char* live, char* saved, size_t n) { memcpy(live, saved, n); });
  w->static_defined = s.static_defined;
  w->dynamic_defined = s.dynamic_defined;
  w->copies = s.copies;
  w->given = s.given;
  std::copy(s.factors.begin(), s.factors.end(), w->factors.begin());
  w->doubtful = s.doubtful;
  if (w->cluster) enter_cluster(w, w->rank), let_cluster_go(w);
  simt_builtins.block = block_index(*w->launch, s.block);
  if (w->mode & CHECK) begin_epoch(w);
  if (g_recording) record_block_begins(w);
}

}  // namespace simt
