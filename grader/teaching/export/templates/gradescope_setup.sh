#!/usr/bin/env bash
# Gradescope runs this once, while the image is built: the compiler, Python, and the course's grader.
set -euo pipefail
root=${AUTOGRADER_ROOT:-/autograder}
apt-get update -qq
apt-get install -y -qq g++ python3 python3-venv bubblewrap
python=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  apt-get install -y -qq python3.11 python3.11-venv # Ubuntu 22.04 has 3.10 as python3, which is too old
  python=python3.11
fi
"$python" -m venv "$root/venv"
pip=("$root/venv/bin/python" -m pip install -q -c "$root/source/course/constraints.txt")
"${pip[@]}" --no-deps --index-url https://download.pytorch.org/whl/cpu torch
"${pip[@]}" -e "$root/source/course"
# The CPU back end is compiled now, so that no student waits for it.
cd "$root/source/course" && COURSE_CACHE="$root/cache" "$root/venv/bin/python" -m grader.teaching.export.autograde prepare
