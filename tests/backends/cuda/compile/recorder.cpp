// Stands before libcudart: prints what a module registers and launches, so that no GPU is needed to see it.
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

struct Dim {
  unsigned x, y, z;
};
static std::map<const void*, std::string> names;
static Dim grid, block;
static size_t shared_bytes;
static void* on_stream;

extern "C" {
void** __cudaRegisterFatBinary(void* wrapper) {
  struct Wrapper {
    int magic, version;
    const char* code;
  }* w = (Wrapper*)wrapper;
  unsigned first;
  memcpy(&first, w->code, 4);
  printf("code %x %d %x\n", w->magic, w->version, first);
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) { puts("end"); }
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, void*, void*, void*, void*, int*) {
  names[host] = name;
  printf("kernel %s\n", name);
}
void __cudaRegisterVar(void**, char* host, char*, const char* name, int, size_t size, int constant, int) {
  names[host] = name;
  printf("variable %s %zu %d\n", name, size, constant);
}
unsigned __cudaPushCallConfiguration(Dim g, Dim b, size_t bytes, void* stream) {
  grid = g, block = b, shared_bytes = bytes, on_stream = stream;
  return 0;
}
int __cudaPopCallConfiguration(Dim* g, Dim* b, size_t* bytes, void* stream) {
  *g = grid, *b = block, *bytes = shared_bytes, memcpy(stream, &on_stream, sizeof on_stream);
  return 0;
}
int cudaLaunchKernel(const void* f, Dim g, Dim b, void** arguments, size_t bytes, void* stream) {
  printf("launch %s <%u %u %u> <%u %u %u> %zu %p: last %d\n", names[f].c_str(), g.x, g.y, g.z, b.x, b.y, b.z, bytes,
         stream, *(int*)arguments[2]);
  return 0;
}
int cudaMemcpyToSymbol(const void* symbol, const void*, size_t count, size_t, int) {
  printf("copied %zu to %s\n", count, names[symbol].c_str());
  return 0;
}
int cudaFuncSetAttribute(const void* f, int attribute, int value) {
  printf("attribute %d of %s: %d\n", attribute, names[f].c_str(), value);
  return 0;
}
}
