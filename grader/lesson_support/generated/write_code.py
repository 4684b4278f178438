"""Have ``torch.compile`` write its code for a GPU, with a GPU or without one; nothing is compiled or run.

Generation needs the shapes of tensors, not their values, and of the GPU a handful of properties. Without a
GPU the tensors are therefore fake ones, and the properties those of a card of compute capability 9.0. This
leans on torch's internals: it was written for torch 2.13, and a test shows whether it still holds.

``python -m grader.lesson_support.generated.write_code FILE [SEED ...]`` writes {program's name: code} as
JSON: of the recorded programs, or of those that the seeds draw. Needs Triton.
"""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch

from grader.lesson_support.generated.programs import RECORDED, Program, drawn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# An H200, as torch.cuda.get_device_properties describes it.
CARD: dict[str, str | int] = {
    "name": "NVIDIA H200",
    "major": 9,
    "minor": 0,
    "multi_processor_count": 132,
    "warp_size": 32,
    "regs_per_multiprocessor": 65536,
    "max_threads_per_multi_processor": 2048,
    "max_threads_per_block": 1024,
    "shared_memory_per_block_optin": 232448,
    "total_memory": 150_000_000_000,
    "L2_cache_size": 60 << 20,
    "gcnArchName": "",
}


class _Written(Exception):  # noqa: N818 (it ends the compilation, and is no error)
    """The code is there; what torch.compile would do next is not wanted."""


def code(programs: Iterable[Program]) -> dict[str, str]:
    """The generated code of each program, as ``TORCH_LOGS=output_code`` would show it."""
    import torch._inductor.config as config
    from torch._inductor.graph import GraphLowering
    from torch._subclasses.fake_tensor import FakeTensorMode

    seen: list[str] = []

    def stop(graph: Any) -> None:
        text = graph.codegen()[0]
        seen.append(str(getattr(text, "value", text)))
        raise _Written

    written = {}
    with contextlib.ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        stack.enter_context(mock.patch.object(GraphLowering, "compile_to_module", stop))
        stack.enter_context(config.patch(fx_graph_cache=False, compile_threads=1))
        if "+cpu" in torch.__version__ or not torch.cuda.is_available():  # simt has no card to ask about
            stack.enter_context(_card())
        for program in programs:
            torch._dynamo.reset()
            seen.clear()
            with FakeTensorMode(), contextlib.suppress(Exception):
                tensors = [torch.empty(shape, device="cuda") for shape in program.shapes]
                torch.compile(program.run)(*tensors)
            if not seen:
                raise RuntimeError(f"torch {torch.__version__} wrote no code for {program.name!r}")
            written[program.name] = _tidy(seen[0])
    return written


@contextlib.contextmanager
def _card() -> Iterator[None]:
    """Answer torch's questions about a GPU with :data:`CARD`'s properties."""
    from torch._inductor.runtime import hints

    card = SimpleNamespace(**CARD)
    properties = hints.DeviceProperties(
        type="cuda",
        index=0,
        multi_processor_count=card.multi_processor_count,
        cc=90,
        major=card.major,
        regs_per_multiprocessor=card.regs_per_multiprocessor,
        max_threads_per_multi_processor=card.max_threads_per_multi_processor,
        max_threads_per_block=card.max_threads_per_block,
        warp_size=card.warp_size,
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(mock.patch.object(hints.DeviceProperties, "create", return_value=properties))
        for name, answer in _answers(card).items():
            stack.enter_context(mock.patch(name, answer))
        yield


def _answers(card: SimpleNamespace) -> dict[str, object]:
    """What torch is to find, by name."""
    return {
        "torch.version.cuda": "13.0",
        "torch.cuda.is_available": lambda: True,
        "torch.cuda.device_count": lambda: 1,
        "torch.cuda.current_device": lambda: 0,
        "torch.cuda.get_device_properties": lambda *_, **__: card,
        "torch.cuda.get_device_capability": lambda *_, **__: (card.major, card.minor),
        "torch.cuda.get_rng_state": lambda *_, **__: torch.get_rng_state(),
        "torch.cuda.set_rng_state": lambda *_, **__: None,
        "torch.cuda.synchronize": lambda *_, **__: None,
        "torch.cuda._lazy_init": lambda: None,
        "torch.cuda._exchange_device": lambda _: 0,
        "torch.cuda._maybe_exchange_device": lambda _: 0,
        "torch.utils._triton.triton_hash_with_backend": lambda: "",
        "torch.utils._triton.triton_backend": lambda: None,
        "torch._inductor.scheduler.has_triton": lambda: True,
        # Patterns of attention and padded products are made from real tensors on the device.
        "torch._inductor.fx_passes.joint_graph.lazy_init": lambda *_, **__: None,
        "torch._inductor.fx_passes.post_grad.lazy_init": lambda *_, **__: None,
    }


def _tidy(text: str) -> str:
    """Without what differs from one machine to the next: paths of a cache."""
    lines = [line for line in text.splitlines() if not line.startswith("# kernel path:")]
    return "\n".join(line.rstrip() for line in lines).strip() + "\n"


def main(arguments: list[str]) -> None:
    """See the module's docstring."""
    target, *seeds = arguments
    programs = [drawn(int(seed)) for seed in seeds] or RECORDED
    Path(target).write_text(json.dumps(code(programs), indent=1), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
