#include "fibre.h"

#include <sys/mman.h>

#if defined(__x86_64__)
asm(R"(
.text
.globl simt_switch
.hidden simt_switch
.type simt_switch,@function
simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
#elif defined(__aarch64__)
asm(R"(
.text
.globl simt_switch
.hidden simt_switch
.type simt_switch,%function
simt_switch:
  sub sp,sp,#160
  stp x19,x20,[sp]
  stp x21,x22,[sp,#16]
  stp x23,x24,[sp,#32]
  stp x25,x26,[sp,#48]
  stp x27,x28,[sp,#64]
  stp x29,x30,[sp,#80]
  stp d8,d9,[sp,#96]
  stp d10,d11,[sp,#112]
  stp d12,d13,[sp,#128]
  stp d14,d15,[sp,#144]
  mov x9,sp
  str x9,[x0]
  mov sp,x1
  ldp x19,x20,[sp]
  ldp x21,x22,[sp,#16]
  ldp x23,x24,[sp,#32]
  ldp x25,x26,[sp,#48]
  ldp x27,x28,[sp,#64]
  ldp x29,x30,[sp,#80]
  ldp d8,d9,[sp,#96]
  ldp d10,d11,[sp,#112]
  ldp d12,d13,[sp,#128]
  ldp d14,d15,[sp,#144]
  add sp,sp,#160
  ret
)");
#else
#error "simt knows x86-64 and aarch64 only"
#endif

namespace simt {

// Linux lets a process have 65,530 mappings. A stack with a page that nobody may touch has two of its own; what
// a cooperative launch needs beyond this many, a quarter of a million on a large GPU, shares one with others.
static constexpr size_t WITH_A_GUARD = 8192, IN_A_SLAB = 64;

static char* make_stack(size_t number) {
  static thread_local char* slab;
  static thread_local size_t left = 0;
  if (number >= WITH_A_GUARD && left) return slab + --left * STACK_BYTES;
  size_t stacks = number >= WITH_A_GUARD ? IN_A_SLAB : 1;
  char* first = (char*)reserve(stacks * STACK_BYTES);
  mprotect(first, 4096, PROT_NONE);  // an endless recursion stops here instead of in a neighbour
  if (stacks > 1) slab = first, left = stacks - 1;
  return first + (stacks - 1) * STACK_BYTES;
}

Fibre* make_fibre(size_t number) {
  char* stack = make_stack(number);
  return new Fibre{nullptr, stack, (number % 128) * 128};
}

void empty(Fibre* fibre) {
  fibre->stack_pointer = nullptr;
  madvise(fibre->stack, STACK_BYTES, MADV_DONTNEED);
}

void start_at(Fibre* fibre, void (*entry)()) {
  void** sp = (void**)(fibre->stack + STACK_BYTES - 64 - fibre->colour);
#if defined(__x86_64__)
  *--sp = nullptr;  // keeps the stack aligned as after a call
  *--sp = (void*)entry;
  for (int i = 0; i < 6; ++i) *--sp = nullptr;
#else
  sp -= 20;
  memset(sp, 0, 160);
  sp[11] = (void*)entry;
#endif
  fibre->stack_pointer = sp;
}

}  // namespace simt
