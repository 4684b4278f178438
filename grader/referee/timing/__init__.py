"""Honest clocks: submission and baselines in turns on one GPU, two clocks, outputs compared, an interval.

The way of the data: plan -> race (blocks of calls) -> witness (do the clocks agree?) -> interval -> outcome.
"""
