"""Every case of the corpus once: results to be compared with a model, findings that must not be there."""

import torch

from tests.backends.simt.corpus import library
from tests.backends.simt.corpus.every import EXPECTED, FILES
from tests.backends.simt.corpus.expected import values


def cases():
    runs = {name: run for file in FILES for run in [library.load(file)] for name in library.cases(file)}

    def case(name):
        def call(runtime):
            x = torch.from_numpy(values(name, EXPECTED[name].n)).cuda()
            y = torch.full((8192,), float("nan"), device="cuda")
            runs[name](name, x.data_ptr(), y.data_ptr(), x.numel())
            torch.cuda.synchronize()
            runtime.report_leaks()
            return y.view(torch.int32).cpu().tolist()

        return call

    return {name: case(name) for name in runs}
