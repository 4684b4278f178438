"""Every case of the corpus once: results to be compared with a model, findings that must not be there."""

import torch

from tests.backends.simt.corpus import courses, cub, features, graphs, libraries, library, thrust
from tests.backends.simt.corpus.expected import HONEST, values

FILES = (
    "threads", "memory", "arithmetic", "small_floats", "groups", "host", "honest_reduce", "honest_dense",
    "libraries", "cub", "thrust", "graphs", "courses", "courses_more",
)  # fmt: skip
TABLES = (
    HONEST,
    features.FEATURES,
    libraries.LIBRARIES,
    cub.CUB,
    thrust.THRUST,
    graphs.GRAPHS,
    courses.COURSES,
)
SIZES = {name: e.n for table in TABLES for name, e in table.items()}


def cases():
    runs = {name: run for file in FILES for run in [library.load(file)] for name in library.cases(file)}

    def case(name):
        def call(runtime):
            x = torch.from_numpy(values(name, SIZES.get(name, 64))).cuda()
            y = torch.full((8192,), float("nan"), device="cuda")
            runs[name](name, x.data_ptr(), y.data_ptr(), x.numel())
            torch.cuda.synchronize()
            runtime.report_leaks()
            return y.view(torch.int32).cpu().tolist()

        return call

    return {name: case(name) for name in runs}
