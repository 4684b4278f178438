"""A task's rule about who does the work, enforced by watching what ran (``Task.own``).

Observed of a call whose result is right: kernels of the file were launched, and torch's own operators did
no arithmetic of the result's size. On the CPU back end, where device memory is the grader's own, it is a
question about values: each element of the result is what a kernel left there (converted, cropped or reordered
at most), and kernels read only what was given, what kernels wrote, and little else. That holds in whatever
thread the other work was done. Kernels of Triton and numba run in an interpreter there, on the host, where
nothing tells them from other work of the host: a GPU decides about those.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.domain.task import Tensor
from grader.domain.verdict import Finding, Status
from grader.feedback.explain.own_lines import code_of
from grader.protocol import messages
from grader.protocol.operator_kinds import ADDING, COPYING, GEMM, LOOKING, MOVING
from grader.referee import transcript
from grader.referee.fault import FaultError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from grader.domain.task import Case, Task
    from grader.protocol.messages import Launch
    from grader.protocol.play import Ops, Told, Watched
    from grader.referee.process.player_process import Player
    from grader.referee.session import Session

SAMPLES, ENOUGH = 6, 16
PRODUCTS = {"elementwise": GEMM, "fused": GEMM - ADDING}  # what a library may do, by ``Task.own``
WORD = 4  # bytes
COPY = "a copy on the device"  # as the CPU back end calls one by the runtime's API (csrc/origins.cpp)
INTERPRETED = (
    "The result is right. Whose work it is can only be told on a GPU: here kernels of Triton and numba run "
    "in an interpreter, where nothing tells their work from the host's."
)
PART = 8  # less than such a part of the result may come from elsewhere: a table, a scale
TYPES = frozenset(
    (
        "void",
        "float",
        "double",
        "const",
        "int",
        "long",
        "unsigned",
        "char",
        "short",
        "bool",
        "float2",
        "float4",
    )
)
LONGEST = 2000  # characters between a kernel's mark and its name
LIBRARY = ("at::", "at_cuda", "cutlass", "cublas", "cudnn", "gemm", "gemv", "splitk", "Mem", "nvjet")


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """A call as it was observed: whose, what ran in it, the file's text.

    ``turned``: elements of a result lie in another order than that of its dimensions.
    """

    player: Player
    watched: Watched
    launches: Sequence[Launch]
    source: str
    turned: bool = False


def applies(task: Task, case: Case, backend: str) -> bool:
    """Whether this case of the task has work to do that must be the file's own: of nothing there is none."""
    shapes = [one.shape for one in case.args if isinstance(one, Tensor)]
    if shapes and all(0 in shape for shape in shapes):
        return False
    return bool(task.own) and not case.by_torch and backend in ("simt", "cuda") and case.expect == "match"


def not_own(
    task: Task,
    case: Case,
    seen: ObservedCall,
    wanted: list[tuple[int, ...]],
    given: list[tuple[int, ...]],
    rng: np.random.Generator,
) -> Finding | None:
    """None if the file's own kernels did the work of this call; else what was seen instead.

    ``wanted``: the shapes of the results, ``given``: those of inputs and weights.
    """
    sizes = [math.prod(shape) for shape in wanted]
    if not sum(sizes):
        return None
    player, watched = seen.player, seen.watched
    if player.backend == "simt":
        names = [launch.kernel for launch in seen.launches]
    else:  # a GPU's launches are seen only in the call that is watched
        listed = watched.kernels
        code = code_of(seen.source)
        names = ["unseen"] if listed is None else [k for k in listed if is_own(k, seen.source, code)]
    others = {tuple(sorted(s)) for s in given} - {tuple(sorted(s)) for s in wanted}
    few = max(sizes) < ENOUGH  # too small to tell a result from a scalar
    free = (MOVING - COPYING if case.moves else MOVING) | LOOKING | PRODUCTS.get(task.own, frozenset())
    torchs = [] if few else _computed(watched.ops, max(sizes), others, free)
    did = f" The work was done by torch: {', '.join(torchs)}." if torchs else ""
    evidence = {"launched": names[:20], "operators": torchs}
    if torchs and watched.interpreted:  # what kernels there were left that to torch, in whatever language
        return _finding(case, f"The result is right, but the kernel is not what computed it.{did}", evidence)
    found = ""
    if not names:
        found = f"no kernel of the file was launched.{did}"
    elif case.moves and (how := _moved_otherwise(seen)):
        found = f"{how}: to move them is the kernel's work here."
    elif watched.elsewhere is not None:
        # With one inner element, torch.einsum() multiplies instead of calling the library's product.
        free = frozenset({"mul"}) if few and task.own in PRODUCTS else frozenset[str]()
        if elsewhere := _elsewhere(watched, sizes, free, prepared=task.own == "prepared"):
            ran = did or _ran(watched.ops, max(sizes))
            found = f"{elsewhere}.{ran}"
    elif player.backend == "simt" and (place := _unwritten(player, sizes, rng)) is not None:
        found = f"no thread of a kernel wrote element {place} of it.{did}"
    if not found and torchs:
        found = f"the kernel is not what computed it.{did}"
    if not found:
        return None
    if watched.interpreted:
        return _undecided(case, evidence)
    return _finding(case, f"The result is right, but {found}", evidence)


