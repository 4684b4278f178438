"""What exercises and their checks import: grids in Python, host functions, dialects, generated code."""
