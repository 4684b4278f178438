"""The CPU back end: the same CUDA source, compiled by a C++ compiler and run thread by thread.

``build`` belongs to the trusted side and never imports torch; ``device`` belongs to the process that runs a
submission and is activated before torch is imported.
"""
