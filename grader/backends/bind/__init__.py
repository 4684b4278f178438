"""Python functions of C++ functions, without pybind11's headers in every build."""
