#!/bin/sh
# What issue "Honest clocks" needs of a GPU. Results go to the folder given.
#   sh benchmarks/clocks_on_gpu.sh OUTDIR lesson07 models   about three and a half minutes
#   sh benchmarks/clocks_on_gpu.sh OUTDIR races             eight: a kernel and a model raced with themselves
#   sh benchmarks/clocks_on_gpu.sh OUTDIR regrade           five to seven: 20 files graded again and again
#   sh benchmarks/clocks_on_gpu.sh OUTDIR corpus            ten: cheats of the clock; every honest file, timed
#   sh benchmarks/clocks_on_gpu.sh OUTDIR bench             two: every solution against its baselines
#   sh benchmarks/clocks_on_gpu.sh OUTDIR predict placement about four: what predictions and plans are fitted to
#   sh benchmarks/clocks_on_gpu.sh OUTDIR roles queue between rows   two: does a call's time hang on its process's
#                                       past, does it on what waits behind it; calls that wait; rows of calls
#   sh benchmarks/clocks_on_gpu.sh OUTDIR compare           four: three candidates in one race, and a cheat among them
#   sh benchmarks/clocks_on_gpu.sh OUTDIR seconds coverage  three: a timed grading of lesson 03 by phases; how often
#                                       made-up races hold the truth, which needs no GPU
# Needs torch with CUDA, nvcc, ninja; no network. Each part writes what it has so far; one that is cut off is no loss.
set -u
cd "$(dirname "$0")/.." || exit 1
out=$1
shift
mkdir -p "$out"
export PYTHONPATH="$PWD${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
for part in ${*:-lesson07 models}; do
  echo "== $part, $(date +%T)"
  case $part in
    seconds) timeout 300 python3 benchmarks/race_seconds.py "$out/race_seconds.json" 5 ;;
    coverage) timeout 300 python3 benchmarks/race_coverage.py "$out/race_coverage.json" ;;
    predict) timeout 150 python3 benchmarks/predict.py measure "$out/predict_measured.json" ;;
    roles) timeout 150 python3 benchmarks/archive/roles.py "$out/roles.json" ;;
    queue) timeout 60 python3 benchmarks/archive/queue_depth.py "$out/queue_depth.json" ;;
    between) timeout 90 python3 benchmarks/archive/between_calls.py "$out/between_calls.json" ;;
    rows) timeout 120 python3 benchmarks/archive/row_spread.py "$out/row_spread.json" ;;
    placement) timeout 150 python3 benchmarks/archive/placement.py "$out/placement.json" 8 8 ;;
    lesson07) timeout 220 python3 benchmarks/lesson07.py "$out/lesson07.json" 2 ;;
    models) timeout 200 python3 benchmarks/models.py "$out/models.json" ;;
    races) timeout 495 python3 benchmarks/clocks.py "$out/clocks.json" 100 465 ;;
    regrade) timeout 495 python3 benchmarks/regrade.py "$out/regrade.json" 10 420 ;;
    bench) timeout 300 python3 -m grader bench --backend cuda --out "$out" ;;
    compare)
      race=benchmarks/pairs/race
      for third in in_torch claims_a_tenth; do
        timeout 150 python3 -m grader compare "$race/block_a_row.py" "$race/row_in_shared.py" "$race/$third.py" \
          --reference "$race/reference.py" --backend cuda --json "$out/compare_$third.json"
      done
      ;;
    corpus)
      timeout 200 python3 -m tests.corpus.run --gpu --only clock/,honest/timed --seats 1 --json "$out/corpus_clock.json"
      timeout 590 python3 -m tests.corpus.timed "$out/corpus_timed.json" 560 --gpus "$(nvidia-smi -L | wc -l)"
      ;;
  esac
  echo "== $part done, $(date +%T)"
done 2>&1 | tee -a "$out/clocks_on_gpu.txt"
