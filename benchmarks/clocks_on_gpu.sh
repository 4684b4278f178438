#!/bin/sh
# What issue "Honest clocks" needs of a GPU. Results go to the folder given.
#   sh benchmarks/clocks_on_gpu.sh OUTDIR             about five minutes: predict, placement, lesson07, models
#   sh benchmarks/clocks_on_gpu.sh OUTDIR races       about nine: a kernel and a model raced with themselves
#   sh benchmarks/clocks_on_gpu.sh OUTDIR regrade     about nine: 20 files graded again and again
# Any of these words alone runs that part alone. Needs torch with CUDA, nvcc, ninja; no network.
set -u
cd "$(dirname "$0")/.." || exit 1
out=$1
shift
mkdir -p "$out"
export PYTHONPATH="$PWD" PYTHONUNBUFFERED=1
for part in ${*:-predict placement lesson07 models}; do
  echo "== $part, $(date +%T)"
  case $part in
    predict) timeout 150 python3 benchmarks/predict.py measure "$out/predict_measured.json" ;;
    placement) timeout 150 python3 benchmarks/placement.py "$out/placement.json" 8 8 ;;
    lesson07) timeout 200 python3 benchmarks/lesson07.py "$out/lesson07.json" 2 ;;
    models) timeout 200 python3 benchmarks/models.py "$out/models.json" ;;
    races) timeout 570 python3 benchmarks/clocks.py "$out/clocks.json" 100 520 ;;
    regrade) timeout 590 python3 benchmarks/regrade.py "$out/regrade.json" 10 540 ;;
  esac
done 2>&1 | tee -a "$out/clocks_on_gpu.txt"
