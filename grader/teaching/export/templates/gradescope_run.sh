#!/usr/bin/env bash
# Gradescope runs this for each submission. Whatever happens, results/results.json says what it was.
set -uo pipefail
root=${AUTOGRADER_ROOT:-/autograder}
python=${COURSE_PYTHON:-$root/venv/bin/python}
export COURSE_CACHE=${COURSE_CACHE:-$root/cache}
cd "$root/source/course" || exit 1
export COURSE_ROOT=$PWD PYTHONPATH=$PWD
exec "$python" -m grader.teaching.export.autograde gradescope @LESSON@ "$root/submission" "$root/results/results.json"
