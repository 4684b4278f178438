// Operators that torch chooses for a CUDA tensor and never for a CPU tensor, so that no CPU kernel is there
// to run.
#include <ATen/ATen.h>
#include <torch/library.h>

namespace simt {

using Maybe = std::optional<Tensor>;

// Half precision is computed in float, as the GPU's kernels do.
static Tensor wide(const Tensor& t) {
  return t.scalar_type() == at::kHalf || t.scalar_type() == at::kBFloat16 ? t.to(at::kFloat) : t;
}

static Tensor gates_of(const Tensor& gates, const Maybe& bias) {
  return bias && bias->defined() ? wide(gates) + wide(*bias) : wide(gates);
}

// The activated gates are kept for the way back.
static std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& input, const Tensor& hidden,
                                                    const Tensor& cell, const Maybe& input_bias,
                                                    const Maybe& hidden_bias) {
  auto parts = (gates_of(input, input_bias) + gates_of(hidden, hidden_bias)).chunk(4, 1);
  Tensor i = parts[0].sigmoid(), f = parts[1].sigmoid(), g = parts[2].tanh(), o = parts[3].sigmoid();
  Tensor next = f * wide(cell) + i * g;
  auto type = input.scalar_type();
  return {(o * next.tanh()).to(type), next.to(type), at::cat({i, f, g, o}, 1).to(type)};
}

static std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(const Maybe& grad_hidden, const Maybe& grad_cell,
                                                             const Tensor& cell, const Tensor& next,
                                                             const Tensor& workspace, bool has_bias) {
  auto parts = wide(workspace).chunk(4, 1);
  Tensor i = parts[0], f = parts[1], g = parts[2], o = parts[3], squashed = wide(next).tanh();
  Tensor by_hidden = grad_hidden && grad_hidden->defined() ? wide(*grad_hidden) : at::zeros_like(squashed);
  Tensor by_cell = by_hidden * o * (1 - squashed * squashed);
  if (grad_cell && grad_cell->defined()) by_cell = by_cell + wide(*grad_cell);
  Tensor gates = at::cat({by_cell * g * i * (1 - i), by_cell * wide(cell) * f * (1 - f),
                          by_cell * i * (1 - g * g), by_hidden * squashed * o * (1 - o)},
                         1);
  auto type = workspace.scalar_type();
  return {gates.to(type), (by_cell * f).to(type), has_bias ? gates.sum(0).to(type) : Tensor()};
}

static std::tuple<Tensor, Tensor> gru_cell(const Tensor& input, const Tensor& hidden, const Tensor& state,
                                           const Maybe& input_bias, const Maybe& hidden_bias) {
  auto in = gates_of(input, input_bias).chunk(3, 1), kept = gates_of(hidden, hidden_bias).chunk(3, 1);
  Tensor r = (in[0] + kept[0]).sigmoid(), z = (in[1] + kept[1]).sigmoid(), n = (in[2] + r * kept[2]).tanh();
  auto type = input.scalar_type();
  return {(n + z * (wide(state) - n)).to(type), at::cat({r, z, n, wide(state), kept[2]}, 1).to(type)};
}

static std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad,
                                                                            const Tensor& workspace,
                                                                            bool has_bias) {
  auto parts = wide(workspace).chunk(5, 1);
  Tensor r = parts[0], z = parts[1], n = parts[2], state = parts[3], kept = parts[4], by = wide(grad);
  Tensor by_z = by * (state - n) * z * (1 - z), by_n = by * (1 - z) * (1 - n * n);
  Tensor by_r = by_n * kept * r * (1 - r);
  Tensor input = at::cat({by_r, by_z, by_n}, 1), hidden = at::cat({by_r, by_z, by_n * r}, 1);
  auto type = workspace.scalar_type();
  auto bias = [&](const Tensor& gates) { return has_bias ? gates.sum(0).to(type) : Tensor(); };
  return {input.to(type), hidden.to(type), (by * z).to(type), bias(input), bias(hidden)};
}

// Products of narrow matrices with a wider result.
static Tensor mm(const Tensor& a, const Tensor& b, at::ScalarType type) {
  return at::mm(a.to(type), b.to(type));
}

static Tensor bmm(const Tensor& a, const Tensor& b, at::ScalarType type) {
  return at::bmm(a.to(type), b.to(type));
}

static Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, at::ScalarType type,
                    const at::Scalar& beta, const at::Scalar& alpha) {
  return at::addmm(c.to(type), a.to(type), b.to(type), beta, alpha);
}

static Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, at::ScalarType type,
                      const at::Scalar& beta, const at::Scalar& alpha) {
  return at::baddbmm(c.to(type), a.to(type), b.to(type), beta, alpha);
}

static Tensor& mm_out(const Tensor& a, const Tensor& b, at::ScalarType type, Tensor& out) {
  return at::mm_out(out, a.to(type), b.to(type));
}

static Tensor& bmm_out(const Tensor& a, const Tensor& b, at::ScalarType type, Tensor& out) {
  return at::bmm_out(out, a.to(type), b.to(type));
}

static Tensor& addmm_out(const Tensor& c, const Tensor& a, const Tensor& b, at::ScalarType type,
                         const at::Scalar& beta, const at::Scalar& alpha, Tensor& out) {
  return at::addmm_out(out, c.to(type), a.to(type), b.to(type), beta, alpha);
}

static Tensor& baddbmm_out(const Tensor& c, const Tensor& a, const Tensor& b, at::ScalarType type,
                           const at::Scalar& beta, const at::Scalar& alpha, Tensor& out) {
  return at::baddbmm_out(out, c.to(type), a.to(type), b.to(type), beta, alpha);
}

// Whether a library of the vendor's has the CTC loss: there is none.
static bool none(const Tensor&, const Tensor&, Size, Size, int64_t) { return false; }
static bool none_either(const Tensor&, const Tensor&, const Tensor&, const Tensor&, int64_t) { return false; }

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  // torch would go on to pick a kernel by the device: depthwise, dilated, transposed. The CPU's choice is as
  // good.
  m.impl("convolution", torch::CppFunction::makeFromBoxedFunction<&fallback>());
  m.impl("convolution_backward", torch::CppFunction::makeFromBoxedFunction<&fallback>());
  m.impl("_thnn_fused_lstm_cell", TORCH_FN(lstm_cell));
  m.impl("_thnn_fused_lstm_cell_backward_impl", TORCH_FN(lstm_cell_backward));
  m.impl("_thnn_fused_gru_cell", TORCH_FN(gru_cell));
  m.impl("_thnn_fused_gru_cell_backward", TORCH_FN(gru_cell_backward));
  m.impl("mm.dtype", TORCH_FN(mm));
  m.impl("bmm.dtype", TORCH_FN(bmm));
  m.impl("addmm.dtype", TORCH_FN(addmm));
  m.impl("baddbmm.dtype", TORCH_FN(baddbmm));
  m.impl("mm.dtype_out", TORCH_FN(mm_out));
  m.impl("bmm.dtype_out", TORCH_FN(bmm_out));
  m.impl("addmm.dtype_out", TORCH_FN(addmm_out));
  m.impl("baddbmm.dtype_out", TORCH_FN(baddbmm_out));
  for (std::string vendor : {"cudnn", "miopen"}) {
    m.impl(("_use_" + vendor + "_ctc_loss").c_str(), TORCH_FN(none));
    m.impl(("_use_" + vendor + "_ctc_loss.Tensor").c_str(), TORCH_FN(none_either));
  }
}

}  // namespace simt
