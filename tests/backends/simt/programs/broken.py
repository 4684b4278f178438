"""Every broken case of the corpus, and its look-alike that is right."""

import torch

from tests.backends.simt.corpus import library
from tests.backends.simt.corpus.expected import values

N = 1024


def cases():
    run = library.load("broken")

    def case(name):
        def call(runtime):
            x = torch.from_numpy(values(name, N)).cuda()
            y = torch.empty(N, device="cuda")
            run(name, x.data_ptr(), y.data_ptr(), N)
            runtime.report_leaks()

        return call

    return {name: case(name) for name in library.cases("broken")}