def keep_launches(session: Session, case: Case) -> None:
    """Note which kernels a call of this function launched whose result was right."""
    names = {launch.kernel for launch in session.launches}
    session.kernels.setdefault(case.entry or session.task.entry, set()).update(names)


def only_launched(session: Session, case: Case) -> Finding | None:
    """What there is to say of a call in which no block ran, so that its result could not be compared.

    It must have launched something. A kernel that no smaller call has launched has shown nothing yet: what it
    does is left to a GPU.
    """
    names = {launch.kernel for launch in session.launches}
    evidence = {"launched": sorted(names)[:20]}
    if not names:
        return _finding(case, "No kernel of the file was launched for this many elements.", evidence)
    known = session.kernels.get(case.entry or session.task.entry, set())
    if not known or names <= known:
        return None
    return Finding(
        case.name, Status.PENDING_GPU,
        f"Only here, where there are very many blocks, {min(names - known)} is launched. So many run on a "
        "GPU alone, and no smaller call has shown what it does.",
        0, case.points, evidence,
    )  # fmt: skip


def _undecided(case: Case, evidence: dict[str, Any]) -> Finding:
    """A kernel of Triton or numba ran: what else there is to be seen proves nothing."""
    return Finding(case.name, Status.PENDING_GPU, INTERPRETED, 0, case.points, evidence)


def _moved_otherwise(seen: ObservedCall) -> str:
    """Where elements are to be brought to other places: by what else they were than a kernel."""
    if seen.turned:
        return "its elements lie in another order than its rows, and a view such as .t() moves none"
    copies = sum(told.what == COPY for told in seen.watched.told or ())
    many = f"{copies:,} cop{'y' if copies == 1 else 'ies'}"
    return f"the runtime moved elements, by {many} on the device" if copies else ""


