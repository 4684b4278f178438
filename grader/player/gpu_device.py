"""A GPU as the player sees it: how ``load_inline`` builds, the profiler for launches, events for times."""

from __future__ import annotations

import inspect
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.utils.cpp_extension as extension

from grader.backends.extension import load_inline, tvm_inline
from grader.player import observe
from grader.player.build_lock import Baton
from grader.protocol.messages import BuildReply, Facts, Ownership, decode, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.backends.extension.request import BuildRequest
    from grader.player.stage import Stage
    from grader.protocol.wire import Channel, Json


class Cuda:
    """The back end "cuda". TF32 stays off unless the submission switches it on for itself."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        # A batch builds ahead where no GPU is visible, so that none is disturbed: for a card that it names.
        self._only_builds = not os.environ.get("CUDA_VISIBLE_DEVICES", "x") and bool(
            os.environ.get("TORCH_CUDA_ARCH_LIST")
        )
        self._wake()
        torch.backends.cudnn.allow_tf32 = False  # torch's default for convolutions is True
        setattr(extension, "FileBaton", Baton)  # noqa: B010 - a name that torch does not give away
        extension.load_inline = self._asked_for(extension.load_inline, load_inline.request_of_texts)
        extension.load = self._asked_for(extension.load, load_inline.request_of_files)
        if folder := os.environ.get("TORCH_EXTENSIONS_DIR"):  # where this player may write
            os.environ["TVM_FFI_CACHE_DIR"] = folder
        tvm_inline.install(self._announced)

    def _wake(self) -> None:
        if self._only_builds:
            return
        torch.cuda.init()
        major, minor = torch.cuda.get_device_capability()
        os.environ.setdefault("TORCH_CUDA_ARCH_LIST", f"{major}.{minor}")  # compile for this card only

    def _asked_for(self, real: Any, request_of: Callable[[Mapping[str, Any]], BuildRequest]) -> Any:
        """torch's function, with the referee's builder asked first: it needs seconds for what it can do."""
        signature, ordinary = inspect.signature(real), self._announced(real)

        def build(*args: Any, **kwargs: Any) -> Any:
            try:
                given = signature.bind(*args, **kwargs).arguments
                request = request_of(given)
            except (NotImplementedError, TypeError, ValueError):
                return ordinary(*args, **kwargs)  # torch says what is wrong, or can do it
            self._channel.send({"build": request.as_json()})
            reply = decode(self._channel.receive(), BuildReply)
            if reply.ordinary:
                return ordinary(*args, **kwargs)
            if not reply.path:
                raise RuntimeError(f"Error building extension '{request.name}': {reply.message}")
            is_python = given.get("is_python_module", True)
            return load_inline.imported(request.name, reply.path, is_python_module=is_python)

        return build

    def _announced(self, real: Any) -> Any:
        """Tell the referee when nvcc is at work, so that compiling is not taken for a hanging import."""

        def build(*args: Any, **kwargs: Any) -> Any:
            self._channel.send({"notice": "build_begins"})
            try:
                return real(*args, **kwargs)
            finally:
                self._channel.send({"notice": "build_ends"})

        return build

    def facts(self) -> Facts:
        """Versions and the device's name."""
        device = "" if self._only_builds else torch.cuda.get_device_name()
        return Facts(str(torch.__version__), str(torch.version.cuda), device)

    def observed(self) -> Json:
        """A GPU tells nothing of its own accord; see ``grader.referee.sanitizer``."""
        return {}

    def owner(self, stage: Stage, /, **_: Any) -> Json:
        """Grid and block of the submission's last launch, from a second, profiled run of the last call."""
        with observe.recording() as seen:
            stage.again()
            torch.cuda.synchronize()
        own = re.findall(r"__global__[^(;]*?(\w+)\s*\(", Path(stage.path).read_text())
        theirs = re.compile(rf"\b(?:{'|'.join(map(re.escape, own))})\b" if own else r"(?!)")
        launches = [x for x in observe.kernels(observe.trace(seen)) if theirs.search(x.kernel)]
        return plain(Ownership(traced=True, last=launches[-1] if launches else None))

    def check(self, **_: Any) -> Json:
        """A GPU checks nothing of its own accord."""
        return {}

    def schedule(self, **_: Any) -> Json:
        """A GPU has an order of its own."""
        return {}

    def change(self, **_: Any) -> Json:
        """Alternatives are for the CPU back end."""
        return {}

    def count(self, **_: Any) -> Json:
        """Counting is the work of ncu on a GPU."""
        return {}
