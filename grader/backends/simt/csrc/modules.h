// The student's compiled module, seen through its ELF file: where its code lies, and what its
// __shared__ variables are called.
#pragma once
#include "base.h"

namespace simt {

struct Shadow;

struct Symbol {
  size_t begin, end;        // offsets into the module's thread-local block (variables) or image (functions)
  std::string name, owner;  // owner: the function that declares the variable
  std::string scope = "";   // that function in full, with its template arguments
  std::string mangled = "";
};

struct Module {
  size_t base, end;
  std::string path;
  size_t tls_bytes;
  size_t writable;  // where what it may write begins: below lie code, tables and texts
  std::vector<Symbol> shared_variables, functions, variables;  // variables: __device__ ones and all others
  Shadow* shadow = nullptr;                                    // of its memory, once a kernel used some
  u32 file_hash = 0;                                           // of what it was loaded from
  std::vector<std::pair<size_t, size_t>> constants = {};       // where what nobody may write begins and ends
  std::vector<std::pair<size_t, size_t>> tables = {};          // of virtual functions: offsets
};

struct Kernel {
  std::string name;
  std::vector<std::string> parameters;
  int launch_bound = 1024;
  uint3 cluster{};  // of __cluster_dims__, zeros if it has none
};

extern bool g_kernels_launch;  // others: some kernel of this process may

// "void ns::k<float>(int)" -> "k"
std::string unqualified_name(const std::string& full);

// The variable that lies at this offset of the module's memory, nullptr if none does.
const Symbol* variable_at(Module* module, size_t offset);

Module* module_at(size_t code);
const std::vector<Module*>& all_modules();  // that were asked for
size_t thread_local_block(const Module* module);  // of the calling OS thread, 0 if it has none yet
const Kernel* declared_kernel(const std::string& name);
std::string name_at(const void* kernel, Module** where);  // unqualified; "" if there is none
// The most dynamic shared memory that launches of this kernel may ask for.
size_t dynamic_shared_limit(const std::string& kernel);
void allow_dynamic_shared(const std::string& kernel, size_t bytes);
bool any_kernel_has_clusters();
bool allows_large_clusters(const std::string& kernel);  // of more than 8 blocks

}  // namespace simt
