// Every operator that has no CUDA kernel of its own runs its CPU kernel over the same bytes.
#include "torch_aliases.h"

#include <ATen/EmptyTensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/TensorFactories.h>
#include <torch/library.h>

namespace simt {

using at::Tensor;
using c10::IValue;

// Elements that no kernel wrote are about to become somebody's result.
static void check_read(const std::string& operation, const Tensor& t) {
  if (!(simt_mode() & 1) || !t.numel() || !t.is_non_overlapping_and_dense()) return;
  size_t first = 0, undefined = simt_undefined_bytes(t.data_ptr(), t.nbytes(), &first);
  if (!undefined) return;
  simt_report_not_written(operation.c_str(), t.data_ptr(), undefined / t.element_size(), t.numel(),
                          first / t.element_size());
  simt_excuse_unwritten(t.data_ptr(), t.nbytes());
}

// Kernels that run beside an operator may still use its memory.
static void check_streams(const std::string& operation, const Tensor& t, bool writes) {
  if (t.numel() && t.is_non_overlapping_and_dense())
    simt_operator_touches(operation.c_str(), t.data_ptr(), t.nbytes(), writes);
}

// An operator may have resized an out= argument through its alias, or left it to be conjugated when it is read.
static void adopt(const Tensor& cuda, const Tensor& cpu) {
  auto* storage = cuda.storage().unsafeGetStorageImpl();
  const c10::Storage& source = cpu.storage();
  if (source.nbytes() != storage->nbytes()) {
    auto memory = device_allocator()->allocate(source.nbytes());
    if (source.nbytes()) std::memcpy(memory.get(), source.data(), source.nbytes());
    storage->set_data_ptr_noswap(std::move(memory));
    storage->set_nbytes(source.nbytes());
  }
  if (cuda.sizes() != cpu.sizes() || cuda.strides() != cpu.strides())
    cuda.unsafeGetTensorImpl()->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
  cuda._set_conj(cpu.is_conj());
  cuda._set_neg(cpu.is_neg());
}

// What a watched operator reads, and then what it wrote (csrc/origins.cpp).
class Sources {
 public:
  void read(const Tensor& t) {
    if (!simt_is_watched() || !t.defined()) return;
    if (t.device().is_cpu() && !t.dim() && t.layout() == at::kStrided) {  // x * 2: the 2
      number(t.item());
    } else if (!t.is_cuda()) {
      from_host_ = true;
    } else if (t.numel()) {
      int here = simt_origin(t.data_ptr(), t.element_size(), int(t.dim()), t.sizes().data(), t.strides().data());
      worst_ = any_ ? std::max(worst_, here) : here;
      any_ = true;
    }
  }
  void number(const at::Scalar& number) {
    if (!simt_is_watched()) return;
    single_ |= !number.equal(0);
    auto wide = number.toComplexDouble();
    simt_operator_given(&wide, sizeof wide);
  }
  void wrote(const std::string& name, const Tensor& t) const {
    if (!simt_is_watched() || !t.defined() || !t.is_cuda() || !t.numel()) return;
    simt_operator_wrote(name.c_str(), worst_, from_host_, single_, t.data_ptr(), t.element_size(), int(t.dim()),
                        t.sizes().data(), t.strides().data());
  }

 private:
  int worst_ = 2;  // nothing read: constants, which are as good as what was given
  bool any_ = false, from_host_ = false, single_ = false;
};

class Call {
 public:
  Call(const c10::OperatorHandle& op, torch::jit::Stack* stack)
      : op_(op),
        stack_(stack),
        arguments_(op.schema().arguments()),
        name_(op.schema().name()),
        first_(stack->size() - arguments_.size()),
        original_(arguments_.size()),
        alias_(arguments_.size()) {}

