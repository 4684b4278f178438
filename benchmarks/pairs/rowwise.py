"""Norms, softmax, scans: a result that needs its whole row."""

from benchmarks.pairs.kit import COARSE, Pair, reference, rows, torch_one

X = "[torch.randn(37, 129)]"
AFFINE = """    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))

"""
MEAN = """    float sum = 0.f, square = 0.f;
    for (int64_t i = 0; i < n; ++i) sum += r[i];
    const float mean = sum / n;
    for (int64_t i = 0; i < n; ++i) square += (r[i] - mean) * (r[i] - mean);
    const float scale = a * rsqrtf(square / n + 1e-5f);
    for (int64_t i = 0; i < n; ++i) o[i] = (r[i] - mean) * scale * w[i] + b[i];"""
ROOT = """    float square = 0.f;
    for (int64_t i = 0; i < n; ++i) square += r[i] * r[i];
    const float scale = rsqrtf(square / n + a);
    for (int64_t i = 0; i < n; ++i) o[i] = r[i] * scale * w[i];"""
LENGTH = """    float square = 0.f;
    for (int64_t i = 0; i < n; ++i) square += r[i] * r[i];
    const float scale = 1.f / fmaxf(sqrtf(square), 1e-12f);
    for (int64_t i = 0; i < n; ++i) o[i] = a * r[i] * scale;"""
SOFTMAX = """    float most = -INFINITY, sum = 0.f;
    for (int64_t i = 0; i < n; ++i) most = fmaxf(most, r[i]);
    for (int64_t i = 0; i < n; ++i) sum += expf(r[i] - most);
    for (int64_t i = 0; i < n; ++i) o[i] = a * expf(r[i] - most) / sum;"""
LOG_SOFTMAX = """    float most = -INFINITY, sum = 0.f;
    for (int64_t i = 0; i < n; ++i) most = fmaxf(most, r[i]);
    for (int64_t i = 0; i < n; ++i) sum += expf(r[i] - most);
    for (int64_t i = 0; i < n; ++i) o[i] = r[i] - most - a * logf(sum);"""
SCAN = """    float sum = 0.f;
    for (int64_t i = 0; i < n; ++i) { sum += r[i]; o[i] = a * sum; }"""
BACKWARDS = """    float sum = 0.f;
    for (int64_t i = n - 1; i >= 0; --i) { sum += r[i]; o[i] = a * sum; }"""
PRODUCT = """    float product = a;
    for (int64_t i = 0; i < n; ++i) { product *= r[i]; o[i] = product; }"""
SCALE = ((", 1.0)", ", 0.97)"),)

LAYER = reference("return self.norm(x)", X, "self.norm = nn.LayerNorm(n)", "129", "n")
RMS = reference(
    "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight", X,
    "self.weight = nn.Parameter(torch.ones(n))", "129", "n",
)  # fmt: skip
BATCH_TRAIN = reference(
    "return self.norm(x)", "[torch.randn(8, 6, 5, 5)]", "self.norm = nn.BatchNorm2d(n)", "6", "n"
)
MASKED = reference(
    "return torch.cumsum(x * mask, dim=1)".replace("return", "x, mask|return"),
    "[torch.randn(9, 65), torch.randint(0, 2, (9, 65)).bool()]",
)
CAUSAL = reference(
    "return torch.softmax(x.masked_fill(self.mask == 0, float('-inf')), dim=-1)", "[torch.randn(4, 33, 33)]",
    "self.register_buffer('mask', torch.tril(torch.ones(n, n)))", "33", "n",
)  # fmt: skip
GROUP = reference(
    "return self.norm(x)", "[torch.randn(3, 8, 6, 7)]", "self.norm = nn.GroupNorm(4, n)", "8", "n"
)
INSTANCE = reference(
    "return self.norm(x)", "[torch.rand(3, 4, 9, 9)]", "self.norm = nn.InstanceNorm2d(n)", "4", "n"
)
HALF = reference("return torch.softmax(x, dim=-1)", "[0.1 * torch.randn(16, 65).half()]")

