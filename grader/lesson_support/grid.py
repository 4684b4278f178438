"""A grid of threads in plain Python: runs a kernel once for every thread and shows who touches what.

For lesson 02. The threads run one after another, in any order you like; the lists that a kernel gets note
each read and write, and refuse an index that is not theirs, which a GPU would not do.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Who = tuple[int, ...]
Number = float | int


class AccessError(IndexError):
    """A thread touched what is not there, or not yet there."""


def not_an_index(name: str, index: object) -> str:
    """What is said where an element of a kernel's array is asked for by something else than its number."""
    if isinstance(index, slice):
        return f"{name}[...:...] is a slice, and a thread touches one element of {name} at a time"
    kind = {
        "float": "a float",
        "str": "a text",
        "bool": "a bool",
        "tuple": "several numbers",
        "NoneType": "None",
    }
    given = kind.get(type(index).__name__, f"a {type(index).__name__}")
    return (
        f"a thread touches one element of {name} at a time, by a whole number, and here the index is {given}"
    )


@dataclass(frozen=True, slots=True)
class Access:
    """One read or write: which thread (block and thread, or one index), which element, and what was wrong.

    ``line``: of the kernel's file, 0 where it is not known.
    """

    who: Who
    kind: str
    array: str
    index: int
    fault: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.array}[{self.index}]{'!' if self.fault else ''}"


class Array:
    """A list of numbers as a kernel sees it. None stands for memory that nobody has written yet."""

    def __init__(self, name: str, values: list[Number | None], grid: Grid) -> None:
        self.name = name
        self.values = values
        self._grid = grid

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Number:
        value = self._at("read", index)
        if value is None:
            self._refuse("read", index, f"nobody has written {self.name}[{index}] yet")
        self._grid.note("read", self.name, index)
        assert value is not None
        return value

    def __setitem__(self, index: int, value: Number) -> None:
        self._at("write", index)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{self.name}[{index}] holds one number, not a {type(value).__name__}")
        self._grid.note("write", self.name, index)
        self.values[index] = value

    def _at(self, kind: str, index: int) -> Number | None:
        if isinstance(index, bool) or not isinstance(index, int):
            raise TypeError(not_an_index(self.name, index))
        if not 0 <= index < len(self.values):
            count = len(self.values)
            has = f"{count} elements, 0 to {count - 1}" if count != 1 else "1 element, number 0"
            self._refuse(kind, index, f"{self.name} has {has}")
        return self.values[index]

    def _refuse(self, kind: str, index: int, fault: str) -> None:
        self._grid.note(kind, self.name, index, fault)
        raise AccessError(f"{kind} of {self.name}[{index}]: {fault}")


@dataclass(slots=True)
class Grid:
    """What the threads of one launch did. ``who`` is the thread that runs now, ``line`` where it is."""

    who: Who = ()
    line: int = 0
    accesses: list[Access] = field(default_factory=list)
    threads: list[Who] = field(default_factory=list)

    def note(self, kind: str, array: str, index: int, fault: str = "") -> None:
        """Keep an access of the running thread."""
        self.accesses.append(Access(self.who, kind, array, index, fault, self.line))

    def begin(self, who: Who) -> None:
        """The thread ``who`` runs from now on."""
        self.who = who
        self.threads.append(who)

    @property
    def faults(self) -> list[Access]:
        """Accesses that were refused."""
        return [a for a in self.accesses if a.fault]

    def shared(self) -> list[tuple[Access, Access]]:
        """Pairs of accesses to one element by two threads, of which one is a write: a race on a GPU."""
        writers: dict[tuple[str, int], Access] = {}
        for access in self.accesses:
            if access.kind == "write":
                writers.setdefault((access.array, access.index), access)
        pairs = [(writers.get((a.array, a.index)), a) for a in self.accesses]
        return [(first, a) for first, a in pairs if first is not None and first.who != a.who]

    def __str__(self) -> str:
        head = "block thread" if any(len(w) == 2 for w in self.threads) else "thread"
        lines = [f"{head}  reads                 writes"]
        for who in sorted(self.threads):
            mine = [a for a in self.accesses if a.who == who]
            reads = " ".join(str(a) for a in mine if a.kind == "read") or "-"
            writes = " ".join(str(a) for a in mine if a.kind == "write") or "-"
            place = f"{who[0]:5d} {who[1]:6d}" if len(who) == 2 else f"{who[0]:6d}"
            why = next((f"   {a.fault}" for a in mine if a.fault), "")
            lines.append(f"{place}  {reads:20s}  {writes}{why}")
        return "\n".join(lines)


def each(kernel: Callable[..., None], n: int, *args: object) -> Grid:
    """Run ``kernel(i, *args)`` for every i below ``n``; lists among ``args`` are changed in place."""
    return run(kernel, ((i,) for i in range(n)), args)


def launch(kernel: Callable[..., None], blocks: int, threads: int, *args: object) -> Grid:
    """Run ``kernel(block, thread, *args)`` for every thread of every block; lists are changed in place."""
    return run(kernel, ((b, t) for b in range(blocks) for t in range(threads)), args)


def run(kernel: Callable[..., None], order: Iterable[Who], args: tuple[object, ...]) -> Grid:
    """Run ``kernel`` for the threads in ``order`` and return what they did; print it to see the table."""
    grid = Grid()
    order = list(order)
    places = len(order[0]) if order else 0
    names = list(inspect.signature(kernel).parameters)[places:]
    wrapped = [
        Array(names[k] if k < len(names) else f"argument {k}", a, grid) if isinstance(a, list) else a
        for k, a in enumerate(args)
    ]
    for who in order:
        grid.begin(who)
        try:
            kernel(*who, *wrapped)
        except AccessError:
            continue  # it is in the table; the other threads go on, as they would on a GPU
    return grid