  void run() {
    if (looks_at_data()) simt_wait();
    overlaps_ = looks_at_data() && simt_operator_begins();
    for (size_t i = 0; i < arguments_.size(); ++i) convert_argument(i);
    bool may_mix = name_.find("index") != std::string::npos || name_ == "aten::copy_" ||
                   name_ == "aten::_copy_from" || name_ == "aten::_to_copy";
    TORCH_CHECK(
        !(saw_cpu_ && saw_cuda_) || may_mix,
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! (in ",
        name_, ")");
    if (returns_to_the_host()) synchronize_or_raise();
    op_.callBoxed(stack_);
    for_each_written([&](size_t i) { adopt(original_[i], alias_[i]); });
    convert_results();
    for_each_written([&](size_t i) {
      const auto& storage = original_[i].storage();
      simt_mark_initialised(storage.data(), storage.nbytes());
      sources_.wrote(name_, original_[i]);
    });
  }

 private:
  bool is_written(size_t i) const {
    return arguments_[i].alias_info() && arguments_[i].alias_info()->isWrite();
  }

  template <class Visit>
  void for_each_written(Visit visit) {
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (is_written(i) && original_[i].defined() && original_[i].is_cuda()) visit(i);
  }

  // A view does not: it may be taken while kernels that write the tensor are queued.
  bool looks_at_data() const {
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const IValue& v = (*stack_)[first_ + i];
      bool tensors = v.isTensor() || v.isTensorList() || v.isOptionalTensorList() || v.isList();
      if (tensors && (!arguments_[i].alias_info() || is_written(i))) return true;
    }
    return false;
  }

  // addmv, addmm and the like with a beta of 0 do not look at what they add to; mv is made of that.
  bool adds_nothing_of_it() const {
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const IValue& beta = (*stack_)[first_ + i];
      if (arguments_[i].name() == "beta" && beta.isScalar()) return beta.toScalar().equal(0);
    }
    return false;
  }

  // item(), equal() and the like hand a value to Python: a GPU has to be waited for.
  bool returns_to_the_host() const {
    if (!saw_cuda_) return false;
    for (auto& r : op_.schema().returns())
      if (r.type()->kind() != c10::TypeKind::TensorType && r.type()->kind() != c10::TypeKind::ListType)
        return true;
    return false;
  }

  Tensor to_cpu(const Tensor& t, bool reads, bool writes = false) {
    if (!t.defined()) return t;
    if (reads) sources_.read(t);
    if (!t.is_cuda()) {
      saw_cpu_ |= t.dim() > 0 && t.device().is_cpu();
      return t;
    }
    saw_cuda_ = true;
    if (reads) check_read(name_, t);
    if (overlaps_ && (reads || writes)) check_streams(name_, t, writes);
    return aliases_.on_cpu(t);
  }

  void convert_argument(size_t i) {
    IValue& v = (*stack_)[first_ + i];
    bool reads = !arguments_[i].alias_info() && !(i == 0 && adds_nothing_of_it());  // nor written, nor viewed
    if (v.isTensor()) {
      factory_ = false;
      original_[i] = v.toTensor();
      v = alias_[i] = to_cpu(original_[i], reads, is_written(i));
    } else if (v.isTensorList()) {
      factory_ = false;
      auto list = v.toTensorVector();
      for (auto& t : list) t = to_cpu(t, reads);
      v = list;
    } else if (v.isOptionalTensorList() ||
               (v.isList() && v.type()->str().find("Tensor") != std::string::npos)) {
      c10::List<std::optional<Tensor>> list;
      for (auto&& element : v.toOptionalTensorList()) {
        std::optional<Tensor> t = element;
        list.push_back(t ? std::optional<Tensor>(to_cpu(*t, true)) : t);
      }
      v = list;
    } else if (v.isScalar()) {
      sources_.number(v.toScalar());
    } else if (v.isIntList()) {
      auto numbers = v.toIntVector();
      simt_operator_given(numbers.data(), numbers.size() * sizeof numbers[0]);
    } else if (v.isDevice() && v.toDevice().is_cuda()) {
      v = c10::Device(c10::kCPU);
    }
  }

  void convert_results() {
    const auto& returns = op_.schema().returns();
    size_t first = stack_->size() - returns.size();
    for (size_t r = 0; r < returns.size(); ++r) {
      IValue& v = (*stack_)[first + r];
      if (v.isTensor() && v.toTensor().defined()) {
        Tensor same = written_argument(returns[r]);
        v = same.defined() ? same : (saw_cuda_ || factory_) ? made(v.toTensor()) : v.toTensor();
      } else if (v.isTensorList()) {
        auto list = v.toTensorVector();
        for (auto& t : list) t = made(t);
        v = list;
      }
    }
  }

  // A view has the memory of an argument; anything else was written just now.
  Tensor made(const Tensor& cpu) const {
    Tensor cuda = aliases_.on_cuda(cpu);
    if (!cuda.defined() || !cuda.is_cuda()) return cuda;
    for (auto& t : original_)
      if (t.defined() && t.is_alias_of(cuda)) return cuda;
    sources_.wrote(name_, cuda);
    return cuda;
  }

