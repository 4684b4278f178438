"""Where gradings run: processes of this machine, or a Dask cluster that somebody else has started."""

from __future__ import annotations

import ctypes
import os
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from grader.backends import detect
from grader.domain.errors import BadInputError
from grader.referee.process import pool_client
from grader.referee.sandbox.watcher import memory_bytes, memory_limit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from distributed import Client

CORE, GPU = "CORE", "GPU"
PATIENCE_S = 5  # for a scheduler to answer
WORKERS_COME_S = 120  # a queue of a cluster takes its time
MOST_ON_A_GPU = 4  # gradings at a time
CORES_EACH, BYTES_EACH = 4, 8 << 30  # that each of them needs; as many bytes of the GPU
MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR


@dataclass(frozen=True, slots=True)
class Machines:
    """A cluster as the engine needs it.

    ``slots``: gradings at a time, and ``builders``: builds beside them, when it was started. ``grading`` and
    ``building``: what a task of that kind holds while it runs; workers that name nothing hold nothing.
    ``device`` as part of every key; ``arch`` its compute capability. ``dashboard``: Dask's page, or "".
    """

    client: Client
    slots: int
    builders: int
    grading: dict[str, float]
    building: dict[str, float]
    device: str
    arch: str
    memory: int
    dashboard: str


class WorkerOptions(TypedDict):
    """What Dask's ``Nanny`` is given; ``resources``: what a grading or a build may hold."""

    nthreads: int
    memory_limit: int
    resources: dict[str, float]
    env: dict[str, str]
    dashboard: bool


class WorkerSpec(TypedDict):
    """A worker, as Dask's ``SpecCluster`` wants it."""

    cls: type
    options: WorkerOptions


