#include "modules.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <map>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace simt {

static std::vector<Module*> g_modules;
static std::map<std::string, Kernel> g_kernels;
static std::map<std::string, size_t> g_dynamic_limits;
static size_t g_largest_dynamic_limit = 0;
static constexpr size_t DEFAULT_DYNAMIC_SHARED = 48 << 10;

std::string unqualified_name(const std::string& full) {
  int depth = 0;
  size_t end = full.size();
  for (size_t i = 0; i < full.size(); ++i) {
    if (full[i] == '<') ++depth;
    if (full[i] == '>') --depth;
    if (full[i] == '(' && depth == 0) {
      end = i;
      break;
    }
  }
  std::string name = full.substr(0, end);
  name = name.substr(0, name.find('<'));
  size_t cut = name.find_last_of(" :");
  return cut == std::string::npos ? name : name.substr(cut + 1);
}

static Symbol make_symbol(const ElfW(Sym) & raw, const char* mangled) {
  int status;
  char* demangled = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string full = demangled ? demangled : mangled;
  free(demangled);
  Symbol s{raw.st_value, raw.st_value + raw.st_size, full, ""};
  if (ELF64_ST_TYPE(raw.st_info) == STT_FUNC) {
    s.name = unqualified_name(full);
  } else if (size_t cut = full.rfind("::"); cut != std::string::npos) {
    s.name = full.substr(cut + 2);
    s.scope = full.substr(0, cut);
    s.owner = unqualified_name(s.scope);
    s.mangled = mangled;
  }
  return s;
}

// __shared__ makes a thread-local static of a function; the same in a library's namespace is the library's.
static bool is_student_variable(const char* mangled) {
  if (strncmp(mangled, "_ZZ", 3) != 0) return false;
  for (const char* library : {"N8pybind11", "N3c10", "NK3c10", "N2at", "NK2at", "N5torch", "NK5torch",
                              "N4simt", "NSt", "NKSt", "St"})
    if (!strncmp(mangled + 3, library, strlen(library))) return false;
  return true;
}

static u32 hash_of(const char* image, size_t bytes) {
  u64 hash = bytes;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    u64 word;
    memcpy(&word, image + i, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return u32(hash ^ hash >> 32);
}

static void read_symbols(Module* module) {
  module->file_hash = u32(module->base >> 12);  // if its file is gone, it is like no other
  int file = open(module->path.c_str(), O_RDONLY);
  struct stat status;
  if (file < 0 || fstat(file, &status)) return;
  char* image = (char*)mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (image == MAP_FAILED) return;
  module->file_hash = hash_of(image, status.st_size);
  auto* header = (ElfW(Ehdr)*)image;
  auto* sections = (ElfW(Shdr)*)(image + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    auto* symbols = (ElfW(Sym)*)(image + sections[i].sh_offset);
    const char* names = image + sections[sections[i].sh_link].sh_offset;
    for (size_t k = 0; k < sections[i].sh_size / sizeof(ElfW(Sym)); ++k) {
      const auto& s = symbols[k];
      const char* name = names + s.st_name;
      if (!s.st_size || !s.st_shndx) continue;
      if (ELF64_ST_TYPE(s.st_info) == STT_TLS && is_student_variable(name))
        module->shared_variables.push_back(make_symbol(s, name));
      if (!strncmp(name, "_ZTV", 4)) module->tables.push_back({s.st_value, s.st_value + s.st_size});
      if (ELF64_ST_TYPE(s.st_info) == STT_OBJECT && strncmp(name, "_ZT", 3) && strncmp(name, "_ZGV", 4))
        module->variables.push_back({s.st_value, s.st_value + s.st_size, name, ""});
      // Only kernels are ever looked up by address, and every kernel is declared by its plain name.
      if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && strncmp(name, "_ZN3c10", 7) && strncmp(name, "_ZNSt", 5))
        module->functions.push_back({s.st_value, s.st_value + s.st_size, name, ""});
    }
  }
  munmap(image, status.st_size);
  std::sort(module->shared_variables.begin(), module->shared_variables.end(),
            [](auto& a, auto& b) { return a.begin < b.begin; });
}

const std::vector<Module*>& all_modules() { return g_modules; }

Module* module_at(size_t code) {
  for (auto* m : g_modules)
    if (code >= m->base && code < m->end) return m;
  struct Query {
    size_t code;
    Module* found;
  } query{code, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto* query = (Query*)argument;
        size_t low = ~size_t(0), high = 0, tls = 0, writable = ~size_t(0);
        std::vector<std::pair<size_t, size_t>> constants;
        for (int k = 0; k < info->dlpi_phnum; ++k) {
          auto& segment = info->dlpi_phdr[k];
          size_t begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD) {
            low = std::min(low, begin);
            high = std::max(high, begin + segment.p_memsz);
            if (segment.p_flags & PF_W) writable = std::min(writable, begin);
            if (!(segment.p_flags & PF_W)) constants.push_back({begin, begin + segment.p_memsz});
          }
          if (segment.p_type == PT_TLS) tls = segment.p_memsz;
        }
        if (query->code < low || query->code >= high) return 0;
        query->found = new Module{info->dlpi_addr, high, info->dlpi_name, tls, writable, {}, {}, {}};
        query->found->constants = constants;
        return 1;
      },
      &query);
  if (!query.found) return nullptr;
  read_symbols(query.found);
  g_modules.push_back(query.found);
  return query.found;
}

