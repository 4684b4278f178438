"""What torch's own operators of a call move and compute: counted, since there may be no GPU's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

if TYPE_CHECKING:
    from grader.protocol.play import Work

MAKERS = ("empty", "detach", "lift_fresh", "_to_copy", "alias", "set_")


class Weigher(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Within it every operator is noted: calls, bytes of its tensors, floating-point operations of products.

    ``random``: those that may have drawn random numbers. An operator that only makes a view moves nothing.
    ``elements``: how many numbers all but products have made, each taken for one operation.
    """

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: torch loads its compiler to do so, a second or more in the first call."""
        return False

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ops: dict[str, tuple[int, int, int]] = {}
        self.random: set[str] = set()
        self.elements = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if torch.Tag.nondeterministic_seeded in func.tags:
            self.random.add(name)
        if func.is_view or name.startswith(MAKERS):
            return result
        tensors = {id(t): t for t in tree_leaves((args, kwargs, result)) if isinstance(t, torch.Tensor)}
        if not any(isinstance(t, torch.Tensor) for t in tree_leaves(result)):
            return result
        calls, moved, operations = self.ops.get(name, (0, 0, 0))
        moved += sum(t.numel() * t.element_size() for t in tensors.values())
        if func.overloadpacket not in flop_registry:
            self.elements += sum(t.numel() for t in tree_leaves(result) if isinstance(t, torch.Tensor))
        else:
            operations += int(flop_registry[func.overloadpacket](*args, **(kwargs or {}), out_val=result))
        self.ops[name] = calls + 1, moved, operations
        return result

    def work(self) -> Work:
        """(name, calls, bytes, operations) of each, in order of first use."""
        return tuple((name[:500], *numbers) for name, numbers in list(self.ops.items())[:500])