@contextmanager
def local(backend: str, workers: int) -> Iterator[Machines]:
    """A cluster of processes on this machine, each with one grading at a time; a GPU has several of them.

    Most of a grading is no work of the GPU's, and :mod:`grader.referee.gpu_turns` keeps a race alone.
    """
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")  # for the workers, too
    from distributed import Client, Nanny, Scheduler, SpecCluster

    cores = len(os.sched_getaffinity(0))
    gpus = gpu_numbers() if backend == "cuda" else []
    if backend == "cuda" and workers:
        gpus = gpus[:workers]
    specs: dict[str, WorkerSpec] = {}
    for gpu in gpus:
        env = {"CUDA_VISIBLE_DEVICES": gpu} | lent_players()
        specs |= {
            f"grader-{gpu}-{k}": _spec(Nanny, {GPU: 1.0}, env)
            for k in range(at_once(cores // len(gpus), detect.gpu_bytes(), memory_bytes() // len(gpus)))
        }
    for k in range(0 if backend == "cuda" else workers or cores):
        specs[f"grader-{k}"] = _spec(Nanny, {CORE: 1.0}, {})
    for k in range(max(1, cores - len(specs)) if gpus else 0):
        specs[f"builder-{k}"] = _spec(Nanny, {CORE: 1.0}, {})
    with _quiet():
        cluster = SpecCluster(
            workers=specs, silence_logs=50, scheduler={
                "cls": Scheduler,
                "options": {"host": "127.0.0.1", "port": 0, "dashboard": True, "dashboard_address": ":0"},
            },
        )  # fmt: skip
    try:
        with Client(cluster, set_as_default=False) as client:
            client.wait_for_workers(len(specs), timeout=120)
            yield _machines(client, backend)
    finally:
        with _quiet():
            cluster.close(timeout=30)


def at_once(cores: int, gpu_bytes: int, memory_bytes: int) -> int:
    """How many files are judged on a GPU at a time, by what there is for each GPU."""
    room = min(cores // CORES_EACH, gpu_bytes // BYTES_EACH, memory_bytes // BYTES_EACH)
    return max(1, min(MOST_ON_A_GPU, room))


def lent_players() -> dict[str, str]:
    """For workers on one GPU: the players that wait there, which end with this process."""
    if not pool_client.pays("cuda"):
        return {}
    pools = pool_client.new()
    pools.start(pools.place)
    return {pool_client.LENT: str(pools.place)}


def _spec(nanny: type, held: dict[str, float], env: dict[str, str]) -> WorkerSpec:
    # A worker keeps no data, so Dask need not watch its memory; a player's is watched by the referee.
    options: WorkerOptions = {
        "nthreads": 1,
        "memory_limit": 0,
        "resources": held,
        "env": env,
        "dashboard": False,
    }
    return {"cls": nanny, "options": options}


@contextmanager
def remote(address: str, backend: str) -> Iterator[Machines]:
    """A cluster that runs already; BadInputError if it does not answer, or has nobody for this back end."""
    from distributed import Client

    try:
        client = Client(address, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise BadInputError(f"There is no Dask scheduler at {address}: {error}") from error
    with client:
        try:
            client.wait_for_workers(1, timeout=WORKERS_COME_S)
        except TimeoutError as error:
            raise BadInputError(
                f"The scheduler at {address} has no workers; start some in the course's checkout: "
                f"dask worker {address} --nthreads 1 --memory-limit 0 --resources CORE=1"
            ) from error
        if backend == "cuda" and not offered(client, GPU):
            raise BadInputError(
                f"No worker at {address} offers a GPU; start one for each GPU with --resources GPU=1."
            )
        yield _machines(client, backend)


def offered(client: Client, what: str) -> int:
    """How many of a resource the workers offer together; threads for "" (workers that name nothing)."""
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    if not what:
        return sum(int(w["nthreads"]) for w in workers)
    return sum(int(w.get("resources", {}).get(what, 0)) for w in workers)


def _machines(client: Client, backend: str) -> Machines:
    """Ask the workers what they are. Which task is tried again after a death is the engine's business."""
    client.run_on_scheduler(_no_second_try)
    device, arch, kind = "cpu", "", CORE if offered(client, CORE) else ""
    if backend == "cuda":
        found = {text for text in client.run(gpu_facts).values() if text}
        if not found:
            raise BadInputError("No worker can see a GPU.")
        device = ", ".join(sorted({text.partition("|")[0] for text in found}))
        arch, kind = ";".join(sorted({text.partition("|")[2] for text in found})), GPU
    slots = offered(client, kind)
    builders = offered(client, CORE) if backend == "cuda" else 0
    dashboard = str(client.dashboard_link) if _has_bokeh() else ""
    return Machines(
        client, slots, builders, {kind: 1.0} if kind else {}, {CORE: 1.0}, device, arch,
        memory_limit() // max(1, slots) if backend == "simt" else 0, dashboard,
    )  # fmt: skip


def _no_second_try(dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = 0


def _has_bokeh() -> bool:
    import importlib.util

    return importlib.util.find_spec("bokeh") is not None


def gpu_numbers() -> list[str]:
    """The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them: by UUID where that is known."""
    driver = _driver()
    count = ctypes.c_int()
    if driver is None or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []
    given = [x for x in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if x.strip()]
    names = given[: count.value] or [str(k) for k in range(count.value)]
    known = detect.gpu_minors()
    return [name if (u := _uuid(driver, k)) not in known else u for k, name in enumerate(names)]


def _uuid(driver: Any, number: int) -> str:
    device, found = ctypes.c_int(), (ctypes.c_ubyte * 16)()
    if driver.cuDeviceGet(ctypes.byref(device), number) or driver.cuDeviceGetUuid(found, device):
        return ""
    return f"GPU-{uuid.UUID(bytes=bytes(found))}"


def gpu_facts() -> str:
    """On a worker: "name|compute capability" of its first GPU, or "" without one. Makes no context."""
    driver, device = _driver(), ctypes.c_int()
    if driver is None or driver.cuDeviceGet(ctypes.byref(device), 0):
        return ""
    name, parts = ctypes.create_string_buffer(128), []
    driver.cuDeviceGetName(name, 128, device)
    for attribute in (MAJOR, MINOR):
        value = ctypes.c_int()
        driver.cuDeviceGetAttribute(ctypes.byref(value), attribute, device)
        parts.append(str(value.value))
    return f"{name.value.decode(errors='replace')}|{'.'.join(parts)}"


def _driver() -> Any:
    for library in ("libcuda.so.1", "libcuda.so"):
        try:
            driver = ctypes.CDLL(library)
        except OSError:
            continue
        if driver.cuInit(0) == 0:
            return driver
    return None


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask warns of what is as we want it: ports that are taken, workers that end."""
    import logging
    import warnings

    for name in ("distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
