"""Names, types and definitions of C++."""

import re

from grader.feedback.explain.rule import Rule

BUILTINS = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "__syncthreads"})

# What the lessons use of torch::, to guess what a misspelt name was to be.
TORCH = frozenset(
    re.findall(
        r"[\w.]+",
        "Tensor TensorOptions ScalarType Device kFloat kFloat16 kFloat32 kFloat64 kDouble kHalf "
        "kBFloat16 kInt kInt32 kInt64 kLong kBool kUInt8 kInt8 kCPU kCUDA empty empty_like zeros "
        "zeros_like ones ones_like full full_like tensor arange randn rand from_blob relu sigmoid tanh "
        "exp softmax matmul mm linear add mul sub div sum mean max min where abs sqrt clamp stack cat",
    )
)

# What of CUDA and of PyTorch's macros a misspelt name may have been meant for, and what a tensor has.
COMMON = BUILTINS | frozenset(
    re.findall(
        r"\w+",
        "C10_CUDA_KERNEL_LAUNCH_CHECK C10_CUDA_CHECK TORCH_CHECK expf exp2f logf sqrtf rsqrtf tanhf powf fabsf fmaxf fminf "
        "make_float4 make_float2 float4 float2 dim3 int64_t uint32_t size_t static_cast reinterpret_cast printf atomicAdd",
    )
)
MEMBERS = frozenset(
    re.findall(
        r"\w+",
        "numel dim size sizes stride strides contiguous is_contiguous is_cuda device scalar_type dtype data_ptr options clone "
        "item cpu cuda view reshape transpose element_size storage_offset get_device defined is_floating_point",
    )
)

# Names of the standard library; the second ones are variables as often, so what follows them must fit.
STD = (
    "string|vector|cout|cerr|endl|to_string|runtime_error|invalid_argument|logic_error|make_pair|make_tuple|unordered_map|"
    "unique_ptr|shared_ptr|make_unique|make_shared|stringstream|ostringstream|string_view|numeric_limits|nullopt|ostream"
)
STD_USED = "pair|tuple|array|map|optional|function|move|swap|sort|min|max"

# Names of PyTorch's CUDA side, and the header that they come with.
CUDA_HEADERS = {
    name: header
    for header, names in (
        ("c10/cuda/CUDAException.h", "C10_CUDA_KERNEL_LAUNCH_CHECK C10_CUDA_CHECK C10_CUDA_CHECK_WARN"),
        ("c10/cuda/CUDAGuard.h", "CUDAGuard OptionalCUDAGuard CUDAStreamGuard"),
        (
            "ATen/cuda/CUDAContext.h",
            "AT_CUDA_CHECK getCurrentCUDAStream getDefaultCUDAStream getStreamFromPool CUDAStream "
            "getCurrentDeviceProperties warp_size",
        ),
    )
    for name in names.split()
}

