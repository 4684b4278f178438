"""Losses and small nets: several inputs and outputs, labels, state, what is not a tensor."""

from benchmarks.pairs.kit import HEAD, Edits, Pair, inline, reference, torch_one

XY = "[torch.randn(33, 65), torch.randn(33, 65)]"
HALVES: Edits = (("x = x + 0", "x = x.half().float()"),)


def _torch(
    name: str, ref: str, edit: tuple[str, str], wrong: tuple[str, str], low: tuple[str, str], **more: str
) -> Pair:
    return Pair(name, ref, torch_one(ref, edit), (wrong,), (low,), style=more.pop("style", "torch"), **more)  # type: ignore[arg-type]


MSE = """
__global__ void square_error_kernel(const float* x, const float* y, float* out, int64_t n) {
    __shared__ float part[128];
    float sum = 0.f;
    for (int64_t i = threadIdx.x; i < n; i += 128) sum += (x[i] - y[i]) * (x[i] - y[i]);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int width = 64; width; width /= 2) {
        if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = part[0] / n;
}

torch::Tensor square_error(torch::Tensor x, torch::Tensor y) {
    auto out = torch::empty({}, x.options());
    square_error_kernel<<<1, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>(), x.numel());
    return out;
}
"""
LABELS = reference("x, y|return F.cross_entropy(x, y)", "[torch.randn(65, 10), torch.randint(0, 10, (65,))]")
HINGE = reference(
    "x, y|return torch.clamp(1 - x * y, min=0).mean(1)",
    "[torch.rand(33, 9), torch.randint(0, 2, (33, 1)) * 2 - 1]",
)
COSINE = reference("x, y|return 1 - F.cosine_similarity(x, y, dim=1)", XY)
DIVERGENCE = reference(
    "x, y|return F.kl_div(torch.log(x), y, reduction='none').sum(1)",
    "[torch.rand(33, 9).softmax(1), torch.rand(33, 9).softmax(1)]",
)
MLP = reference(
    "return self.last(torch.tanh(self.first(x)))", "[torch.randn(9, 33)]",
    "self.first = nn.Linear(n, 40)\nself.last = nn.Linear(40, 7)", "33", "n",
)  # fmt: skip
NESTED = reference(
    "for layer in self.layers:\n    x = torch.relu(layer(x))\nreturn {'last': x, 'parts': (x.sum(1), [x.mean(1), 3])}",
    "[torch.randn(9, 16)]", "self.layers = nn.ModuleList([nn.Linear(n, n) for _ in range(3)])", "16", "n",
)  # fmt: skip
LSTM = reference(
    "out, state = self.lstm(x, (self.h0, self.c0))\nreturn out[:, -1], state[1]", "[torch.rand(5, 7, 6)]",
    "self.lstm = nn.LSTM(6, n, 2, batch_first=True)\nself.h0 = torch.randn(2, 5, n)\nself.c0 = torch.randn(2, 5, n)",
    "8", "n",
)  # fmt: skip
GRU = reference(
    "x, h|return self.gru(x, h)",
    "[torch.rand(7, 5, 6), torch.rand(1, 5, 8)]",
    "self.gru = nn.GRU(6, n)",
    "8",
    "n",
)
ATTENTION = reference(
    "q, k, v|w = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, dim=-1)\nreturn w @ v",
    "[torch.randn(2, 4, 17, 16), torch.randn(2, 4, 17, 16), torch.randn(2, 4, 17, 16)]",
)
DROPOUT = reference(
    "return self.net(x)", "[torch.randn(9, 16)]",
    "self.net = nn.Sequential(nn.Linear(16, n), nn.ReLU(), nn.Dropout(0.5), nn.Linear(n, 4))", "24", "n",
)  # fmt: skip
EMBED = reference(
    "tokens, table, scale|return scale * F.embedding(tokens, table)",
    "[torch.randint(0, 11, (5, 7)), torch.randn(11, 6), 2.5]",
)
ARGMAX = reference("x|return torch.argmax(x, dim=1)", "[torch.randn(33, 17)]")
TOPK = reference("x|return torch.topk(x, 3, dim=1)", "[torch.randn(33, 17)]")
NAMED = reference(
    "x, scale=1.0, shift=None|return x * scale + shift",
    "{'x': torch.randn(9, 17), 'shift': torch.randn(17), 'scale': 3.0}",
)
AVERAGE = reference(
    "self.average.mul_(0.9).add_(x.mean(0), alpha=0.1)\nreturn x - self.average", "[torch.randn(9, 17)]",
    "self.register_buffer('average', torch.zeros(n))", "17", "n",
)  # fmt: skip
PLACE = reference("x, y|x.mul_(y)\nreturn x.sum(1)", "[torch.randn(9, 17), torch.rand(9, 17)]")
OPERATOR = f"""{HEAD}

@torch.library.custom_op("pairs::cube", mutates_args=())
def cube(x: torch.Tensor) -> torch.Tensor:
    return x * x * x


class ModelNew(nn.Module):
    def forward(self, x):
        x = x + 0
        return torch.ops.pairs.cube(x)
"""
ORDER = reference(
    "return self.second(torch.relu(self.first(x)))", "[torch.rand(9, 16)]",
    "self.first = nn.Linear(16, n)\nself.second = nn.Linear(n, 4)", "24", "n",
)  # fmt: skip

