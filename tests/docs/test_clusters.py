"""The guide's lines for Slurm and Kubernetes, rendered by the libraries that they name, and checked.

They need ``python -m pip install dask-jobqueue dask-kubernetes kubernetes-validate`` and are left out without.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from grader.domain.lessons import course_root

KUBERNETES = "1.33.0"  # the newest that kubernetes-validate is sure to have


def code(tab: str) -> str:
    """The first Python block of a tab of the guide."""
    text = (course_root() / "docs" / "guide" / "teacher.md").read_text("utf-8")
    found = re.search(rf'=== "{tab}"\n(.*?)```python\n(.*?)\n    ```', text, re.S)
    assert found and "===" not in found[1]
    return textwrap.dedent(found[2])


@pytest.mark.slow
def test_the_job_that_slurm_is_given(tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    made = code("Slurm").partition("cluster.scale")[0]
    names: dict[str, Any] = {}
    exec(made, names)
    with contextlib.closing(names["cluster"]) as cluster:
        script = str(cluster.job_script())
        address = cluster.scheduler_address
    path = tmp_path / "job.sh"
    path.write_text(script)
    subprocess.run(["bash", "-n", path], check=True)
    asked = re.findall(r"^#SBATCH (.+)$", script, re.M)
    assert {"--gres=gpu:1", "--cpus-per-task=1", "-t 08:00:00"} <= set(asked)
    (worker,) = (line for line in script.splitlines() if "dask_worker" in line)
    assert worker.startswith("/home/you/course/.venv/bin/python -m ") and address in worker
    assert "--nthreads 1" in worker and "--resources GPU=1" in worker
    assert worker.rindex("--memory-limit 0") > worker.index("--memory-limit")  # the last one counts


def test_the_manifest_for_kubernetes() -> None:
    operator = pytest.importorskip("dask_kubernetes.operator")
    validate = pytest.importorskip("kubernetes_validate")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code("Kubernetes"), {})
    cluster = yaml.safe_load(said.getvalue())
    resource = next(Path(operator.__file__).parent.rglob("crds/daskcluster.yaml"))
    (version,) = yaml.safe_load(resource.read_text())["spec"]["versions"]
    jsonschema.validate(cluster, version["schema"]["openAPIV3Schema"])
    for part in ("worker", "scheduler"):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": part}}
        validate.validate(pod | {"spec": cluster["spec"][part]["spec"]}, KUBERNETES, strict=True)
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "grading-scheduler"}}
    service["spec"] = cluster["spec"]["scheduler"]["service"]
    validate.validate(service, KUBERNETES, strict=True)
    with pytest.raises(validate.ValidationError):
        validate.validate(service | {"spec": {"ports": "8786"}}, KUBERNETES, strict=True)
    (worker,) = cluster["spec"]["worker"]["spec"]["containers"]
    assert worker["args"][:2] == ["dask", "worker"] and "CORE=1" in worker["args"]
