#!/bin/sh
# All lessons' solutions on a GPU in one go, below ten minutes: every check, then the times that pages quote.
# Results go to the folder given (default: benchmarks/results). Needs what on_gpu.sh needs, and for lesson 11 the
# extra `jit`; no network.
set -u
cd "$(dirname "$0")/.." || exit 1
out=${1:-benchmarks/results}
mkdir -p "$out"
export PYTHONPATH="$PWD"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,temperature.gpu --format=csv | tee "$out/lessons_gpu.csv"
# Compilers dominate, so all at once; then those alone whose verdict rests on a clock.
timeout 400 python3 benchmarks/solutions.py --backend cuda --at-once "$(($(nproc) / 2 + 1))" --alone 04,07,08,12,13 \
  --out "$out/solutions_cuda.json"
# With the machine quiet: the library against lesson 12, block sizes, and torch.compile's code for this very GPU.
timeout 90 python3 benchmarks/gemm_epilogue.py "$out/gemm_epilogue.json"
timeout 60 python3 benchmarks/block_sizes.py "$out/block_sizes.json"
timeout 40 python3 benchmarks/record_output_code.py "$out/output_code_cuda.txt"
