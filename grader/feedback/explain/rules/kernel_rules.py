"""Kernels, launches, host and device."""

from grader.domain.installation import COURSE
from grader.feedback.explain.rule import Rule

RULES = (
    Rule(
        "launch-configuration",
        (
            r"a launch needs at least a grid and a block",
            r"too few arguments in kernel launch configuration",
            r"too few (?:execution )?configuration arguments",
            r"no matching function for call to 'simt::Config",
            r"no (?:matching )?function for call to '(?:simt::)?Config",
            r"too few arguments in function call.* @.*<<<[^,>]*>>>",
        ),
        "A launch has <<<...>>> with too few numbers.",
        "At least two: <<<blocks, threads>>>; best with 0, stream after them.",
        "03",
    ),
    Rule(
        "launch-brackets",
        (
            r" @.*\b\w+\s?(?:<<(?!<)[^<>]*>{2,3}|<<<[^<>]*>>(?!>))\s?\(",
            r"expected a \">>>\"",
            r"(?:no matching function for call to|cannot be called with).* @.*\b\w+\s?<(?!<)[^<>]*,[^<>]*>\s?\(",
            r"(?:subscripted|pointer to a complete object).* @.*\b\w+\s?\[[^][]*,[^][]*\]\s?\(",
            r"expected primary-expression before '<' token",
        ),
        "A launch has three angle brackets on each side of its grid and block, and this one has other brackets.",
        "Write kernel<<<blocks, threads>>>(...): open with <<<, close with >>>.",
        "03",
    ),
    Rule(
        "launch-arguments",
        (
            r"the kernel takes \((?P<want>.*)\) but is launched with \((?P<got>(?!(?:(?! @).)*Tensor)(?:(?! @).)*)\)",
            r"too (?P<amount>few|many) arguments in function call.* @.*<<<",
            r"no matching function for call to object of type 'TypedLauncher<(?P<want>.*)>'",
        ),
        "The launch hands over other arguments than the kernel has parameters.",
        "Compare the two lists one by one, in order: number, pointer or value, element type.",
        "03",
    ),
    Rule(
        "tensor-for-pointer",
        (
            r"the kernel takes \((?P<want>.*)\) but is launched with \((?P<got>(?:(?! @).)*Tensor(?:(?! @).)*)\)",
            r"no suitable conversion function from \"(?:at|torch)::Tensor\" to \"(?P<want>[^\"]*\*)\"",
        ),
        "A tensor is handed to a kernel; a kernel takes plain pointers and numbers.",
        "Hand over x.data_ptr<float>(), and the sizes that the kernel needs as int64_t.",
        "03",
    ),
    Rule(
        "host-variable",
        (r"identifier ['\"](?P<name>[\w:]+)['\"] is undefined in device code",),
        "{name} is a variable of the CPU, and a kernel runs on the GPU, where it does not exist.",
        "Pass it to the kernel as an argument. What never changes may be constexpr, if it is one number, or "
        "__constant__, if it is a table.",
        "03",
    ),
    Rule(
        "shared-with-a-value",
        (r"initializer not allowed for __shared__ variable",),
        "Shared memory begins without a value: it cannot be given one where it is declared.",
        "Declare it without `= ...`, let the threads write it, and put a barrier before it is read.",
        "06",
    ),
    Rule(
        "kernel-and-device",
        (r"illegal combination of memory qualifiers",),
        "A function is either a kernel, __global__, or called by kernels, __device__; never both.",
        "Take __device__ away from what is launched with <<<...>>>.",
        "03",
    ),
    Rule(
        "not-a-kernel",
        (
            r"a (?:host|__device__) function call cannot be configured",
            r"kernel call to non-global function '?(?P<name>\w+)",
            r"(?P<name>\w+) is launched with <<<\.\.\.>>> but is not a kernel",
            r"is not a __global__ function",
        ),
        "This function is launched with <<<...>>>, and it is not a kernel: __global__ is missing.",
        "Put __global__ before its void.",
        "03",
        anywhere=True,
    ),
    Rule(
        "kernel-returns",
        (
            r"a __global__ function must have a void return type",
            r"kernel function type '.*' must have void return type",
            r"a kernel must return void",
        ),
        "A kernel returns nothing: thousands of threads run it, and nobody waits for a value.",
        "Make it __global__ void, and write results through a pointer.",
        "03",
    ),
    Rule(
        "register-twice",
        (r"Duplicate definition of variable '(?P<name>\w+)'",),
        "Inline assembler declares the register {name}, and its text gets into one kernel more than once: a function is "
        "put in place at each of its calls.",
        'Put the text in brackets, in which each copy has registers of its own: asm("{ .reg .f32 t; ... }" ...).',
        "13",
    ),
    Rule(
        "half-of-the-host",
        (r"(?P<name>_Float16|__bf16) is a type of the host's compiler that nvcc has no device code for",),
        "{name} belongs to the compiler of the host. In a kernel CUDA's own types are used, which nvcc knows.",
        "Write __half, of cuda_fp16.h, or __nv_bfloat16, of cuda_bf16.h.",
        "13",
    ),
    Rule(
        "vector-of-the-host",
        (r"['\"](?P<name>[^'\"]+)['\"][^\n]* is a vector, which is not supported in device code",),
        "{name} is a vector type of the host's compiler (vector_size). nvcc has none in a kernel.",
        "Use CUDA's own: float4, int2 and their like, and count with .x, .y, .z, .w.",
        "09",
    ),
    Rule(
        "value-from-void",
        (
            r"return-statement with a value, in function returning 'void'",
            r"void function '(?P<name>\w+)' should not return a value",
            r"return value type does not match the function type",
        ),
        "A function that returns void, as every kernel does, hands back a value here. A kernel returns nothing: its "
        "threads store their results.",
        "In a kernel store the value through the output's pointer, out[i] = value; in a host function that shall "
        "return it, write the value's type in place of void.",
        "03",
    ),
    Rule(
        "kernel-called",
        (r"a __global__ function call must be configured", r"is a kernel and must be launched"),
        "A kernel is called like a function; nothing says how many blocks and threads to run.",
        "Launch it: kernel<<<blocks, threads, 0, stream>>>(arguments).",
        "03",
    ),
    Rule(
        "shared-size",
        (
            r"storage size of '(?P<name>\w+)' isn't constant",
            r"array bound is not an integer constant",
            r"expression must have a constant value",
            r"a variable length array cannot have static storage duration",
            r"variable length array declaration",
        ),
        "The size of an array in a kernel is not known when it is compiled.",
        "Use a constexpr size, or extern __shared__ float tile[]; with the number of bytes as the launch's third "
        "number: <<<blocks, threads, bytes, stream>>>.",
        "06",
    ),
    Rule(
        "shared-too-large",
        (
            r"uses too much shared data \((?P<name>0x[0-9a-f]+ bytes)",
            r"too much shared (?:data|memory)",
            r"its __shared__ variables take more than 48 KB",
        ),
        "The block's __shared__ arrays are larger together than a block may have: 48 KB (0xc000 bytes).",
        "Make the tile smaller. More needs extern __shared__ and cudaFuncSetAttribute.",
        "09",
    ),
    Rule(
        "local-memory",
        (r"local-memory", r"needs more than the 256 KB that a thread has"),
        "The variables of one thread do not fit: an array of its own is too large, or a function calls itself without end.",
        "A large array belongs into global memory, one that a block shares into __shared__; a function that calls itself needs a "
        "case in which it does not.",
        "09",
    ),
    Rule(
        "asm-operand",
        (r"asm operand type (?:size\(\d+\) )?does not match type/size implied by constraint",),
        "An operand of asm() is of another type than its letter says: r is a whole number of 32 bits, l one of 64 or a pointer, "
        "h one of 16, f a float, d a double.",
        "Convert it, or take its bits: __float_as_int(v), reinterpret_cast<unsigned&>(pair), "
        "(unsigned)__cvta_generic_to_shared(p).",
        "13",
    ),
    Rule(
        "shared-of-two-types",
        (r"declaration is incompatible with (?:previous )?['\"](?P<name>\w+)['\"]",),
        "Two kernels declare {name}, the block's dynamic shared memory, with different types: it is one variable of the file.",
        "Give each its own name; or declare it once as `extern __shared__ unsigned char bytes[]` and cast: (double*)bytes.",
        "09",
    ),
    Rule(
        "kernel-in-class",
        (r"__global__ function or function template cannot be a member function",),
        "A kernel is a member of a class, which CUDA does not allow, not for static ones either.",
        "Write the kernel outside of the class, and give it what it needs of an object as arguments.",
        "03",
    ),
    Rule(
        "lambda-in-launch",
        (
            r"annotation on lambda requires --extended-lambda",
            r"closure type for a lambda (?:\(.*\) )?cannot be used in the template argument type",
            r"The closure type for a lambda",
        ),
        "A lambda of the host goes to a kernel. nvcc takes one only with its flag --extended-lambda, and marked __device__.",
        "Write it as a struct outside of the function, with `__device__ float operator()(float v) const`; or give load_inline "
        'extra_cuda_cflags=["--extended-lambda"] (for a .cu program: NVCC_APPEND_FLAGS=--extended-lambda) and write '
        "[=] __device__ (float v) { ... }.",
        "03",
    ),
    Rule(
        "local-type-in-launch",
        (
            r"type defined inside a __host__ function (?:\(.*\) )?cannot be used in the template argument type",
        ),
        "The type of an argument is defined within a function of the host, where a kernel's template cannot use it.",
        "Define the struct outside of the function.",
        "03",
    ),
    Rule(
        "parameters-too-large",
        (r"[Ff]ormal parameter space overflowed",),
        "The parameters of a kernel are larger together than they may be: 32,764 bytes.",
        "Put the data into global memory (a tensor) or into a __constant__ variable, and hand over a pointer.",
        "09",
    ),
    Rule(
        "constant-too-large",
        (r"uses too much global constant data",),
        "The __constant__ variables of a program have 64 KB (0x10000 bytes) together.",
        "What is larger goes into global memory: a tensor that the kernel gets as const float* __restrict__.",
        "09",
    ),
    Rule(
        "thread-local-in-kernel",
        (r"cannot use thread_local specifier",),
        "thread_local is for threads of the CPU. A plain variable in a kernel is each GPU thread's own already.",
        "Leave thread_local out; what is to last from launch to launch belongs in global memory.",
        "03",
    ),
    Rule(
        "exception-in-kernel",
        (
            r"a kernel throws an exception or asks for a type at run time",
            r"device code does not support exception handling",
            r"(?:typeid|dynamic_cast)[^\n]* (?:is )?not (?:allowed|supported) in device code",
        ),
        "A kernel throws or catches an exception, or asks for a type at run time (typeid, dynamic_cast). Device code "
        "has neither.",
        "Stop with assert() or __trap(), or write what went wrong into memory that the host looks at; leave types to "
        "templates.",
        "03",
    ),
    Rule(
        "host-from-device",
        (
            r"calling a (?:constexpr )?__host__ function(?:\([\"'](?P<name>[^\"']+)[\"']\))? from a "
            r"__(?:global|device)__ function",
            r"reference to __host__ function '(?P<name>[^']+)' in __(?:global|device)__ function",
            r"a kernel calls (?P<name>[\w:]+), which is no device code",
        ),
        "Code on the GPU calls a function that exists for the CPU only ({name}).",
        "Put __device__ before a function of your own. The standard library's containers and torch's tensors "
        "do not exist in a kernel: take plain arrays, pointers, and CUDA's math functions.",
        "03",
    ),
    Rule(
        "device-from-host",
        (
            r"calling a __device__ function(?:\([\"'](?P<name>[^\"']+)[\"']\))? from a __host__ function",
            r"reference to __device__ function '(?P<name>[^']+)' in __host__ function",
        ),
        "Host code calls {name}, which exists on the GPU only.",
        "Call it in a kernel. A function needed on both sides is marked __host__ __device__. To wait for the GPU "
        "on the host, use torch.cuda.synchronize() in Python.",
        "03",
    ),
    Rule(
        "host-touches-device",
        (r"host-touches-device-memory", r"host code (?:reads|writes|touches) .* directly"),
        "Code on the CPU reads or writes GPU memory through a pointer; often a kernel called without <<<...>>>.",
        "Launch the kernel: kernel<<<blocks, threads, 0, stream>>>(arguments). To look at values on the host, "
        "copy the tensor first: x.cpu().",
        "03",
    ),
    Rule(
        "copy-race",
        (r"copy-race", r"to which an asynchronous copy was begun and not (?:waited for|committed)"),
        "The bytes of an asynchronous copy arrive at some time after it was begun; here a thread uses their place before.",
        "Commit the copies to a group (__pipeline_commit, cp.async.commit_group), wait for it "
        "(__pipeline_wait_prior, cp.async.wait_group), and only then __syncthreads().",
        "13",
    ),
    Rule(
        "illegal-address",
        (
            r"an illegal memory access was encountered",
            r"Invalid __global__ (?:read|write)",
            r"cudaErrorIllegalAddress",
        ),
        "A thread touched memory that is not its own: an index beyond the tensor, or a pointer to CPU memory.",
        "Check the guard (if (i < n)) and that every tensor is on the GPU (x.is_cuda()). The error shows late: "
        f"{COURSE} run FILE names the thread and the line at once.",
        "06",
    ),
    Rule(
        "grid-along-y",
        (r"gridDim\.y and gridDim\.z are at most",),
        "The launch has more blocks along y or z than a grid can have there: 65,535 at most.",
        "Let what may be many, such as rows, lie along x, which has room for 2,147,483,647 blocks; the kernel then reads "
        "blockIdx.x.",
        "03",
    ),
    Rule(
        "launch-invalid",
        (
            r"invalid configuration argument",
            r"(?<!['\"])cudaErrorInvalidConfiguration",
            r"<<<[^<>]*>>>: (?:a block has at most|the (?:grid|block) is empty)",
        ),
        "The launch's sizes are not allowed: a block of more than 1024 threads, a grid or block of 0, or more than 65,535 "
        "blocks along y or z.",
        "The first value between <<< and >>> is the grid, the second the block: a block's x * y * z is 1024 at most, and "
        "no size is 0, which a grid's is if there are no elements.",
        "03",
    ),
    Rule(
        "host-code",
        (
            r"<<<[^<>]*>>>: (?P<name>argument \d+ holds the address of a function)",
            r"<<<[^<>]*>>>: (?P<name>argument \d+ is an object with virtual functions)",
        ),
        "The launch was refused: {name} that the host has made, and a GPU has its functions at other addresses.",
        "Name the function in the kernel, or pass a functor or a template's parameter. A pointer to a function is read from a "
        "__device__ variable by cudaMemcpyFromSymbol; an object with virtual functions is made in a kernel.",
        "03",
    ),
    Rule(
        "host-code-read",
        (r"host-code", r"which leads nowhere on a GPU"),
        "The host has put the address of a function, or an object with virtual functions, into memory that a kernel reads: a GPU "
        "has its functions at other addresses.",
        "Make the object in a kernel, with new or placement new, or choose the function there. A pointer to a function can be read "
        "from a __device__ variable by cudaMemcpyFromSymbol.",
        "03",
    ),
    Rule(
        "launch-refused",
        (r"<<<[^<>]*>>>: (?P<name>[^\n]+?)\.? @",),
        "The launch was refused: {name}.",
        "Look at what stands between <<< and >>>: grid, block, and bytes of dynamic shared memory.",
        "03",
    ),
    Rule(
        "invalid-argument",
        (r"CUDA error: invalid argument", r"cudaErrorInvalidValue"),
        "A call of CUDA, or a launch, was given something that it does not take.",
        "Look at what the calls before this place are given: a null pointer, the size or direction of a copy, or more "
        "dynamic shared memory than a block may have.",
        "03",
    ),
    Rule(
        "too-many-resources",
        (r"too many resources requested for launch", r"cudaErrorLaunchOutOfResources"),
        "The block is too large for this kernel: its threads need more registers or shared memory than there are.",
        "Use a smaller block, or say __launch_bounds__(threads) at the kernel.",
        "09",
    ),
    Rule(
        "misaligned-address",
        (r"misaligned address",),
        "A vector such as float4 was read or written at an address that is not a multiple of its size.",
        "Take float4 only if the pointer and each row's length are multiples of 16 bytes; else plain floats.",
        "09",
    ),
    Rule(
        "device-assert",
        (r"device-side assert triggered",),
        "An assert in a kernel failed, often an index out of range in one of torch's own kernels.",
        "Run on the CPU, or with CUDA_LAUNCH_BLOCKING=1, to see which call it was.",
        "06",
    ),
    Rule(
        "launch-timeout",
        (r"the launch timed out and was terminated",),
        "The kernel ran longer than the display's driver allows, often a loop without an end.",
        "Check that every loop's variable reaches its end, also for threads beyond the last element.",
        "06",
    ),
)
