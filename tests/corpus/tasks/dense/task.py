"""A small lesson 07: the library may multiply matrices, the rest is the work of the file's own kernel."""

from grader.domain.task import Case, Task, Tensor


def _case(name: str, x: Tensor, out: int, points: int, calls: int = 1) -> Case:
    return Case(name, (x,), name + ".", points, init=(x.shape[-1], out), calls=calls)


TASK = Task(
    title="dense",
    entry="ModelNew",
    kind="model",
    reference_entry="Model",
    cases=(
        _case("rows of float4", Tensor((16, 64)), 32, 2),
        _case("odd sizes", Tensor((13, 31)), 17, 2),
        _case("new weights", Tensor((8, 16)), 48, 2, 2),
        _case("large", Tensor((16, 32), scale=1e3), 24, 1),
        _case("nan and inf", Tensor((64, 4), fill="special"), 36, 1),
        _case("long exact sums", Tensor((4, 4096), fill="bits"), 24, 1),
        _case("empty", Tensor((0, 16)), 32, 1),
    ),
    own="elementwise",
    memory_points=2,
)