PAIRS = [
    Pair(
        "layer_norm", LAYER, rows("pair_layer_norm", MEAN, call="self.weight, self.bias, 1.0", init=AFFINE),
        (("* w[i] + b[i]", "* w[i]"),), COARSE,
    ),
    Pair(
        "rms_norm", RMS,
        rows("pair_rms_norm", ROOT, call="self.weight, self.weight, 1e-6", init=AFFINE),
        (("self.weight, self.weight, 1e-6", "self.weight, self.weight, 1e-1"),), COARSE,
    ),
    Pair("l2_norm", reference("return F.normalize(x, dim=-1)", X), rows("pair_l2_norm", LENGTH), SCALE, COARSE),
    Pair("softmax", reference("return torch.softmax(x, dim=-1)", X), rows("pair_softmax", SOFTMAX), SCALE, COARSE),
    Pair(
        "log_softmax", reference("return torch.log_softmax(x, dim=-1)", X),
        rows("pair_log_softmax", LOG_SOFTMAX), SCALE, COARSE,
    ),
    Pair("cumsum", reference("return torch.cumsum(x, dim=-1)", X), rows("pair_cumsum", SCAN), SCALE, COARSE),
    Pair(
        "reverse_cumsum", reference("return torch.cumsum(x.flip(-1), dim=-1).flip(-1)", X),
        rows("pair_reverse_cumsum", BACKWARDS), SCALE, COARSE,
    ),
    Pair(
        "cumprod", reference("return torch.cumprod(x, dim=-1)", "[1 + 0.1 * torch.rand(19, 33)]"),
        rows("pair_cumprod", PRODUCT), SCALE, COARSE,
    ),
    Pair(
        "masked_cumsum", MASKED, torch_one(MASKED, ("x * mask", "torch.where(mask, x, 0.0)")),
        (("torch.where(mask, x, 0.0)", "x"),), (("torch.where(mask, x, 0.0)", "(x * mask).half().float()"),),
        style="torch",
    ),
    Pair(
        "batch_norm_training", BATCH_TRAIN,
        torch_one(
            BATCH_TRAIN,
            ("self.norm(x)",
             "F.batch_norm(x, self.norm.running_mean, self.norm.running_var, self.norm.weight,\n"
             "            self.norm.bias, True, 0.1, 1e-5)"),
        ),
        (("self.norm.running_mean, self.norm.running_var", "None, None"),),
        (("F.batch_norm(x,", "F.batch_norm(x.half().float(),"),), style="torch",
    ),
    Pair(
        "causal_softmax", CAUSAL,
        torch_one(CAUSAL, ("x.masked_fill(self.mask == 0, float('-inf'))", "x + torch.log(self.mask)")),
        (("torch.log(self.mask)", "0 * self.mask"),), (("return torch.softmax(x +", "return torch.softmax(x.half() +"),),
        style="torch",
    ),
    Pair(
        "group_norm", GROUP,
        torch_one(GROUP, ("self.norm(x)", "F.group_norm(x, 4, self.norm.weight, self.norm.bias)")),
        (("F.group_norm(x, 4,", "F.group_norm(x, 2,"),), (("F.group_norm(x,", "F.group_norm(x.half().float(),"),),
        style="torch",
    ),
    Pair(
        "instance_norm", INSTANCE,
        torch_one(
            INSTANCE,
            ("return self.norm(x)",
             "mean = x.mean((2, 3), keepdim=True)\n        centred = x - mean\n"
             "        return centred * torch.rsqrt(centred.pow(2).mean((2, 3), keepdim=True) + 1e-5)"),
        ),
        (("+ 1e-5", "+ 1e-2"),), (("centred = x - mean", "centred = x.half().float() - mean"),), style="torch",
    ),
    Pair(
        "softmax_half", HALF,
        torch_one(HALF, ("torch.softmax(x, dim=-1)", "torch.softmax(x.float(), dim=-1).half()")),
        (("dim=-1).half()", "dim=0).half()"),), (("torch.softmax(x.float(), dim=-1)", "torch.softmax(x.float(), dim=-1).bfloat16()"),),
        style="torch", low_is="precision",
    ),
]  # fmt: skip
