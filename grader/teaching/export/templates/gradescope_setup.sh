#!/usr/bin/env bash
# Gradescope runs this once, while the image is built: the compiler, Python, and the course's grader.
set -euo pipefail
root=${AUTOGRADER_ROOT:-/autograder}
apt-get update -qq
apt-get install -y -qq g++ python3 python3-venv bubblewrap
python3 -m venv "$root/venv"
pip=("$root/venv/bin/python" -m pip install -q -c "$root/source/course/constraints.txt")
"${pip[@]}" --no-deps --index-url https://download.pytorch.org/whl/cpu torch
"${pip[@]}" -e "$root/source/course"
# The CPU back end is compiled now, so that no student waits for it.
cd "$root/source/course" && COURSE_CACHE="$root/cache" "$root/venv/bin/python" -m grader.teaching.export.autograde prepare
