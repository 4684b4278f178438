#!/bin/sh
# Pairs on a GPU in one go: three candidates raced for one problem, a problem of 6 GB, and the set of pairs.
#
#     benchmarks/pairs_on_gpu.sh OUTDIR
#
# Needs what on_gpu.sh needs; no network. SMOKE=1 does the same without a GPU, with small sizes and a few pairs.
set -u
cd "$(dirname "$0")/.." || exit 1
out=${1:?the folder for the results}
mkdir -p "$out"
export PYTHONPATH="$PWD"
backend=cuda race=benchmarks/pairs/race gigabytes=6 pairs="" at_once=$(nproc)
if [ "${SMOKE:-}" ]; then
  backend=simt race="$out/race" gigabytes=0.05 pairs="--small" at_once=2
  cp -r benchmarks/pairs/race "$out" && sed -i 's/ROWS, COLUMNS = 4096, 4096/ROWS, COLUMNS = 300, 64/' "$race/reference.py"
else
  nvidia-smi --query-gpu=name,driver_version,clocks.sm,temperature.gpu --format=csv | tee "$out/pairs_gpu.csv"
fi
# The race first, while nothing else runs; then what needs memory; then the set, whose compilers fill the cores.
timeout 200 python3 -m grader compare "$race/block_a_row.py" "$race/row_in_shared.py" "$race/in_torch.py" \
  --reference "$race/reference.py" --backend $backend \
  --json "$out/pairs_compare.json" --picture "$out/pairs_compare.svg"
timeout 150 python3 benchmarks/pairs_memory.py --gigabytes $gigabytes --backend $backend --out "$out/pairs_memory_$backend.json"
timeout 300 python3 benchmarks/pairs_set.py --backend $backend --at-once "$at_once" $pairs --out "$out/pairs_$backend.json"
