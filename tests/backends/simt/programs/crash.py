"""Host code that dies."""

import sys

from torch.utils.cpp_extension import load_inline

CPP = r"""
void die(std::string how) {
    if (how == "abort") std::abort();
    volatile int* p = nullptr;
    *p = 1;  // segfault
}
"""

load_inline("simt_crash", CPP, functions="die").die(sys.argv[1])
