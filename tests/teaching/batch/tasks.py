"""Tasks for the engine's tests: importable by its workers, and as naughty as a real grading can be."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path


def play(text: str) -> str:
    """Do what the order's ``source`` says, and note in the file named by ``hidden`` that it was begun."""
    order = json.loads(text)
    log = Path(order["hidden"])
    with log.open("a") as file:
        file.write(f"{order['key']}\n")
    begun = log.read_text().split().count(order["key"])
    if order["source"] == "die" or (order["source"] == "die once" and begun == 1):
        os._exit(9)
    if order["source"] == "short":
        with log.with_name("running").open("a") as file:
            file.write(f"{os.getpid()}\n")
        time.sleep(0.3)
    if order["source"] == "fail" or (order["source"] == "fail once" and begun == 1):
        return json.dumps({"worker": "w", "error": "no compiler"})
    if order["source"] == "raise":
        raise RuntimeError("this never happens")
    return json.dumps({"worker": "w", "done": order["key"]})
