"""The grader of Inline to Fused: judges CUDA-in-PyTorch submissions, with a GPU or without one.

Data goes one way: submission -> look -> build -> play -> judge -> verdict -> report.
"""

__version__ = "0.1.0"
