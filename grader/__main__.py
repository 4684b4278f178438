"""``python -m grader``: the same as ``./course``, in an environment that has torch already."""

from grader.cli.app import main

main()
