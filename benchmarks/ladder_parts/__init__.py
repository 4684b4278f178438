"""The parts of `benchmarks/ladder.py`: files, inputs, errors, times, the referee, and tools that look on."""
