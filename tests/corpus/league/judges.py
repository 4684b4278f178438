"""Judges that run a file, as their own instructions say; called in a process of the file's own.

Each returns "right", or what it says is wrong. Their sources are imported from a checkout; the modules that
are given in place of missing ones are clients of language models, which no judge calls.
"""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.corpus.league.contained import NoAnswerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.corpus.league.pairs import Pair

RIGHT = "right"
TRIALS = 5  # KernelBench's and robust-kbench's own number
TIMED = 100  # KernelBench's


@dataclass(frozen=True, slots=True)
class Judge:
    """``run`` gets a pair, the folder with its files and the judge's checkout.

    ``functions``: it takes no models. ``gpu``: it needs one. ``settings``: those of its own
    instructions, and where it is run otherwise.
    """

    title: str
    settings: str
    run: Callable[[Pair, Path, Path], str]
    gpu: bool = True
    functions: bool = False


def build(pair: Pair, folder: Path, source: Path) -> str:
    """Import the file, which builds its extension in the folder where each judge will find it."""
    _module(folder)
    return RIGHT


def kernelbench_text(source: Path, pair: Pair) -> str:
    """Its look at the text alone."""
    _clients(source / "src")
    with _its_own():
        from kernelbench.kernel_static_checker import (  # type: ignore[import-not-found]
            validate_kernel_static,
        )

    valid, errors, _ = validate_kernel_static(pair.submission, backend=_backend(pair), precision="fp32")
    return RIGHT if valid else "text: " + "; ".join(sorted(errors))


def kernelbench_run(pair: Pair, folder: Path, source: Path) -> str:
    """What its ``scripts/run_and_check.py`` does with a local pair after the look at the text."""
    _clients(source / "src")
    import torch

    with _its_own():
        from kernelbench.eval import eval_kernel_against_ref  # type: ignore[import-not-found]

    for _ in range(2):  # None stands for a lock of PyTorch's builder, and "please retry"
        found = eval_kernel_against_ref(
            original_model_src=pair.reference, custom_model_src=pair.submission, measure_performance=True,
            timing_method="cuda_event", num_correct_trials=TRIALS, num_perf_trials=TIMED,
            build_dir=str(folder / "build"), device=torch.device("cuda:0"), backend=_backend(pair),
            precision=torch.float32,
        )  # fmt: skip
        if found is not None:
            break
    else:
        return "no answer: a lock"
    if not found.correctness:
        said = {k: v for k, v in found.metadata.items() if k not in ("hardware", "device")}
        return f"{'wrong' if found.compiled else 'does not compile'}: {said}"[:200]
    return "excessive speedup" if found.metadata.get("excessive_speedup") else RIGHT


def robust_kbench(tolerance: float) -> Callable[[Pair, Path, Path], str]:
    """What ``primitives/forward/cuda_correct.py`` does with a .cu file's function, with the pair's."""

    def run(pair: Pair, folder: Path, source: Path) -> str:
        sys.path.insert(0, str(source))
        import torch

        with _its_own():
            from robust_kbench.kernel_task import KernelTask  # type: ignore[import-not-found]
            from robust_kbench.sandbox.correct_forward_fn import (  # type: ignore[import-not-found]
                check_forward_correctness,
            )

            task = KernelTask(str(folder / "task"), multi_input_settings=True, multi_init_settings=True)
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        function = getattr(_module(folder), pair.call)
        for inputs, init in zip(task.get_input_settings(), task.get_init_settings(), strict=True):
            with torch.no_grad():
                found = check_forward_correctness(
                    task.model, task.forward_fn, function, task.get_inputs, inputs, init, TRIALS,
                    rtol=tolerance, atol=tolerance,
                )  # fmt: skip
            if not found.correct:
                return f"wrong: {found.to_dict()}"
        return RIGHT

    return run


