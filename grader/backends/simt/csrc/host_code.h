// Addresses of code that the host hands to kernels: of functions, and of the tables behind virtual functions. A GPU has
// its own, so such an address leads nowhere there. Here both sides have the same ones, and only their way tells.
#pragma once
#include "worker.h"

#include <atomic>

namespace simt {

extern std::atomic<size_t> g_host_code;  // how many words of device memory and variables hold such an address

// The host gets these bytes from the device: addresses of code in them are the device's, and may go back.
void device_tells(const void* bytes, size_t size);
// Device memory, or a variable, gets these bytes from the host, or from elsewhere on the device; the module of `pc` copies.
void host_code_copied(const void* to, const void* from, size_t bytes, size_t pc);
// The host makes an object with virtual functions there.
void host_object(const void* place, size_t pc);
void forget_host_code(size_t address, size_t bytes);
// A kernel reads such an address, which is reported, or writes there.
void use_host_code(Worker* w, size_t address, unsigned size, Access access, size_t pc);

}  // namespace simt
