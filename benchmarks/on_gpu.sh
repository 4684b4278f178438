#!/bin/sh
# Everything that only a GPU machine can show, in one go; results go to the folder given (default: benchmarks/results).
# Needs torch with CUDA, nvcc, ninja, numpy, typer, rich and pytest there; no network.
set -u
cd "$(dirname "$0")/.." || exit 1
out=${1:-benchmarks/results}
mkdir -p "$out"
nvidia-smi --query-gpu=name,driver_version,clocks.sm,temperature.gpu --format=csv | tee "$out/gpu.csv"
python3 -m grader demo --backend cuda 2>&1 | tee "$out/demo_cuda.txt"
for lesson in 01 03 07 08; do
  python3 -m grader check $lesson solutions/${lesson}_*/solution.py --backend cuda --json "$out/solution_$lesson.json"
done
python3 -m grader check 03 --backend cuda