# Names that look like those of NVIDIA's libraries: a list of them all is nowhere in the course.
OF_CUDA = (
    r"(?P<name>(?:cuda[A-Z]|cu(?:blas|rand|fft|sparse|solver|dnn)?[A-Z]|CU(?:DA|BLAS|RAND|FFT|SPARSE|SOLVER|DNN)?_|nvtx"
    r"|__builtin_|__nv)\w+"
    # Functions of the device: bytes and halves of a word (__vsub2), products of bytes, roundings, norms, Bessel's.
    r"|__v[a-z]+[24]|__dp[24]a\w*|__\w+_r[nzud]|__(?:double|float|int|uint|ll|ull|half|bfloat16|viadd|vimin|vimax)\w*"
    r"|r?norm(?:[34]d)?f?|cyl_bessel_i[01]f?|normcdf(?:inv)?f?|erfc?invf?|erfcxf?)"
)
RULES = (
    Rule(
        "dot-for-namespace",
        (
            r"(?:expected primary-expression before '\.' token|expected unqualified-id before '\.' token).*"
            r" @.*\b(?P<name>torch|at|c10|std)\s?\.",
            r"unknown type name '(?P<name>torch|at|c10|std)'.* @.*\b(?P=name)\s?\.",
            r"'(?P<name>torch|at|c10|std)' does not name a type.* @.*\b(?P=name)\s?\.",
            r"no storage class or type specifier.* @.*\b(?P<name>torch|at|c10|std)\s?\.",
            r"unexpected namespace name '(?P<name>\w+)': expected expression",
            r"a namespace name is not allowed.* @.*\b(?P<name>torch|at|c10|std)\s?\.",
            r"(?:cannot use dot operator|expected unqualified-id).* @.*\b(?P<name>torch|at|c10|std)\s?\.",
            r"expected primary-expression before '\.' token",
        ),
        "A dot stands after a namespace, as in Python; in C++ two colons do.",
        "Write :: after torch, at, c10 and std. The dot is for what an object has: x.size(0), threadIdx.x.",
    ),
    Rule(
        "functions-form",
        (r"Expected 'functions' to be a list or dict, but was <class '(?P<name>[\w.]+)'>",),
        "load_inline takes functions as a list of names or as a dict {name: help text}, and got a {name}.",
        'Write `functions=["name", ...]`, or a dict with a help text for each name.',
    ),
    Rule(
        "bound-name",
        (
            r"'(?P<name>\w+)' was not declared in this scope.* @bindings:",
            r"use of undeclared identifier '(?P<name>\w+)'.* @bindings:",
        ),
        "functions=[...] asks for {name}, but cpp_sources does not declare it.{declared}",
        "cpp_sources must hold the function's declaration (its head with a semicolon) or its definition, with "
        "exactly the name in functions. A function defined in cuda_sources is declared in cpp_sources too.",
    ),
    Rule(
        "cuda-header",
        (
            r"\b(?:\w+::)*(?P<name>\w+) comes with <[\w./]+>, which is not included",
            r"namespace \"(?:at|c10)::cuda\" has no member \"(?P<name>\w+)\"",
            r"identifier \"(?P<name>(?:C10|AT)_CUDA_\w+)\" is undefined",
            r"'(?P<name>(?:C10|AT)_CUDA_\w+)' was not declared",
            r"'(?P<name>\w+)' is not a member of '(?:at|c10)::cuda'",
        ),
        "{name} belongs to the CUDA side of PyTorch, whose headers torch/extension.h does not include.",
        "Add its header at the top of cuda_sources: getCurrentCUDAStream and AT_CUDA_CHECK come with "
        "<ATen/cuda/CUDAContext.h>, C10_CUDA_CHECK with <c10/cuda/CUDAException.h>, CUDAGuard with "
        "<c10/cuda/CUDAGuard.h>.",
        "03",
        named=frozenset(CUDA_HEADERS),
        fixes={
            name: f"Add `#include <{header}>` at the top of cuda_sources."
            for name, header in CUDA_HEADERS.items()
        },
    ),
    Rule(
        "torch-not-included",
        (
            r"(?<!namespace )'(?P<name>torch|at|c10)' (?:has not been declared|does not name a type|was not declared)",
            r"use of undeclared identifier '(?P<name>torch|at|c10)'",
            r"name followed by \"::\" must be a class or namespace name",
            r"no storage class or type specifier.* @.*\b(?P<name>torch|at|c10)::",
        ),
        "The source uses a namespace such as torch:: without the header that declares it.",
        "Begin cuda_sources with #include <torch/extension.h>. load_inline adds it to cpp_sources by itself, "
        "but not to cuda_sources.",
    ),
    Rule(
        "no-such-header",
        (
            r"(?P<name>[\w./+-]+): No such file or directory",
            r"cannot open source file \"(?P<name>[^\"]+)\"",
            r"'(?P<name>[\w./+-]+)' file not found",
        ),
        "There is no header {name} in the folders that the compiler looks in.",
        "Check the spelling (torch/extension.h, ATen/cuda/CUDAContext.h, c10/cuda/CUDAException.h). A header of "
        "your own needs its folder in extra_include_paths.",
    ),
    Rule(
        "missing-namespace",
        (
            r"'(?P<name>Tensor|TensorOptions|kFloat32|kFloat|empty_like|zeros_like|empty)' "
            r"(?:was not declared|does not name a type)",
            r"identifier \"(?P<name>Tensor|TensorOptions|kFloat32|kFloat|empty_like|zeros_like|empty)\" is undefined",
            r"(?:unknown type name|use of undeclared identifier) "
            r"'(?P<name>Tensor|TensorOptions|kFloat32|kFloat|empty_like|zeros_like|empty)'",
        ),
        "{name} is a name of PyTorch, and its namespace is missing.",
        "Write torch::{name}.",
    ),
    Rule(
        "missing-std",
        (
            rf"'(?P<name>{STD})' (?:was not declared|does not name a (?:template )?type|has not been declared)",
            rf"'(?P<name>{STD_USED})' (?:was not declared|does not name a (?:template )?type|has not been declared)"
            r".* @.*(?<![\w:.>])(?P=name)\s*[<(]",
            rf"identifier \"(?P<name>{STD})\" is undefined",
            rf"identifier \"(?P<name>{STD_USED})\" is undefined.* @.*(?<![\w:.>])(?P=name)\s*[<(]",
            rf"(?:unknown type name|use of undeclared identifier|no template named) '(?P<name>{STD})'",
            rf"(?:use of undeclared identifier|no template named) '(?P<name>{STD_USED})'.* @.*(?<![\w:.>])(?P=name)\s*[<(]",
        ),
        "{name} belongs to C++'s standard library, and its namespace is missing.",
        "Write std::{name}.",
    ),
    Rule(
        "not-in-torch",
        (
            r"'(?P<name>\w+)' is not a member of '(?P<space>torch|at|c10)\b",
            r"namespace \"(?P<space>torch|at|c10)\" has no member \"(?P<name>\w+)\"",
            r"no (?:member|type|template) named '(?P<name>\w+)' in namespace '(?P<space>torch|at|c10)'",
            r"'(?P<name>\w+)' in namespace '(?P<space>torch|at|c10)' does not name a",
        ),
        "{space} has nothing called {name} that could stand here.{near}",
        "Check the spelling, capitals too: the type is torch::Tensor, functions are small as torch::empty_like, and dtypes "
        "are torch::kFloat32, torch::kFloat64, torch::kInt64.",
    ),
    Rule(
        "undeclared-builtin",
        (
            r"'(?P<name>\w+)' was not declared in this scope",
            r"identifier \"(?P<name>\w+)\" is undefined",
            r"use of undeclared identifier '(?P<name>\w+)'",
        ),
        "{name} is not declared; CUDA's own name is spelt differently.{near}",
        "Kernels know threadIdx, blockIdx, blockDim and gridDim, each with .x, .y and .z.",
        "03",
        named=frozenset(
            {
                *(b.lower() for b in BUILTINS),
                "threadId",
                "blockId",
                "ThreadIdx",
                "BlockIdx",
                "BlockDim",
                "GridDim",
                "thread_idx",
                "block_idx",
                "block_dim",
                "threadDim",
                "blockSize",
                "gridSize",
                "syncthreads",
                "__syncthread",
                "_syncthreads",
                "threadIDx",
                "blockIDx",
            }
        ),
    ),
    Rule(
        "undeclared-of-cuda",
        (
            rf"'{OF_CUDA}' was not declared in this scope",
            rf"identifier \"{OF_CUDA}\" is undefined",
            rf"use of undeclared identifier '{OF_CUDA}'",
        ),
        "{name} is used, and nothing of that name is known here.",
        "Look it up in NVIDIA's documentation. If it is spelt so there, its header is not included, or the CPU back end does not have it.",
    ),
    Rule(
        "undeclared",
        (
            r"'(?P<name>\w+)' was not declared in this scope",
            r"identifier \"(?P<name>\w+)\" is undefined",
            r"use of undeclared identifier '(?P<name>\w+)'",
            r"'(?P<name>\w+)' (?:does not name a type|has not been declared)",
            r"unknown type name '(?P<name>\w+)'",
        ),
        "{name} is used, but nothing of that name is declared before this line.{near}",
        "Check its spelling and case. If it is declared, it must be above this line and in the same or an "
        "enclosing pair of braces; functions too come before they are used.",
    ),
    Rule(
        "no-member",
        (
            r"'(?:const )?(?:class |struct )?(?P<type>[\w:]+)(?: \{aka[^}]*\})?' has no member named '(?P<name>\w+)'",
            r"class \"(?P<type>[\w:]+)\" has no member \"(?P<name>\w+)\"",
            r"no member named '(?P<name>\w+)' in '(?P<type>[\w:]+)'",
        ),
        "{type} has nothing called {name}; some of Python's names are others in C++.{near}",
        "x.shape[0] is x.size(0), x.shape is x.sizes(), x.dtype is x.scalar_type(), x.is_cuda is x.is_cuda().",
    ),
    Rule(
        "mixed-min-max",
        (
            r"no matching function for call to '(?P<name>max|min)\(",
            r"no instance of overloaded function \"(?:std::)?(?P<name>max|min)\" matches",
            r"call of overloaded '(?P<name>max|min)\(",
            r"more than one instance of overloaded function \"(?P<name>max|min)\"",
        ),
        "{name} was given two values of different types, and C++ does not choose for you.",
        "Give both one type: fmaxf(0.0f, v) for float (it turns NaN into 0), or std::max<int64_t>(0, n) for "
        "integers.",
        "07",
    ),
    Rule(
        "wrong-arguments",
        (
            r"no matching function for call to '(?P<name>[^'(]+)\(",
            r"no matching (?:member )?function for call to '(?P<name>\w+)'",
            r"too (?P<amount>few|many) arguments (?:to function|in function call)",
            r"no instance of (?:overloaded )?function \"(?P<name>[^\"]+)\" matches",
        ),
        "A function is called with arguments that none of its forms takes: their number or a type is wrong.",
        "Compare the call with the function's declaration. x.size(0) wants a dimension, x.sizes() gives all of them.",
    ),
    Rule(
        "write-to-const",
        (
            r"assignment of read-only location",
            r"expression must be a modifiable lvalue.* @.*\w\]\s*[-+*/]?=[^=]",
            r"read-only variable is not assignable",
        ),
        "The line writes through a pointer that is declared const, that is, for reading only.",
        "Write to the output instead. If this is the output, drop the const where it is declared.",
        "03",
    ),
    Rule(
        "write-to-const-variable",
        (r"assignment of read-only variable '(?P<name>\w+)'", r"expression must be a modifiable lvalue"),
        "The line assigns to something const.",
        "To compare, write == with two signs. To write to an array, take one that is not declared const.",
        "03",
    ),
    Rule(
        "drops-const",
        (
            r"invalid conversion from 'const (?P<a>[\w ]+)\*' to '(?P<b>[\w ]+)\*'",
            r"argument of type \"const (?P<a>[\w ]+) \*\" is incompatible with parameter of type \"(?P<b>[\w ]+) \*\"",
            r"a value of type \"const (?P<a>[\w ]+) \*\" cannot be used to initialize an entity of type \"(?P<b>\w+) \*\"",
        ),
        "A pointer for reading only (const) goes where a pointer for writing is wanted.",
        "If the function only reads, declare its parameter const too: const {a}*.",
        "03",
    ),
    Rule(
        "not-an-array",
        (
            r"invalid types '(?P<a>[\w: ]+)\[[^']*' for array subscript",
            r"subscripted value is not an array, pointer, or vector",
            r"expression must have pointer-to-object type but it has type \"(?P<a>[^\"]+)\"",
        ),
        "Here one single number is indexed with [ ]; only a pointer or an array has elements.",
        "A pointer has one index: for a matrix, `a[row * columns + column]` and not `a[row][column]`. A parameter "
        "that is to be an array is declared with a star: `const float* a`.",
        "03",
    ),
    Rule(
        "index-type",
        (
            r"invalid types '(?P<name>[^']*)' for array subscript",
            r"expression must have integral or (?:unscoped )?enum type",
            r"array subscript is not an integer",
        ),
        "An array is indexed by something that is not a whole number.",
        "Indices are int64_t (or int); in C++ the division of two integers is one already, so no cast is needed.",
        "03",
    ),
    Rule(
        "half-or-float",
        (
            r"(?:operands to '\?:' have different types|ambiguous \"\?\" operation|"
            r"conditional expression is ambiguous).*\b(?P<name>Half|BFloat16|__half|__nv_bfloat16)\b",
        ),
        "One side of ?: is a {name}, the other a float. Each can become the other, so C++ does not choose.",
        "Make both a float: `condition ? float(in[i]) : 0.0f`. In a template that is right for float as well.",
    ),
    Rule(
        "power-sign",
        (r"invalid operands of types '(?P<a>[^']*)' and '(?P<b>[^']*)' to binary 'operator\^'",),
        "The sign `^` is not a power in C++: it works on the bits of whole numbers, and here it gets a {a} and a {b}.",
        "A power of e is `expf(x)`; another power is `powf(a, b)`, and a square `a * a`.",
        "08",
    ),
    Rule(
        "half-flags",
        (
            r"PyTorch compiles with -D__CUDA_NO_\w+",
            r"no operator \"[^\"]+\" matches these operands\s+operand types are: [^\n]*(?:__half|__nv_bfloat16)",
            r"no suitable conversion function from \"(?:const )?(?:__half|__nv_bfloat16)\" to \"",
            r"no instance of constructor \"(?:__half|__nv_bfloat16)::\w+\" matches the argument list",
        ),
        "PyTorch has nvcc compile with -D__CUDA_NO_HALF_OPERATORS__ and three flags like it: they take operators, and "
        "conversions from and to float, from CUDA's 16-bit types.",
        "Count in float, which is more exact, too: `__half2float(a) * __half2float(b)`, and `__float2half(v)` at the end. "
        "Or use `__hadd`, `__hmul`, `__hlt`, ...",
        "10",
    ),
    Rule(
        "bad-operands",
        (
            r"invalid operands of types '(?P<a>[^']+)' and '(?P<b>[^']+)'",
            r"no match for 'operator(?P<name>[^']+)'",
            r"expression must have (?:arithmetic|arithmetic or unscoped enum) type",
            r"no operator \"(?P<name>[^\"]+)\" matches these operands",
            r"invalid operands to binary expression",
        ),
        "An operator stands between two things of types that it cannot combine.",
        "If one of them is a pointer, a whole array, use one element of it: in[i], not in.",
        "03",
    ),
    Rule(
        "member-of-pointer",
        (
            r"request for member '(?P<name>\w+)' in '[^']*', which is of (?:pointer|non-class) type '(?P<b>[^']*\*)'",
            r"expression must have class type but it has type \"(?P<b>[^\"]*\*)\"",
            r"member reference base type '(?P<b>[^']*\*)' is not a structure or union",
        ),
        "What stands before the point is a pointer, `{b}`: the place of the first element. It has no members, and does not "
        "know how many elements there are.",
        "The tensor knows its sizes, on the host. A kernel gets each as an argument of its own: take that here.",
        "03",
    ),
    Rule(
        "pointer-for-number",
        (
            r"cannot convert '(?P<a>(?:const )?(?:float|double|int|int64_t|half|__half)\s?\*)' to '(?P<b>float|double|int)'(?!.* @.*(?:<<<|>>>|data_ptr))",
            r"argument of type \"(?P<a>[^\"]*\*)\" is incompatible with parameter of type \"(?P<b>float|double|int)\"(?!.* @.*(?:<<<|>>>|data_ptr))",
            r"no (?:known|viable) conversion from '(?P<a>[^']*\*)'[^']*to '(?P<b>float|double|int)'(?!.* @.*(?:<<<|>>>|data_ptr))",
        ),
        "A pointer, `{a}`, stands for a whole array, and one single {b} is wanted here.",
        "Take one element of the array: the name with an index in square brackets behind it.",
        "03",
    ),
    Rule(
        "vector-for-number",
        (
            r"cannot convert '(?P<a>(?:const )?(?:u?int|float|double|half)[234])' to '(?P<b>float|double|int)'",
            r"no suitable conversion function from \"(?P<a>(?:const )?(?:u?int|float|double|half)[234])\" to \"(?P<b>float|double|int)\"",
            r"no (?:known|viable) conversion from '(?P<a>(?:const )?(?:u?int|float|double|half)[234])'[^']*to '(?P<b>float|double|int)'",
        ),
        "A value of type {a} is several numbers at once, and one single {b} is wanted here.",
        "Take its parts one by one, .x, .y and so on, and put the results together again: `make_float4(f(v.x), f(v.y), f(v.z), f(v.w))`.",
        "07",
    ),
    Rule(
        "tensor-as-condition",
        (
            r"could not convert '[^\n]*' from '(?:at|torch)::Tensor' to 'bool'",
            r"conversion function from \"(?:at|torch)::Tensor\" to \"bool\"",
        ),
        "A tensor stands where true or false is asked for; a comparison of a tensor gives a tensor, an answer for each element.",
        "Ask for one value: `x.numel() == 0` whether it has no elements, `x.defined()` whether there is a tensor at all.",
    ),
    Rule(
        "wrong-return",
        (
            r"could not convert '(?P<name>[^']+)' from '(?P<a>[^']+)'(?: \{aka [^}]*\})? to '(?P<b>[^']+)'",
            r"no suitable (?:constructor exists to convert|user-defined conversion|conversion function) from \"(?P<a>[^\"]+)\" to",
            r"cannot convert '(?P<a>[^']+)' to '(?P<b>[^']+)' in return",
        ),
        "A value has one type where another is wanted, often what return gives back.",
        "Return what the function's head promises: a torch::Tensor, not a pointer or a number.",
    ),
    Rule(
        "pointer-cast",
        (
            r"invalid 'static_cast' from type '(?P<a>[^']*\*)' to type '(?P<b>[^']*\*)'",
            r"static_cast from '(?P<a>[^']*\*)' to '(?P<b>[^']*\*)'[^*]*is not allowed",
            r"invalid type conversion.* @.*\bstatic_cast\s*<\s*(?P<b>[^<>]*\*)\s*>",
        ),
        "static_cast converts values; it makes no pointer to {b} of a pointer to another type.",
        "To read the same memory as another type, write `reinterpret_cast<{b}>(...)`.",
        "07",
    ),
    Rule(
        "pointer-type",
        (
            r"cannot convert '(?P<a>[^']*\*)' to '(?P<b>[^']*\*)'",
            r"argument of type \"(?P<a>[^\"]*\*)\" is incompatible with parameter of type \"(?P<b>[^\"]*\*)\"",
        ),
        "A pointer to one type ({a}) goes where a pointer to another ({b}) is wanted.",
        "Give data_ptr<...>() the type of the kernel's parameter, and check the tensor's dtype before the launch.",
        "03",
    ),
    Rule(
        "two-bindings",
        (
            r"redefinition of '[^']*PyInit_\w+",
            r"redefinition of '\w*pybind11_init_\w+",
            r"multiple definition of [`']PyInit_",
            r"function \"[^\"]*(?:PyInit|pybind11_init)_\w+[^\"]*\" has already been defined",
        ),
        "The file has a PYBIND11_MODULE of its own, and load_inline writes one as well, from functions: the module is made twice.",
        "Take the PYBIND11_MODULE away (or leave functions away: load_inline then writes none).",
        anywhere=True,
    ),
    Rule(
        "defined-twice",
        (
            r"redefinition of '(?:[\w:<>]+[ *&]+)*(?P<name>\w+)\(",
            r"function \"(?P<name>[^\"]+)\" has already been defined",
            r"multiple definition of [`'](?P<name>[^`'(]+)",
        ),
        "{name} is defined twice.",
        "Keep one definition. If cuda_sources defines it, cpp_sources has only its declaration: the head with a "
        "semicolon.",
    ),
    Rule(
        "redeclared",
        (
            r"conflicting declaration '(?P<name>[^']+)'",
            r"redeclaration of '(?P<name>[^']+)'",
            r"redefinition of '(?P<name>\w+)'",
            r"\"(?P<name>\w+)\" has already been declared in the current scope",
        ),
        "{name} is declared a second time in the same pair of braces.",
        "Give the second variable another name, or drop its type to assign to the first.",
    ),
    Rule(
        "old-standard",
        (r"C\+\+(?P<a>17|20) or later compatible compiler is required",),
        "PyTorch's headers need C++{a} or later, and the file asks for an older standard.",
        "Leave the -std flag away: load_inline gives the one that PyTorch needs.",
    ),
    Rule(
        "pointer-to-vectors",
        (
            r"but \w+\* at::TensorBase::(?:mutable_|const_)?data_ptr<(?P<type>\w+)>\(\)",
            r"undefined symbol: \w*TensorBase\d+(?:mutable_|const_)?data_ptrI\d+(?P<type>[a-z]+\d)E",
        ),
        "A tensor has no data_ptr<{type}>: the type between the brackets is that of its elements, which PyTorch knows.",
        "Take the pointer to its elements, and take that as one to {type}: `reinterpret_cast<const {type}*>(x.data_ptr<float>())`.",
    ),
    Rule(
        "undefined-symbol",
        (
            r"but (?P<name>.+?) is declared and never defined",
            r"undefined symbol: (?P<name>\S+)",
            r"undefined reference to [`'](?P<name>[^`']+)'",
        ),
        "The function {name} is declared{declared}, but no definition has exactly these parameter types.",
        "Make the declaration in cpp_sources and the definition in cuda_sources equal, letter by letter: name, "
        "order and types (double is not float, int64_t is not int).",
    ),
)
