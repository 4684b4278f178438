"""The machine and its installation: compilers, drivers, architectures."""

from grader.domain.installation import COURSE
from grader.feedback.explain.rule import Rule

RULES = (
    Rule(
        "no-cuda-home",
        (r"CUDA_HOME environment variable is not set",),
        "PyTorch finds no CUDA toolkit (or is a build without CUDA), so it cannot call nvcc.",
        f"Without a GPU: {COURSE} run FILE runs the same file on the CPU. With one: install the toolkit, or set "
        f"CUDA_HOME to its folder. {COURSE} doctor tells which.",
    ),
    Rule(
        "cpu-build",
        (r"Torch not compiled with CUDA enabled",),
        "The installed PyTorch is the CPU build; for it there is no device called cuda.",
        f"Without a GPU: {COURSE} run FILE gives the file a cuda device on the CPU. With one, {COURSE} doctor says "
        "how to get the CUDA build.",
    ),
    Rule(
        "no-driver",
        (
            r"Found no NVIDIA driver on your system",
            r"no CUDA-capable device is detected",
            r"No CUDA GPUs are available",
        ),
        "PyTorch finds no NVIDIA GPU or no driver for one.",
        f"Without a GPU: {COURSE} run FILE. With one, nvidia-smi must list it; in a container start it with "
        "--gpus all.",
    ),
    Rule(
        "old-driver",
        (
            r"CUDA driver version is insufficient for CUDA runtime",
            r"The NVIDIA driver on your system is too old",
        ),
        "The driver is older than the CUDA version that PyTorch was built with.",
        f"Update the driver, or install a PyTorch for an older CUDA; {COURSE} doctor shows both versions.",
    ),
    Rule(
        "ptx-too-new",
        (
            r"the provided PTX was compiled with an unsupported toolchain",
            r"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        ),
        "The module holds PTX of an nvcc that is newer than the driver, and no machine code for this card.",
        f"Compile for the card itself, as -arch=sm_75 for a T4, or update the driver; {COURSE} doctor shows both "
        "versions.",
    ),
    Rule(
        "architecture",
        (
            r"Unsupported gpu architecture '(?P<name>\w+)'",
            r"Value '(?P<name>sm_\w+)' is not defined for option",
        ),
        "nvcc does not know the architecture {name}: it is too old, or too new, for this version of nvcc.",
        "Set TORCH_CUDA_ARCH_LIST to your card's, for instance 9.0 for H100 (nvidia-smi --query-gpu=compute_cap "
        "--format=csv), and unset flags with another one.",
    ),
    Rule(
        "no-kernel-image",
        (r"no kernel image is available for execution on the device",),
        "The module was compiled for another GPU than this one.",
        "Unset TORCH_CUDA_ARCH_LIST or set it to this card's, and delete the extension's build folder.",
    ),
    Rule(
        "cuda-mismatch",
        (r"The detected CUDA version \((?P<a>[\d.]+)\) mismatches the version that was used to compile",),
        "nvcc is of CUDA {a}, and PyTorch was built with another major version.",
        f"Install the toolkit of PyTorch's version, or point CUDA_HOME to one; {COURSE} doctor shows both.",
    ),
    Rule(
        "segmentation-fault",
        (r"Segmentation fault", r"\bSIGSEGV\b", r"signal 11\b", r"exit code 139\b"),
        "The process was ended because code on the host used memory that is not its own: C++ that reads or writes "
        "past an array, or reads a GPU's memory, or Python code that called itself without end.",
        f"{COURSE} run FILE runs the same file with every access of its kernels checked, and {COURSE} check names the "
        "line. In host code look at data_ptr(): what lies on the device is for kernels alone.",
        "03",
    ),
    Rule(
        "no-ninja",
        (r"Ninja is required to load C\+\+ extensions",),
        "ninja, which runs the compilers for load_inline, is not installed here.",
        "python -m pip install ninja, in the environment that runs the file.",
    ),
    Rule(
        "host-compiler",
        (
            r"unsupported GNU version",
            r"unsupported clang version",
            r"is not ABI-compatible with the compiler",
        ),
        "nvcc does not work with this version of the host's C++ compiler.",
        'Install an older g++ and name it: export CXX=g++-12 NVCC_PREPEND_FLAGS="-ccbin g++-12".',
    ),
    Rule(
        "python-headers",
        (r"Python\.h: No such file or directory", r"cannot open source file \"Python\.h\""),
        "Python's own headers are not installed.",
        "sudo apt-get install python3-dev (for the version of Python that runs the course).",
    ),
    Rule(
        "slow-compiler",
        (r"Compiling took longer than [\d.]+ s and was stopped",),
        "The compiler did not come to an end; nothing of the file has run yet.",
        "Look for what makes it work: brackets or templates nested very deep, a template or a constexpr function "
        "that calls itself, a table of many thousand entries, a long loop to be unrolled.",
    ),
    Rule(
        "torch-too-early",
        (r"torch was imported before the CPU back end was activated",),
        "PyTorch was imported before the CPU back end was made ready.",
        f"Run the file with {COURSE} run FILE.",
    ),
    Rule(
        "counters",
        (r"ERR_NVGPUCTRPERM",),
        "The driver keeps the GPU's performance counters for administrators.",
        f"sudo ncu ..., or see the ncu line of {COURSE} doctor. The CPU back end counts without permission: "
        f"{COURSE} profile.",
        "09",
    ),
    Rule(
        "type-hint",
        (r"infer_schema\(func\): Parameter (?P<name>\w+) must have a type annotation",),
        "An operator's schema is read from type hints, and the parameter {name} has none.",
        "Write them all, the result's too: def op(x: torch.Tensor, scale: float) -> torch.Tensor.",
        "10",
    ),
    Rule(
        "operator-namespace",
        (r"not enough values to unpack \(expected 2, got 1\).* @.*custom_op\(",),
        "An operator's name has two parts, and this one has no namespace.",
        'Write custom_op("my_library::name", ...): a namespace, two colons, the name.',
        "10",
    ),
)
