// Where the bytes of device memory come from, in a call that is watched: kernels, what was there before the call,
// or somebody else. Kept for every thread and outside Python.
#pragma once
#include "memory.h"

namespace simt {

struct Launch;
struct Module;

// One of these for each byte; from FOREIGN on the number of who wrote it.
enum Origin : u8 { ABSENT = 0, KERNEL = 1, GIVEN = 2, PRODUCT = 3, WRITTEN_NOW = 4, COUNTED = 5, FOREIGN = 16 };

extern bool g_watched;
extern u8* g_origin;
extern char* g_mirror;  // what the memory held when its origin was noted: a change is the host's

template <class Word>
static constexpr Word EACH_BYTE = Word(0x0101010101010101);
template <class Word>
inline Word word_at(const void* p) {
  Word word;
  memcpy(&word, p, sizeof word);
  return word;
}
template <class Word>
inline bool has_byte(Word word, u8 byte) {
  word ^= EACH_BYTE<Word> * byte;
  return (word - EACH_BYTE<Word>) & ~word & EACH_BYTE<Word> * 0x80;
}

void note_kernel_access(size_t offset, unsigned size, Access access);  // before the access

// The same of whole words, in few instructions where there is nothing to count.
template <unsigned SIZE, Access ACCESS>
inline __attribute__((always_inline)) void note_words(size_t offset) {
  if (ACCESS == WRITE) {
    memset(g_origin + offset, WRITTEN_NOW, SIZE);
    return;
  }
  for (size_t at = offset; at < offset + SIZE; at += 4) {
    u32 four = word_at<u32>(g_origin + at);
    if (four == WRITTEN_NOW * EACH_BYTE<u32> || four == COUNTED * EACH_BYTE<u32>) continue;
    bool as_given = !(four & 0xfcfcfcfc) && !has_byte(four, ABSENT);
    if (!as_given || word_at<u32>(g_arena + at) != word_at<u32>(g_mirror + at)) note_kernel_access(at, 4, ACCESS);
  }
}

void note_kernel_access_to_variable(const Module* m, size_t address, unsigned size, Access access);
void note_arguments(const Launch& launch);
void settle_kernel_writes();  // after a launch
void note_new_memory(size_t offset, size_t bytes);
void note_host_copy(const void* to, const void* from, size_t bytes);
void note_fill(const void* to, unsigned value, size_t bytes);

// variable_origins.cpp
void begin_variables();
void settle_variables();
size_t note_constants();
void note_variable_write(const void* to, const void* from, size_t bytes);
size_t note_variable_access(const Module* m, size_t address, unsigned size, Access access);

}  // namespace simt