def backendbench(pair: Pair, folder: Path, source: Path) -> str:
    """Its ``eval_one_op`` with the pair's inputs as tests; a model's weights are drawn as the reference's."""
    _clients(source)
    import torch

    with _its_own():
        from BackendBench.eval import eval_one_op  # type: ignore[import-not-found]

    device = "cuda" if torch.cuda.is_available() else "cpu"
    with _its_own():
        reference = _module(folder, "reference")

    def made(name: str, module: ModuleType) -> Any:
        torch.manual_seed(0)
        return getattr(module, name)(*reference.get_init_inputs()).to(device)

    model = made("Model", reference)

    def operator(*inputs: torch.Tensor) -> Any:
        with torch.no_grad():
            return model(*inputs)

    if pair.forward:
        submitted = getattr(_module(folder), pair.call)
    else:
        new = made(pair.call, _module(folder))

        def submitted(*inputs: torch.Tensor) -> Any:
            with torch.no_grad():
                return new(*inputs)

    def draw(case: int) -> list[Any]:
        return [x.to(device) for x in reference.get_inputs(case)]

    tests = [_Drawn(partial(draw, case)) for case in range(pair.cases)]
    correct, _, results, times = eval_one_op(operator, submitted, tests, tests[:1])
    if correct < 1:
        wrong = next(one for one in results if not one.is_correct)
        return f"wrong: {wrong.error_type} {wrong.max_abs_error} {wrong.error_msg}"[:200]
    failed = [one.error_msg for one in times if not one.successfully_ran]
    return f"wrong when timed: {failed[0]}"[:200] if failed else RIGHT


@dataclass(frozen=True, slots=True)
class _Drawn:
    """What BackendBench calls a test: its inputs are drawn each time that they are asked for."""

    draw: Callable[[], list[Any]]

    @property
    def args(self) -> list[Any]:
        return self.draw()

    @property
    def kwargs(self) -> dict[str, Any]:
        return {}


def ours(pair: Pair, folder: Path, source: Path) -> str:
    """This project's ``check`` of a pair, with what the task asks of the file's own kernels."""
    from grader import api
    from grader.backends.detect import gpu_name

    raced = bool(gpu_name()) and pair.entry.task == "timed"
    verdict = api.check(folder / "reference.py", folder / "submission.py", own=pair.own, time=raced)  # type: ignore[arg-type]
    return RIGHT if verdict.points == verdict.max_points else str(verdict.status)


JUDGES = {
    "kernelbench_run": Judge(
        "KernelBench, `run_and_check.py` without its static check",
        "`check_kernel=False`, 5 trials, 100 timed calls by `cuda_event`, fp32, excessive speedup from 10 on",
        kernelbench_run,
    ),
    "robust": Judge(
        "robust-kbench, tolerance 1e-5",
        "README's `ParallelKernelExecutor`: 5 trials, all input settings; a Python function, not a .cu",
        robust_kbench(1e-5),
        functions=True,
    ),
    "robust_loose": Judge(
        "robust-kbench, tolerance 1e-3", "`run_kernel.py`'s tolerance, else as above", robust_kbench(1e-3),
        functions=True,
    ),
    "backendbench": Judge(
        "BackendBench, `eval_one_op`", "correctness and performance tests, tolerance 1e-2 as it has it",
        backendbench, gpu=False,
    ),
    "ours": Judge("This grader, `course check --reference`", "`--own` as the task has it", ours, gpu=False),
}  # fmt: skip


@contextmanager
def _its_own() -> Iterator[None]:
    """What fails here is not the file's fault."""
    try:
        yield
    except Exception as error:
        raise NoAnswerError(f"{type(error).__name__}: {error}") from error


def _backend(pair: Pair) -> str:
    return "triton" if pair.triton else "cuda"


def _module(folder: Path, name: str = "submission") -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _clients(source: Path) -> None:
    """Put the checkout first, and an empty module for each client of a model that is not installed."""
    sys.path.insert(0, str(source))
    for name, words in {"openai": ("OpenAI",), "litellm": ("completion",), "anthropic": ()}.items():
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            module = ModuleType(name)
            vars(module).update(vars(SimpleNamespace(**dict.fromkeys(words, _never))))
            sys.modules[name] = module


def _never(*_arguments: object, **_named: object) -> None:
    raise RuntimeError("a judge has called a language model")
