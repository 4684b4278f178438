"""Tensors, modules and bindings at run time."""

from grader.feedback.explain.rule import Rule

RULES = (
    Rule(
        "event-not-ready",
        (r"CUDA error: device not ready", r"cudaErrorNotReady"),
        "The host asks for a result, mostly with elapsed_time, that the device has not reached yet: a launch and a "
        "record only queue work, and nothing waited for the device, so the kernel is not yet finished.",
        "Wait once, after the calls and before the first elapsed_time: torch.cuda.synchronize().",
        "04",
    ),
    Rule(
        "event-timing",
        (r"Both events must be created with (?:the )?(?:argument|flag) '?enable_timing=True",),
        "An event was made without enable_timing=True: it can be waited for, and keeps no time.",
        "Make both events with torch.cuda.Event(enable_timing=True).",
        "04",
    ),
    Rule(
        "event-not-recorded",
        (r"Both events must be recorded before calculating elapsed time",),
        "elapsed_time was asked of an event that was never recorded, so it holds no time.",
        "Record both: one before the call, one after it.",
        "04",
    ),
    Rule(
        "wrong-call",
        (r"(?P<name>\w+)\(\): incompatible function arguments",),
        "{name} was called from Python with other arguments than the C++ function takes.",
        "Compare the call with the C++ function's parameters, one by one and in order. C++ has no default values "
        "here, a list is not a tensor, and Python's float is a double in C++.",
    ),
    Rule(
        "not-in-module",
        (
            r"module '(?P<module>torch[\w.]*|math|statistics|itertools|time)' has no attribute '(?P<name>\w+)'",
        ),
        "{module} has nothing called {name}.{near}",
        "Check the spelling letter by letter, capitals too.",
    ),
    Rule(
        "not-bound",
        (r"module '(?P<module>[\w.]+)' has no attribute '(?P<name>\w+)'",),
        "The module {module} has nothing called {name}.",
        "If it is an extension, its name must stand in functions of load_inline, or in PYBIND11_MODULE, spelt as here.",
    ),
    Rule(
        "extension-name",
        (
            r"extension's name '(?P<name>[^']*)' is not an identifier",
            r"dynamic module does not define module export function \(PyInit_(?P<name>(?:\w*[^\w()]|\d)[^()]*)\)",
        ),
        "load_inline's name becomes a C++ identifier, and this one cannot be one.",
        "Use letters, digits and _ only, with a letter first.",
    ),
    Rule(
        "no-module",
        (r"dynamic module does not define module export",),
        "What was built is no Python module: nothing in it binds C++ functions to Python under load_inline's name.",
        'load_inline binds the functions that `functions=["..."]` names. A PYBIND11_MODULE of your own must have '
        "TORCH_EXTENSION_NAME as its first argument.",
    ),
    Rule(
        "scalar-type",
        (r"expected scalar type (?P<want>\w+) but found (?P<got>\w+)",),
        "The tensor holds {got}, but the code asks for its data as {want}.",
        "Refuse or convert other dtypes before data_ptr: TORCH_CHECK(x.scalar_type() == torch::kFloat32, ...), "
        "or x.float() in Python.",
        "03",
    ),
    Rule(
        "two-devices",
        (r"Expected all tensors to be on the same device",),
        "Tensors on different devices meet in one operation, here CPU and GPU.",
        "Move them together: y.to(x.device), or make them with device=x.device. Module weights move with "
        "module.cuda().",
        "03",
    ),
    Rule(
        "numpy-of-cuda",
        (
            r"can't convert cuda:?\d* device type tensor to numpy",
            r"can't convert \S* device type tensor to numpy",
        ),
        "NumPy reads CPU memory, and this tensor is on the GPU.",
        "Copy it first: x.cpu().numpy().",
        "03",
    ),
    Rule(
        "numpy-of-grad",
        (r"Can't call numpy\(\) on Tensor that requires grad",),
        "The tensor takes part in autograd, which NumPy knows nothing of.",
        "x.detach().numpy().",
        "10",
    ),
    Rule(
        "view-strides",
        (r"view size is not compatible with input tensor's size and stride",),
        "view() needs elements that lie one after another; this tensor is a transposed or cut-out view.",
        "Use reshape(...), or contiguous().view(...). A kernel that reads row after row needs contiguous() too.",
        "03",
    ),
    Rule(
        "matrix-shapes",
        (
            r"mat1 and mat2 shapes cannot be multiplied \((?P<a>\d+x\d+) and (?P<b>\d+x\d+)\)",
            r"size mismatch, got input",
        ),
        "The matrices do not fit: {a} times {b}. The columns of the first must be the rows of the second.",
        "Give both the same inner number: nn.Linear's first number is how many columns its input has. If one of them "
        "lies the wrong way round, transpose it.",
        "07",
    ),
    Rule(
        "conv-channels",
        (r"to have (?P<a>\d+) channels, but got (?P<b>\d+) channels instead",),
        "A convolution takes batch, channels, height, width in this order: this one has {a} channels, and {b} came.",
        "Give its input {a} channels, as the second number of its shape, or make the layer's first number {b}.",
        "05",
    ),
    Rule(
        "sizes-differ",
        (r"The size of tensor a \((?P<a>\d+)\) must match the size of tensor b \((?P<b>\d+)\)",),
        "The shapes do not broadcast: along one dimension one tensor has {a} elements, the other {b}.",
        "Dimensions are compared from the last one; they must be equal, or 1. unsqueeze adds a dimension of 1.",
        "07",
    ),
    Rule(
        "dtypes-differ",
        (
            r"expected m1 and m2 to have the same dtype",
            r"must have the same dtype, but got (?P<a>\S+) and (?P<b>\S+)",
            r"expected (?:both|all) .*same dtype",
        ),
        "Two tensors of different dtypes meet in a matrix product, which does not convert by itself.",
        "Convert one: y.to(x.dtype). torch.randn makes float32, numpy arrays are usually float64.",
        "10",
    ),
    Rule(
        "leaf-in-place",
        (r"a leaf Variable that requires grad is being used in an in-place operation",),
        "A parameter is changed in place while autograd records, and its old value is still needed.",
        "Change weights inside torch.no_grad(), or write y = x + 1 instead of x.add_(1).",
        "10",
    ),
    Rule(
        "no-gradient",
        (r"does not require grad and does not have a grad_fn",),
        "Nothing between the parameters and this result was recorded; a kernel of one's own records nothing.",
        "Inputs need requires_grad=True. A kernel needs a torch.autograd.Function (or register_autograd) that "
        "says its backward.",
        "10",
    ),
    Rule(
        "changed-in-place",
        (r"one of the variables needed for gradient computation has been modified by an inplace operation",),
        "A tensor that the backward pass needs was overwritten after it was used.",
        "Write to a new tensor instead of in place, in kernels too.",
        "10",
    ),
    Rule(
        "state-dict",
        (r"Error\(s\) in loading state_dict for (?P<name>\w+)", r"Missing key\(s\) in state_dict"),
        "The parameters of {name} have other names or shapes than the ones that are loaded.",
        "Name them as the reference does: its nn.Linear called gemm gives gemm.weight, a parameter called bias "
        "gives bias.",
        "07",
    ),
    Rule(
        "module-init",
        (r"cannot assign \w+ before Module\.__init__\(\) call",),
        "The module's own __init__ has not run yet when it is given a layer.",
        "Begin __init__ with super().__init__().",
        "07",
    ),
    Rule(
        "out-of-memory",
        (r"CUDA out of memory", r"\bOutOfMemoryError\b"),
        "The GPU's memory is full.",
        "Use smaller sizes, delete tensors that are no longer needed, and see who else uses the GPU: nvidia-smi.",
        "04",
    ),
)