const Symbol* variable_at(Module* module, size_t offset) {
  for (auto& v : module->variables) {
    if (offset < v.begin || offset >= v.end) continue;
    int status;
    if (char* demangled = abi::__cxa_demangle(v.name.c_str(), nullptr, nullptr, &status)) {
      v.name = demangled;
      free(demangled);
    }
    v.name = v.name.substr(v.name.rfind(':') + 1);  // npos + 1 is 0
    return &v;
  }
  return nullptr;
}

size_t thread_local_block(const Module* module) {
  struct Query {
    const Module* module;
    size_t block;
  } query{module, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto* query = (Query*)argument;
        if (info->dlpi_addr != query->module->base) return 0;
        query->block = (size_t)info->dlpi_tls_data;
        return 1;
      },
      &query);
  return query.block;
}

const Kernel* declared_kernel(const std::string& name) {
  auto it = g_kernels.find(name);
  return it == g_kernels.end() ? nullptr : &it->second;
}

size_t dynamic_shared_limit(const std::string& kernel) {
  auto it = g_dynamic_limits.find(kernel);
  if (it != g_dynamic_limits.end()) return std::max(it->second, DEFAULT_DYNAMIC_SHARED);
  // A launch through a pointer variable does not name its kernel: believe any limit that was raised.
  if (!declared_kernel(kernel)) return std::max(g_largest_dynamic_limit, DEFAULT_DYNAMIC_SHARED);
  return DEFAULT_DYNAMIC_SHARED;
}

void allow_dynamic_shared(const std::string& kernel, size_t bytes) {
  g_dynamic_limits[kernel] = bytes;
  g_largest_dynamic_limit = std::max(g_largest_dynamic_limit, bytes);
}

bool any_kernel_has_clusters() {
  return std::any_of(g_kernels.begin(), g_kernels.end(), [](auto& each) { return each.second.cluster.x; });
}

static std::set<std::string> g_large_clusters;
// Where a launch through a variable does not name its kernel, any is believed.
bool allows_large_clusters(const std::string& kernel) {
  return g_large_clusters.count(kernel) || (!declared_kernel(kernel) && !g_large_clusters.empty());
}

static std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != separator) continue;
    if (i > begin) parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

}  // namespace simt

// "name:bound:x:y:z parameter parameter,name:bound:x:y:z ...", x to z of the kernel's clusters
bool simt::g_kernels_launch = false;

extern "C" int simt_register_kernels(const char* declarations) {
  using namespace simt;
  for (auto& declaration : split(declarations, ',')) {
    auto words = split(declaration, ' ');
    if (words.empty()) continue;
    auto head = split(words[0], ':');
    if (head[0] == "<<<") {
      g_kernels_launch = true;
      continue;
    }
    auto number = [&](size_t i) { return head.size() > i ? unsigned(atoi(head[i].c_str())) : 0u; };
    g_kernels[head[0]] = Kernel{head[0], {words.begin() + 1, words.end()}, number(1) ? int(number(1)) : 1024, {number(2), number(3), number(4)}};
  }
  return 0;
}

namespace simt {

static const Symbol* function_at(const void* kernel, Module** where) {
  Module* module = *where = module_at((size_t)kernel);
  if (!module) return nullptr;
  size_t at = (size_t)kernel - module->base;
  for (auto& f : module->functions)
    if (at >= f.begin && at < f.end) return &f;
  return nullptr;
}

std::string name_at(const void* kernel, Module** where) {
  const Symbol* f = function_at(kernel, where);
  if (!f) return "";
  int status;
  char* demangled = abi::__cxa_demangle(f->name.c_str(), nullptr, nullptr, &status);
  std::string name = unqualified_name(demangled ? demangled : f->name);
  free(demangled);
  return name;
}

}  // namespace simt

extern "C" int simt_allow_dynamic_shared(const void* kernel, int bytes) {
  using namespace simt;
  static constexpr int MOST = 227 << 10;
  if (bytes < 0 || bytes > MOST) return 1;
  Module* module;
  std::string name = name_at(kernel, &module);
  if (name.empty()) return 98;  // cudaErrorInvalidDeviceFunction
  allow_dynamic_shared(name, bytes);
  return 0;
}

extern "C" int simt_allow_large_clusters(const void* kernel, int allowed) {
  using namespace simt;
  Module* module;
  std::string name = name_at(kernel, &module);
  if (name.empty()) return 98;  // cudaErrorInvalidDeviceFunction
  if (allowed) g_large_clusters.insert(name);
  else g_large_clusters.erase(name);
  return 0;
}
extern "C" int simt_allows_large_clusters(const void* kernel) {
  simt::Module* module;
  return simt::allows_large_clusters(simt::name_at(kernel, &module));
}

extern "C" size_t simt_static_shared(const void* kernel) {
  using namespace simt;
  Module* module;
  const Symbol* f = function_at(kernel, &module);
  size_t bytes = 0;
  if (f) {
    // A static of f has the name _ZZ, f's without its _Z, E, its own: of each instance of a template it is another.
    const bool plain = f->name.compare(0, 2, "_Z") != 0;  // extern "C"
    const std::string inside = "_ZZ" + (plain ? std::to_string(f->name.size()) + f->name : f->name.substr(2)) + "E";
    for (auto& v : module->shared_variables)
      if (v.mangled.compare(0, inside.size(), inside) == 0) bytes += v.end - v.begin;
  }
  return bytes;
}

extern "C" int simt_launch_bound(const void* kernel) {
  using namespace simt;
  Module* module;
  const Kernel* declared = declared_kernel(name_at(kernel, &module));
  return declared ? declared->launch_bound : 1024;
}