PAIRS = [
    Pair(
        "mse_loss", reference("x, y|return F.mse_loss(x, y)", XY),
        inline("pair_mse", MSE, "torch::Tensor square_error(torch::Tensor x, torch::Tensor y);",
               "    def forward(self, x, y):\n        x = x.contiguous()\n        return extension.square_error(x, y.contiguous())\n"),
        (("x, y.contiguous()", "x, x.contiguous()"),),
        (("x = x.contiguous()", "x = x.half().float()"), ("y.contiguous())", "y.half().float()).half().float()")),
        low_is="wrong_output",  # one number cannot show that all of them are a little off
    ),
    _torch("cross_entropy", LABELS, ("F.cross_entropy(x, y)", "F.nll_loss(F.log_softmax(x, 1), y)"),
           ("F.nll_loss(F.log_softmax(x, 1), y)", "F.nll_loss(F.log_softmax(x, 0), y)"),
           ("F.nll_loss(F.log_softmax(x, 1), y)", "F.nll_loss(F.log_softmax(x.half(), 1), y).float()"), low_is="wrong_output"),
    _torch("hinge", HINGE, ("torch.clamp(1 - x * y, min=0)", "torch.relu(1 - x * y)"), ("1 - x * y", "1 - x"), ("1 - x * y", "1 - x.half().float() * y")),
    _torch("cosine_loss", COSINE, ("F.cosine_similarity(x, y, dim=1)", "(F.normalize(x) * F.normalize(y)).sum(1)"),
           ("1 - ", "2 - "), ("F.normalize(x)", "F.normalize(x).half().float()")),
    _torch("kl_divergence", DIVERGENCE, ("F.kl_div(torch.log(x), y, reduction='none')", "(y * (torch.log(y) - torch.log(x)))"),
           ("torch.log(y) - torch.log(x)", "torch.log(x) - torch.log(y)"), ("torch.log(x)", "torch.log(x.half().float())")),
    _torch("mlp", MLP, ("self.last(torch.tanh(self.first(x)))", "F.linear(torch.tanh(self.first(x)), self.last.weight, self.last.bias)"),
           ("torch.tanh", "torch.sigmoid"), ("self.first(x)", "self.first(x.half().float())")),
    _torch("nested_results", NESTED, ("torch.relu(layer(x))", "F.linear(x, layer.weight, layer.bias).clamp(min=0)"),
           ("x.mean(1), 3", "x.mean(1), 4"), ("F.linear(x,", "F.linear(x.half().float(),")),
    _torch("lstm_hidden", LSTM, ("out[:, -1], state[1]", "out.select(1, 6), state[1]"), ("(self.h0, self.c0)", "(self.c0, self.h0)"),
           ("self.lstm(x,", "self.lstm(x.half().float(),")),
    _torch("gru_hidden", GRU, ("return self.gru(x, h)", "out, last = self.gru(x, h)\n        return out, last"),
           ("return out, last", "return out, h"), ("self.gru(x, h)", "self.gru(x.half().float(), h)")),
    _torch("attention", ATTENTION, ("w = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5, dim=-1)\n        return w @ v",
                                    "return F.scaled_dot_product_attention(q, k, v)"),
           ("(q, k, v)\n", "(q, k, v, is_causal=True)\n"), ("attention(q, k, v)", "attention(q.half(), k.half(), v.half()).float()")),
    _torch("dropout_net", DROPOUT, ("self.net(x)", "self.net[3](torch.relu(self.net[0](x)))"), ("torch.relu", "torch.tanh"),
           ("self.net[0](x)", "self.net[0](x.half().float())")),
    _torch("embedding", EMBED, ("scale * F.embedding(tokens, table)", "table[tokens] * scale"), ("* scale", "* 2"), ("table[tokens]", "table.half().float()[tokens]")),
    _torch("argmax", ARGMAX, ("torch.argmax(x, dim=1)", "x.max(dim=1).indices"), ("dim=1", "dim=0"), ("x.max", "(x * 4).round().max"),
           wrong_is="wrong_shape", low_is="wrong_output"),
    _torch("topk", TOPK, ("torch.topk(x, 3, dim=1)", "tuple(t[:, :3] for t in x.sort(dim=1, descending=True))"),
           ("descending=True", "descending=False"), ("x.sort", "x.half().float().sort")),
    _torch("named_arguments", NAMED, ("x * scale + shift", "torch.add(shift, x, alpha=scale)"), ("alpha=scale", "alpha=1"), ("(shift, x,", "(shift, x.half().float(),")),
    _torch("moving_average", AVERAGE, ("self.average.mul_(0.9).add_(x.mean(0), alpha=0.1)", "self.average.lerp_(x.mean(0), 0.1)"),
           ("0.1)", "0.2)"), ("x - self", "x.half().float() - self")),
    _torch("in_place", PLACE, ("x.mul_(y)\n        return x.sum(1)", "x *= y\n        return x.sum(dim=1)"),
           ("x *= y", "x = x * y"), ("x *= y", "x *= y.half().float()"), wrong_is="wrong_output"),
    Pair("custom_operator", reference("return x ** 3", "[torch.randn(9, 17)]"), OPERATOR, (("x * x * x", "x * x"),), HALVES, style="torch.library"),
    Pair("parameters_by_order", ORDER,
         torch_one(ORDER, ("self.first", "self.one"), ("self.second", "self.two")),
         (("torch.relu", "torch.tanh"),), (("self.one(x)", "self.one(x.half().float())"),), style="torch"),
]  # fmt: skip
