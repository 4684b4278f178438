"""Reference solutions against their baselines: timed on a GPU, predicted without one (``course bench``)."""
