"""Constructs that the CPU back end cannot run, refused by one sentence each.

The refusal is put into the source as an error directive, so that the compiler says it, at the right line,
and only if the construct is really compiled: what stands behind ``#if __CUDA_ARCH__ >= 900`` is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.backends.simt.compile import ptx
from grader.backends.simt.compile.kernels import ATTRIBUTES
from grader.backends.simt.compile.tokens import Token, Tokens, closing, ends_line, following, previous

if TYPE_CHECKING:
    from collections.abc import Collection

_GPU = "or run this submission on a machine with an NVIDIA GPU"
_REFERENCE = "use a texture object (cudaTextureObject_t); CUDA 12 has no texture references any more"
_TEXTURE = f"fetch with tex1D, tex2D or tex3D from an array without mipmaps, {_GPU}"
_COPY = f"copy with __pipeline_memcpy_async, or with plain loads and stores, {_GPU}"
_TAIL = (
    "CUDA has had none since version 12; launch what is to follow into cudaStreamTailLaunch, "
    "which begins once the grid and all that it has launched have ended"
)
WAITS = frozenset(
    ("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaThreadSynchronize")
)
_PROGRAMMATIC = "launch with <<<...>>>, one kernel after the other"
_GRAPH = f"launch the kernels directly, {_GPU}"
_CLUSTER_DIMS = (
    "__cluster_dims__ with anything but numbers",
    "write plain numbers, or say the cluster at the launch (cudaLaunchKernelEx)",
)
_TENSOR_CORE = f"write the product as a loop over plain floats, {_GPU}"
_OWN = f"write the loop yourself (shuffles, atomics and shared memory work), {_GPU}"

# An identifier: (what it is called, what to use instead).
WORDS = {
    "cudaHostRegisterMapped": (
        "memory of malloc that is mapped (cudaHostRegisterMapped)",
        "take it with cudaHostAlloc",
    ),
    "CUtensorMap": ("a TMA copy (CUtensorMap)", _COPY),
    "__block_size__": ("__block_size__", "say the cluster with __cluster_dims__ and the block at the launch"),
    "__cluster_barrier_arrive_relaxed": (
        "an arrival at a cluster's barrier that orders no memory",
        "use __cluster_barrier_arrive or cluster_group::barrier_arrive",
    ),
    "__cluster_map_shared_multicast": ("a TMA copy to several blocks", _COPY),
    "cudaGridDependencySynchronize": (
        "a kernel that begins before the one before it has ended",
        _PROGRAMMATIC,
    ),
    "cudaTriggerProgrammaticLaunchCompletion": (
        "a kernel that begins before the one before it has ended",
        _PROGRAMMATIC,
    ),
}
PREFIXES = (
    (re.compile(r"tex\w+(?:Lod|Grad)"), ("this texture fetch", _TEXTURE)),
    (re.compile(r"tex2Dgather"), ("tex2Dgather", f"fetch the four elements with tex2D, one by one, {_GPU}")),
    (re.compile(r"cuda\w*Mipmap\w*"), ("a mipmapped array", _TEXTURE)),
    (
        re.compile(r"CURAND_RNG_QUASI\w*|curandState\w*Sobol\w*|curand\w*DirectionVectors\w*"),
        ("quasi-random numbers of cuRAND", "draw them with torch (torch.quasirandom.SobolEngine)"),
    ),
    (
        re.compile(r"curand_(?:poisson|discrete)\w*|curandState(?:MRG32k3a|Mtgp32)\w*"),
        (
            "this part of cuRAND",
            "use XORWOW or Philox, and a uniform or a normal distribution",
        ),
    ),
    (
        re.compile(r"cudaFuncAttributeRequiredCluster\w+"),
        ("this attribute of a kernel", "say the cluster with __cluster_dims__, or at each launch"),
    ),
    (re.compile(r"cudaIpc\w*"), ("memory of two processes (cudaIpc...)", "do the work in one process")),
    (
        re.compile(
            r"CU(?:texObject|texref|array|deviceptr|module|context|function|device|result|stream|event)"
        ),
        ("CUDA's driver API", "use the runtime API (cuda...) instead"),
    ),
    (re.compile(r"cudaGraphics\w*"), ("memory of a graphics library", "copy to the host with cudaMemcpy")),
    (
        re.compile(
            r"cudaGraph(?:Conditional|AddConditional|MemAlloc|MemFree|AddMemAlloc|AddMemFree|ExternalSem)\w*"
        ),
        ("this node of a CUDA graph", _GRAPH),
    ),
    (re.compile(r"__(?:wmma|mma|imma|hmma|bmma)_\w+"), ("a tensor core instruction", _TENSOR_CORE)),
    (
        re.compile(r"CUDA_tensor_apply\d|kernelPointwiseApply\d"),
        ("torch's CUDA_tensor_apply", "launch a kernel of your own over the elements"),
    ),
)
SCOPES = {  # what stands before ::
    "cute": ("the CuTe library", _OWN),
    "cutlass": ("the CUTLASS library", _OWN),
}
# What there is not of CUB: the rest is in include/cub, in one header whatever part of it is asked for.
NO_CUB = re.compile(
    r"Grid\w+|Agent\w+|Dispatch\w+|Device(?:MergeSort|SegmentedSort|Spmv|AdjacentDifference|Copy|Memcpy|Topk)|"
    r"Tex\w+Iterator|Warp(?:Load|Store|Exchange|MergeSort)|BlockRunLengthDecode|\w*ByKey"
)
_CUB = f"use its DeviceRadixSort, DeviceScan and DeviceReduce, or torch's operator, {_GPU}"
CUDA_SCOPE = {  # cuda::NAME
    "ptx": ("cuda::ptx", f"use the CUDA C++ functions, {_GPU}"),
    "device": ("a bulk copy (cuda::device)", "use cuda::memcpy_async with a cuda::barrier"),
    "latch": ("cuda::latch", "use a cuda::barrier"),
    "counting_semaphore": ("cuda::counting_semaphore", "use a cuda::barrier, or cuda::atomic"),
    "binary_semaphore": ("cuda::binary_semaphore", "use a cuda::barrier, or cuda::atomic"),
    "annotated_ptr": ("cuda::annotated_ptr", "use a plain pointer: it says something about caches only"),
    "access_property": ("cuda::access_property", "leave it out: it says something about caches only"),
}
INCLUDE = re.compile(r"^(?P<hash>[ \t]*#[ \t]*)include[ \t]*[<\"](?P<header>[\w./+-]+)[>\"][^\n]*", re.M)
# What there is of libcu++, by the header that has it.
LIBCU = (
    (re.compile(r"cuda/(?:std/)?barrier$|cuda/pipeline$"), "cuda/libcu_async.h"),
    (re.compile(r"cuda/(?:std/)?atomic$"), "cuda/libcu_atomic.h"),
    (
        re.compile(
            r"cuda/std/(?:algorithm|array|bit|cassert|cfloat|climits|cmath|complex|concepts|cstddef|cstdint|cstring|"
            r"functional|initializer_list|iterator|limits|numbers|numeric|optional|ratio|span|tuple|type_traits|"
            r"utility|variant|version)$"
        ),
        "cuda/libcu_std.h",
    ),
)
# Any part of these libraries is the whole of it.
WHOLE = (
    (re.compile(r"cub/(?:block|config|device|iterator|thread|util|warp)\w*[/.]"), "cub/cub.cuh"),
    (re.compile(r"thrust/(?!thrust\.h$)"), "thrust/thrust.h"),
)
HEADERS = (
    (re.compile(r"cub/(?:agent|grid)/|ATen/cuda/cub"), "this part of the CUB library", _CUB),
    (re.compile(r"thrust/(?:mr|async|detail|system/(?!cuda/(?:execution_policy|vector))|\w*allocator)"),
     "this part of the Thrust library", _OWN),
    (re.compile(r"ATen/native/cuda/"), "what PyTorch's own kernels are made with (ATen/native/cuda)",
     "launch a kernel of your own over the elements"),
    (re.compile(r"crt/mma"), "the tensor core header", _TENSOR_CORE),
    (re.compile(r"cutlass/|cute/"), "the CUTLASS library", _OWN),
    (re.compile(r"cublas(?!_v2|Lt)|cudnn|cusparse|cusolver|cufft"), "a GPU library",
     f"call torch's operator instead, {_GPU}"),
    (re.compile(r"curand_(?!kernel|uniform|normal|globals|philox)|ATen/cuda/CUDAGeneratorImpl|ATen/cuda/CUDAGraphsUtils"),
     "a GPU library for random numbers", "draw the numbers with torch and pass them as a tensor"),
    (re.compile(r"cudaTypedefs"), "a library for asynchronous copies", _COPY),
    (re.compile(r"cuda/(?!libcu_)|nv/"), "this part of the libcu++ library",
     "use <cuda/barrier>, <cuda/pipeline>, <cuda/atomic>, <cuda/std/...>, or the functions of CUDA C++"),
    (re.compile(r"cudaEGL|EGL/|GL/|GLES|cuda_gl_interop|vulkan/|nvscibuf|NvSci"), "a graphics library",
     "leave the drawing out for this run"),
    (re.compile(r"(?:nccl|nvshmemx?|mpi)\.h$"), "a library for several GPUs", "do the work on one device"),
    (re.compile(r"nvrtc|nvToolsExt(?!\.h)|nvtx3/(?!nvToolsExt(?:CudaRt)?\.h)|nvml"), "a GPU tool's library",
     "leave it out for this run"),
)  # fmt: skip


def sentence(what: str, instead: str) -> str:
    """The refusal, as the student reads it."""
    return f"{what} cannot run on the CPU: {instead}"


def refuse_includes(text: str, own: Collection[str] = ()) -> str:
    """``text`` with includes that cannot be there turned into errors that say so.

    ``own``: paths of headers that the program brings; what they are called is its own business.
    """

    def replace(match: re.Match[str]) -> str:
        name = "/" + match["header"].removeprefix("./").replace("../", "")
        if any(path.endswith(name) for path in own):
            return match[0]
        for pattern, header in LIBCU:
            if pattern.match(match["header"]):
                return f"{match['hash']}include <{header}>"
        for pattern, what, instead in HEADERS:
            if pattern.match(match["header"]):
                return f"{match['hash']}error {sentence(what + ' <' + match['header'] + '>', instead)}"
        for pattern, header in WHOLE:
            if pattern.match(match["header"]):
                return f"{match['hash']}include <{header}>"
        return match[0]

    return INCLUDE.sub(replace, text)


def _marked(what: str, instead: str) -> Token:
    text = sentence(what, instead).replace('"', "'")
    return Token("id", f'_Pragma("GCC error \\"{text}\\"") ')


def refuse(tokens: Tokens) -> Tokens:
    """``tokens`` with an error directive before each construct that cannot run."""
    out = Tokens()
    inside, directives = device_bodies(tokens), _directives(tokens)
    said: set[str] = set()  # the first of each is enough
    for i, token in enumerate(tokens):
        found = _construct(tokens, i)
        if inside[i] and token.text in WAITS:
            found = f"a wait for other grids in a kernel ({token.text})", _TAIL
        if found and found[0] not in said and not directives[i]:
            said.add(found[0])
            out.append(_marked(*found))
        out.append(token)
    return out


def _construct(tokens: Tokens, i: int) -> tuple[str, str] | None:
    token = tokens[i]
    if token.kind != "id":
        return None
    name = token.text
    after = following(tokens, i)
    next_text = tokens[after].text if after < len(tokens) else ""
    if name in ptx.ASM:
        why = ptx.unknown(tokens, i)
        return (
            None
            if _is_empty_asm(tokens, i)
            else (
                f"inline PTX (`{why}`)" if why else "inline PTX (asm)",
                _no_ptx(why),
            )
        )
    if name == "texture" and next_text == "<":
        return "a texture reference", _REFERENCE
    if name == "__cluster_dims__" and (end := closing(tokens, after)) > 0:
        given = [t for t in tokens[after + 1 : end] if t.kind != "space" and t.text != ","]
        return None if given and all(t.text.isdecimal() for t in given) else _CLUSTER_DIMS
    if name in SCOPES and next_text == "::":
        return SCOPES[name]
    if name == "cub" and next_text == "::" and not _is_scoped(tokens, i):
        part = tokens.at(following(tokens, after))
        return (f"cub::{part}", _CUB) if NO_CUB.fullmatch(part) else None
    if name == "cuda" and next_text == "::" and not _is_scoped(tokens, i):
        member = following(tokens, after)
        return CUDA_SCOPE.get(tokens[member].text) if member < len(tokens) else None
    if name in WORDS:
        return WORDS[name]
    return next((found for pattern, found in PREFIXES if pattern.fullmatch(name)), None)


def _no_ptx(why: str) -> str:
    """What to use in place of an instruction, or of a register that no function of CUDA C++ reads."""
    if re.fullmatch(r"%\w*smem_size", why):
        return f"hand the number of bytes to the kernel as an argument, {_GPU}"
    return f"use the CUDA C++ function that does the same, {_GPU}"


def _is_scoped(tokens: Tokens, i: int) -> bool:
    """Whether ``cuda`` at ``i`` is part of ``at::cuda`` or ``c10::cuda``."""
    colons = previous(tokens, i)
    scope = previous(tokens, colons) if colons >= 0 and tokens[colons].text == "::" else -1
    return scope >= 0 and tokens[scope].kind == "id"


def _is_empty_asm(tokens: Tokens, i: int) -> bool:
    """``asm volatile("" ::: "memory")`` keeps the compiler from moving accesses, and does so here too."""
    open_ = next((k for k in range(i, min(i + 6, len(tokens))) if tokens[k].text == "("), -1)
    return open_ >= 0 and tokens.at(following(tokens, open_)) == '""'


def _directives(tokens: Tokens) -> bytearray:
    """For each token whether it is in a preprocessor line; what a ``#define`` stands for is not."""
    found, i = bytearray(len(tokens)), 0
    while i < len(tokens):
        if tokens[i].text == "#":
            word = following(tokens, i)
            first, last = i, following(tokens, word) if tokens.at(word) == "define" else len(tokens)
            while i < len(tokens) and not ends_line(tokens[i]):
                i += 1
            found[first : min(i, last + 1)] = b"\1" * (min(i, last + 1) - first)
        i += 1
    return found


def device_bodies(tokens: Tokens) -> bytearray:
    """For each token whether it stands in a function that runs on the device and not on the host too."""
    found, until = bytearray(len(tokens)), 0
    for i, token in enumerate(tokens):
        if token.text not in ("__global__", "__device__") or i < until:
            continue
        if "__host__" in (tokens.at(previous(tokens, i)), tokens.at(following(tokens, i))):
            continue
        k = following(tokens, i)
        while k < len(tokens) and tokens[k].text not in ";{}=":
            if tokens[k].text == "(" and tokens.at(previous(tokens, k)) not in ATTRIBUTES:
                k = max(closing(tokens, k), k)
            k = following(tokens, k)
        until = k
        if tokens.at(k) == "{" and (end := closing(tokens, k)) > 0:
            found[k + 1 : end] = b"\1" * (end - k - 1)
    return found
