// What the checks found, kept as data until Python takes it.
#pragma once
#include "memory.h"
#include "shadow.h"
#include "worker.h"

namespace simt {

struct Evidence {
  std::string detail = "";
  const void* address = nullptr;  // the access, if there was one
  unsigned size = 0;
  Access access = NO_ACCESS;
  const Symbol* variable = nullptr;  // a __shared__ variable
  long offset = 0;                   // bytes into the variable
  const Record* other = nullptr;     // the other access of a race
  bool device = false;               // the variable is a __device__ one
  std::string name = "", type = "";  // an array's name and type; an operation and its type
  bool one_barrier = false;          // of two that wait: at one barrier of the source, by its number
  long long left = 0, right = 0;     // the index; the operands
  long owner = -1;                   // the block whose shared memory it is, if another one's
};

// Reports what the worker's current thread did at `pc`. One finding a cause; further ones are counted.
void report(Worker* w, const char* kind, size_t pc, const Evidence& evidence);
// The same for host code, which has no kernel and no thread.
void report_host(const char* kind, size_t pc, const void* address, unsigned size, Access access);
// A copy to the host of so many bytes, of which some are missing: nothing has written them, the first at `first`.
void report_unwritten_copy(size_t pc, const void* first, size_t missing, size_t bytes);
// Whether a kernel that `work` need not follow has used this memory; if so, that is reported.
void report_taken_again(size_t bytes, const Record& user);  // memory that a kernel on another stream may still use
void check_other_streams(const Work& work, const char* operation, size_t pc, const void* pointer, size_t bytes, Access access);

}  // namespace simt

extern "C" SIMT_EXPORT const char* simt_take_findings();
