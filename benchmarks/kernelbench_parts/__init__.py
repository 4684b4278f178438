"""What ``benchmarks/kernelbench.py`` is made of: looking at a problem, its versions, grading, the report."""
