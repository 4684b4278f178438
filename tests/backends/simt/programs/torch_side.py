"""What PyTorch offers around kernels on the CPU back end: profiler, autocast, operators, asynchrony."""

import json
import tempfile
from pathlib import Path

import torch
from torch.utils.cpp_extension import load_inline

from tests.backends.simt.programs.features import CPP, FUNCTIONS

close = torch.testing.assert_close
GPU_WORDS = "needs a machine with an NVIDIA GPU"


def cases():
    cuda = Path(__file__).with_name("features.cu").read_text()  # the same text as features.py: compiled once
    m = load_inline(
        "simt_features", [CPP], [cuda], functions=FUNCTIONS, extra_cuda_cflags=["--use_fast_math", "-O3"]
    )
    return {
        name[5:]: lambda runtime, f=f: f(m, runtime)
        for name, f in globals().items()
        if name.startswith("case_")
    }


def case_profiler(m, runtime):
    x = torch.randn(4096, device="cuda")
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        m.scale4(x, 3.0)
        m.scale4(x, 2.0)
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    return {
        "kernels": {e.key: e.count for e in profile.key_averages() if "kernel" in e.key},
        "in the trace": sum(e.get("name") == "scale4_kernel" and e.get("ph") == "X" for e in events),
    }


def case_autocast(m, runtime):
    x, layer = torch.randn(64, 64, device="cuda"), torch.nn.Linear(64, 64).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        y = layer(x)
        z = m.halves(y.flatten())  # a kernel of ours gets what autocast made
    assert (y.dtype, z.dtype) == (torch.bfloat16, torch.bfloat16)
    close(y.float(), layer(x), rtol=3e-2, atol=3e-2)
    with torch.autocast("cuda", dtype=torch.float16):
        assert (x @ x).dtype == torch.float16 and torch.is_autocast_enabled("cuda")
    assert not torch.is_autocast_enabled("cuda")


def case_custom_operator(m, runtime):
    @torch.library.custom_op("simt_tests::scale4", mutates_args=(), device_types="cuda")
    def scale4(x: torch.Tensor, a: float) -> torch.Tensor:
        return m.scale4(x, a)

    scale4.register_fake(lambda x, a: torch.empty_like(x))
    scale4.register_autograd(
        lambda ctx, g: (scale4(g.contiguous(), ctx.a), None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "a", inputs[1]),
    )
    x = torch.randn(256, device="cuda", requires_grad=True)
    torch.library.opcheck(scale4, (x.detach(), 3.0))
    (g,) = torch.autograd.grad(scale4(x, 3.0).sum(), x)
    close(g, torch.full_like(g, 3.0))


def case_a_launch_waits_in_the_queue(m, runtime):
    x = torch.randn(1 << 18, device="cuda")
    torch.cuda.synchronize()
    idle = [runtime._library.simt_is_idle()]
    y = m.scale4(x, 3.0)
    idle.append(runtime._library.simt_is_idle())
    torch.cuda.synchronize()
    idle.append(runtime._library.simt_is_idle())
    close(y, 3 * x)
    return {"idle": idle}


def case_a_stream_waits_for_its_work(m, runtime):
    stream, done = torch.cuda.Stream(), torch.cuda.Event()
    with torch.cuda.stream(stream):
        m.scale4(torch.randn(4096, device="cuda"), 3.0)
        done.record()
    return {"queried": [done.query(), stream.query()]}


def case_graphs_are_refused(m, runtime):
    words = []
    for attempt in (
        torch.cuda.CUDAGraph,
        lambda: torch.cuda.graph(None),
        lambda: torch.cuda.make_graphed_callables(lambda x: x, ()),
    ):
        try:
            attempt()
        except NotImplementedError as error:
            words.append(str(error))
    assert len(words) == 3 and all(GPU_WORDS in word for word in words), words
    assert not torch.cuda.is_current_stream_capturing()


def case_memory_statistics(m, runtime):
    before = torch.cuda.memory_allocated()
    x = torch.empty(1 << 20, device="cuda")
    assert torch.cuda.memory_allocated() - before == x.nbytes
    del x
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.max_memory_allocated() >= before + (4 << 20)
