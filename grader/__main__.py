"""``python -m grader``: the same as ``./course``, in an environment that has torch already."""

from grader.cli import main

main()
