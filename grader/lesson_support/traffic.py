"""What interpreted kernels load and store, counted by elements: a GPU's compilers do not tell."""

from __future__ import annotations

import threading
from collections import Counter

# "loads" and "stores" of all programs or threads, and the stores of each thread of numba's by its own name.
COUNTED: Counter[str] = Counter()


def note(what: str, elements: int = 1) -> None:
    """So many elements were loaded or stored by the running program or thread."""
    COUNTED[what] += elements


def note_of_thread() -> None:
    """The running thread has stored an element."""
    COUNTED["stores"] += 1
    COUNTED[f"stores of {threading.get_ident()} {threading.current_thread().name}"] += 1


def taken() -> dict[str, int]:
    """Loads and stores since the last time, and ``most``: the stores of the thread that made most."""
    most = max((n for name, n in COUNTED.items() if name.startswith("stores of ")), default=0)
    found = {"loads": COUNTED["loads"], "stores": COUNTED["stores"], "most": most}
    COUNTED.clear()
    return found
