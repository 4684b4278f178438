"""See how a host function launches its kernel: with a stand-in that notes the launch and writes sevens.

And what the kernel itself does with another block size than the file's, a NaN among its elements.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypedDict

import torch

from grader.domain.digits import apart
from grader.lesson_support import traffic

if TYPE_CHECKING:
    from grader.player.commands import Callback
    from grader.player.stage import Stage

SEVEN = 7.0


class Launched(TypedDict):
    """A launch: what stood in its brackets, the whole numbers by parameter, and whether x was handed over."""

    configuration: list[Any]
    named: dict[str, int]
    elements: bool


class Run(TypedDict):
    """The launches of one call, and whether all that came back was what the kernel wrote."""

    launches: list[Launched]
    sevens: bool


class Itself(TypedDict):
    """What is ``wrong`` with the kernel's own result, or "", and what it loaded and stored if known."""

    wrong: str
    traffic: dict[str, int]


class Seen(TypedDict):
    """All calls, and those of the kernel itself."""

    runs: list[Run]
    itself: list[Itself]


class StandIn:
    """In the place of a kernel of Triton or numba, both of which are launched as ``kernel[...](...)``."""

    def __init__(self, x: torch.Tensor, parameters: list[str]) -> None:
        self._x, self._parameters, self.launches = x, parameters, list[Launched]()

    def __getitem__(self, configuration: Any) -> Any:
        def launch(*args: Any, **named: Any) -> None:
            by_name = dict(zip(self._parameters, args, strict=False)) | named
            given = {k: v for k, v in by_name.items() if isinstance(v, int)}
            grid = configuration(given) if callable(configuration) else configuration
            parts = [grid] if isinstance(grid, int) else list(grid)[:4]
            parts = [list(p) if isinstance(p, (tuple, list)) else p for p in parts]
            tensors = [v for v in (*args, *named.values()) if isinstance(v, torch.Tensor)]
            alike = [t for t in tensors if t.numel() == self._x.numel()]
            elements = any(bool((t.flatten() == self._x).all()) for t in alike)
            self.launches.append({"configuration": parts, "named": given, "elements": elements})
            for value in tensors:
                if value.data_ptr() != self._x.data_ptr():
                    value.fill_(SEVEN)

        return launch


def perform(
    stage: Stage, _callback: Callback, entry: str, kernel: str, runs: list[list[int]], itself: list[list[int]]
) -> Seen:
    """Call ``entry(x, 2.0)`` for each [elements, BLOCK] of ``runs``, with that ``BLOCK`` in the file.

    Those calls launch a stand-in, and those of ``itself`` the kernel.
    """
    names, host = vars(stage.module), stage.entry(entry)
    kept = {kernel: stage.entry(kernel), "BLOCK": names.get("BLOCK")}
    parameters = _parameters(kept[kernel])
    seen: list[Run] = []
    try:
        for n, block in runs:
            x = torch.randn(n, device=stage.device)
            stand_in = StandIn(x, parameters)
            names.update({kernel: stand_in, "BLOCK": block})
            out = host(x, 2.0)
            whole = isinstance(out, torch.Tensor) and tuple(out.shape) == (n,)
            sevens = whole and bool((out.cpu() == SEVEN).all())
            seen.append({"launches": stand_in.launches[:4], "sevens": sevens})
        own = []
        for n, block in itself:
            names.update({kernel: kept[kernel], "BLOCK": block})
            own.append(_itself(host, n, stage.device))
    finally:
        names.update(kept)
    return {"runs": seen, "itself": own}


def _parameters(kernel: Any) -> list[str]:
    """The names of its parameters; Triton and numba keep the function as written, maybe several deep."""
    while not inspect.isfunction(kernel):
        kernel = getattr(kernel, "fn", None) or getattr(kernel, "py_func", None)
        if kernel is None:
            return []
    return list(inspect.signature(kernel).parameters)


def _itself(host: Any, n: int, device: str) -> Itself:
    x = torch.randn(n, device=device)
    x[n // 2] = torch.nan
    torch.full_like(x, SEVEN)  # freed at once: what nobody writes is likely to hold sevens on a GPU
    traffic.taken()
    try:
        out = host(x, 2.0)
    except Exception as error:  # of the kernel's interpreter, for instance: a place out of bounds
        if "CUDA error" in str(error):  # this process is of no more use
            raise
        return {"wrong": f"{type(error).__name__}: {str(error)[:300]}.", "traffic": {}}
    counted = traffic.taken()
    if not isinstance(out, torch.Tensor) or out.shape != x.shape:
        return {"wrong": "The result has another shape.", "traffic": {}}
    own, right = out.double().cpu(), (torch.sigmoid(x.double()) * 2 + x.double()).cpu()
    alike = torch.isclose(own, right, rtol=1e-4, atol=1e-4, equal_nan=True)
    if bool(alike.all()):
        return {"wrong": "", "traffic": counted if counted["stores"] else {}}
    at = int((~alike).nonzero()[0])
    shown, wanted = apart(float(own[at]), float(right[at]))
    return {"wrong": f"element {at} is {shown}, expected {wanted}.", "traffic": {}}