  // x.add_(1) and out= return their argument itself.
  Tensor written_argument(const c10::Argument& result) const {
    const auto* info = result.alias_info();
    if (!info || !info->isWrite()) return {};
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (arguments_[i].alias_info() && *arguments_[i].alias_info() == *info) return original_[i];
    return {};
  }

  const c10::OperatorHandle& op_;
  torch::jit::Stack* stack_;
  const std::vector<c10::Argument>& arguments_;
  const std::string& name_;
  size_t first_;
  std::vector<Tensor> original_, alias_;
  Aliases aliases_;
  Sources sources_;
  bool saw_cpu_ = false, saw_cuda_ = false, factory_ = true, overlaps_ = false;
};

static void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { Call(op, stack).run(); }

using Size = c10::IntArrayRef;

static at::ScalarType or_default(std::optional<at::ScalarType> dtype) {
  return dtype.value_or(c10::typeMetaToScalarType(at::get_default_dtype()));
}

static Tensor empty(Size size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                    std::optional<c10::Device>, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  Tensor t = at::detail::empty_generic(size, device_allocator(), c10::DispatchKeySet(c10::DispatchKey::CUDA),
                                       or_default(dtype), format);
  label(t);
  return t;
}

static Tensor empty_strided(Size size, Size stride, std::optional<at::ScalarType> dtype,
                            std::optional<at::Layout>, std::optional<c10::Device>, std::optional<bool>) {
  Tensor t = at::detail::empty_strided_generic(
      size, stride, device_allocator(), c10::DispatchKeySet(c10::DispatchKey::CUDA), or_default(dtype));
  label(t);
  return t;
}

// Zeros that no memory holds, as some gradients are; whoever needs their bytes asks for them.
static Tensor efficient_zeros(Size size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                              std::optional<c10::Device>, std::optional<bool>) {
  at::native::ZeroTensorAllocator nothing(c10::Device(c10::kCUDA, 0));
  c10::DispatchKeySet keys{c10::DispatchKey::CUDA, c10::DispatchKey::ZeroTensor};
  return at::detail::empty_generic(size, &nothing, keys, or_default(dtype), std::nullopt);
}

static Tensor& copy_(Tensor& self, const Tensor& source, bool) {
  Aliases aliases;
  simt_wait();
  if (source.is_cuda()) check_read("aten::copy_", source);
  if (simt_operator_begins()) {
    if (source.is_cuda()) check_streams("aten::copy_", source, false);
    if (self.is_cuda()) check_streams("aten::copy_", self, true);
  }
  if (source.is_cuda() != self.is_cuda()) synchronize_or_raise();
  Tensor to = self.is_cuda() ? aliases.on_cpu(self) : self;
  Tensor from = source.is_cuda() ? aliases.on_cpu(source) : source;
  Sources sources;
  sources.read(source);
  to.copy_(from);
  if (self.is_cuda()) simt_mark_initialised(self.storage().data(), self.storage().nbytes());
  sources.wrote("copy_", self);
  return self;
}

static Tensor& set_storage_offset_(Tensor& self, c10::Storage source, int64_t offset, Size size,
                                   Size stride) {
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(source);
  impl->set_storage_offset(offset);
  if (stride.empty() && !size.empty())
    impl->set_sizes_contiguous(size);
  else
    impl->set_sizes_and_strides(size, stride);
  return self;
}

static Tensor& set_storage_(Tensor& self, c10::Storage source) {
  int64_t elements = int64_t(source.nbytes() / self.element_size());
  return set_storage_offset_(self, source, 0, elements, {});
}

static void record_stream(Tensor& self, c10::Stream) { simt_record_stream(self.storage().data()); }

TORCH_LIBRARY_IMPL(_, CUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>()); }

TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("empty.memory_format", TORCH_FN(empty));
  m.impl("empty_strided", TORCH_FN(empty_strided));
  m.impl("_efficientzerotensor", TORCH_FN(efficient_zeros));
  m.impl("copy_", TORCH_FN(copy_));
  m.impl("record_stream", TORCH_FN(record_stream));
  m.impl("set_.source_Storage", TORCH_FN(set_storage_));
  m.impl("set_.source_Storage_storage_offset", TORCH_FN(set_storage_offset_));
}

}  // namespace simt
