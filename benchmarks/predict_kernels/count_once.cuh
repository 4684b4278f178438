// On the CPU back end: each launch once, counted.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <vector>

template <class F>
void run(const char* job, const char* version, F launch) {
  launch();
  cudaDeviceSynchronize();
  std::printf("LAUNCH %s|%s\n", job, version);
}