def _elsewhere(watched: Watched, sizes: list[int], free: frozenset[str], *, prepared: bool) -> str:
    """What of a result came from somewhere else than the file's kernels, in words; "" if nothing did.

    What operators of torch that are ``free`` made may be read.
    """
    for size, (count, first) in zip(sizes, watched.foreign, strict=False):
        if count:
            return f"no thread of a kernel computed {count:,} of its {size:,} elements, the first is {first}"
    if len(watched.foreign) != len(sizes):
        return "not all of its tensors were seen"
    if prepared:  # what torch made of the inputs may be read; its operators are looked at by name
        return ""
    found = sorted(((n // WORD, who) for who, n in watched.elsewhere or () if who not in free), reverse=True)
    total = sum(n for n, _ in found)
    most = max(sizes)
    # What the host brings may be a table: that it does not depend on the inputs is asked of the transcript.
    computed = sum(n for n, who in found if who != "the host")
    if total * PART < most or (total < ENOUGH and computed * 2 < most):
        return ""
    who = ", ".join(f"{name}: {n:,}" for n, name in found[:4])
    return f"the kernel read numbers that were computed elsewhere ({who})"


def by_the_host(
    task: Task,
    case: Case,
    one: Sequence[Told],
    other: Sequence[Told],
    largest: int,
    *,
    interpreted: bool = False,
) -> Finding | None:
    """What the host told the device in two calls that differ in values must be the same (``transcript``).

    ``largest``: elements of the largest result. ``interpreted``: kernels of Triton or numba ran in them,
    whose results the host tells it.
    """
    if task.own == "prepared":  # torch may have made it of the inputs
        one, other = ([told for told in each if not told.by_torch] for each in (one, other))
    found = transcript.difference(one, other)
    if found.words <= transcript.allowed(largest):
        return None
    evidence = {"words": found.words, "things": found.things, "first": found.first}
    if interpreted:
        return _undecided(case, evidence)
    message = (
        "The result is right, but part of the work was done on the host: when nothing but the values of the "
        f"inputs had changed, it told the device something else, in {found.words:,} "
        f"word{'s' * (found.words != 1)}. The first that "
        f"differs is {found.first}. What depends on the values has to be computed by kernels."
    )
    return _finding(case, message, evidence)


def is_own(kernel: str, source: str, code: str) -> bool:
    """Whether a launched kernel is the file's: not a library's, and not generated under another name.

    ``code``: the C++ of ``source`` without its comments.
    """
    called = re.match(r"(?:void )?((?:\(anonymous namespace\)::|\w+::)*)(\w*)", kernel)
    scope, name = called.groups() if called else ("", "")
    outermost = scope.split("::")[0]
    ours = not scope or scope[0] == "(" or re.search(rf"\bnamespace\s+{outermost}\b", code)
    if name and ours and re.search(rf"__global__[^;{{}}]{{0,{LONGEST}}}\b{name}\s*\(", code):
        return True  # defined in the file, whatever word its name shares with a library's
    if any(word in kernel for word in LIBRARY):
        return False
    if "##" in code and _pasted(name, code):
        return True
    return any(name in source for name in re.findall(r"[A-Za-z_]\w{2,}", kernel) if name not in TYPES)


def _pasted(name: str, code: str) -> bool:
    """Whether a name can be made of words of the code, one pasted to another."""
    words = {*re.findall(r"\w+", code), "_"}
    made = [True, *(False for _ in name)]
    for end in range(1, len(made)):
        made[end] = any(made[start] and name[start:end] in words for start in range(end))
    return bool(name) and made[-1]


def _finding(case: Case, message: str, evidence: dict[str, Any]) -> Finding:
    return Finding(case.name, Status.NO_KERNEL, message, 0, case.points, evidence)


def _unwritten(player: Player, sizes: list[int], rng: np.random.Generator) -> int | None:
    """The flat index of a sampled element that no thread wrote, or None."""
    for output, size in enumerate(sizes):
        if not size:
            continue
        indices = sorted({0, size - 1, *(int(i) for i in rng.integers(0, size, SAMPLES))})
        try:
            answer = player.ask("owner", player.limits.call, output=output, indices=indices).data
        except FaultError as fault:
            if fault.dead:
                raise
            return indices[0]
        kernels = messages.decode(answer, messages.Ownership).kernels
        if kernels is None or len(kernels) != len(indices):
            return indices[0]
        for index, kernel in zip(indices, kernels, strict=True):
            if not kernel:
                return index
    return None


def _ran(ops: Ops, size: int) -> str:
    """The operators of torch that could have made a result of this size, allowed ones too."""
    names = _computed(ops, size, set(), MOVING | LOOKING)
    return f" Of torch's operators that worked on so many, there ran: {', '.join(names)}." if names else ""


def _computed(ops: Ops, size: int, others: set[tuple[int, ...]], free: frozenset[str]) -> list[str]:
    """Names of torch's operators that worked on as many elements, in all, as the result has, or more.

    ``free`` are not asked about. ``others`` are the shapes of inputs and weights that are not the
    result's: those may be prepared by torch.
    """
    amount: dict[str, int] = {}
    for full_name, shapes in ops:
        name = full_name.removeprefix("aten::")
        if name in free:
            continue
        sizes = [math.prod(s) for s in shapes if s and (tuple(sorted(s)) not in others or name in GEMM)]
        amount[name] = amount.get(name, 0) + max(sizes, default=0)
    return [name for name, count in amount.items() if count >= size][:8]
