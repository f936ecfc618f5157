#include "learning/models/torch_script.hpp"

#include <torch/csrc/jit/passes/inliner.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "learning/one_thread.hpp"

namespace rubato {

namespace {

using torch::Tensor;
using torch::jit::Module;

[[noreturn]] void fail(const TorchSpec& spec, const std::string& what) {
  throw std::invalid_argument("model.module \"" + spec.module.string() + "\": " + what);
}

// The first line of what libtorch says; the rest is its call stack.
std::string first_line(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

Module load_module(const TorchSpec& spec) {
  try {
    return torch::jit::load(spec.module.string(), torch::kCPU);
  } catch (const c10::Error& error) {
    fail(spec, "it cannot be read as a TorchScript module: " + first_line(error));
  }
}

template <class Real>
torch::ScalarType scalar_type() {
  return sizeof(Real) == sizeof(float) ? torch::kFloat : torch::kDouble;
}

/// The numbers of a module in the order of the flat vector. Tensors share the module's memory.
struct Parts {
  std::vector<Tensor> parameters;
  std::vector<Tensor> buffers;
  std::vector<double> momenta;  // of the buffers: the share of a batch that one pass takes over
};

// Normalisations have a constant of this name; other buffers are set by a pass as they will be.
double momentum_of(const Module& part) {
  const auto slot = part.type()->findConstantSlot("momentum");
  if (!slot) return 1;
  const c10::IValue momentum = part.type()->getConstant(*slot);
  return momentum.isDouble() && momentum.toDouble() > 0 ? momentum.toDouble() : 1;
}

Parts parts_of(const Module& module) {
  Parts parts;
  for (const Tensor& parameter : module.parameters()) parts.parameters.push_back(parameter);
  for (const Module& part : module.modules())
    for (const Tensor& buffer : part.buffers(false)) {
      if (!buffer.is_floating_point()) continue;
      parts.buffers.push_back(buffer);
      parts.momenta.push_back(momentum_of(part));
    }
  return parts;
}

Index count_of(const std::vector<Tensor>& tensors) {
  Index count = 0;
  for (const Tensor& tensor : tensors) count += tensor.numel();
  return count;
}

/// A module of its own for each thread that computes.
struct Copy {
  explicit Copy(Module own) : module{std::move(own)}, parts{parts_of(module)} {}

  Module module;
  Parts parts;
};

template <class Real>
class TorchModel final : public Model<Real> {
 public:
  TorchModel(const TorchSpec& spec, const Shape& shape, std::uint32_t classes)
      : spec_{spec}, shape_{shape}, classes_{classes}, original_{load_module(spec)} {
    at::set_num_threads(1);
    original_.to(scalar_type<Real>());
    const Parts parts = parts_of(original_);
    learned_ = count_of(parts.parameters);
    measured_ = count_of(parts.buffers);
    if (learned_of(parts).empty()) fail(spec, "it has no parameters to learn");
    draws_ = draws(original_);
    try_out();
  }

  Index dimension() const override { return learned_ + measured_; }
  Index inputs() const override { return shape_.size(); }
  std::uint32_t classes() const override { return classes_; }

  std::vector<Range> statistics() const override {
    std::vector<Range> all;
    Index first = 0;
    for (const Tensor& parameter : parts_of(original_).parameters) {
      if (!parameter.requires_grad()) all.push_back({first, parameter.numel()});
      first += parameter.numel();
    }
    if (measured_ > 0) all.push_back({learned_, measured_});
    return all;
  }

  void initialise(VectorRef<Real> x, Stream&) const override {
    const Parts parts = parts_of(original_);
    read(parts.buffers, read(parts.parameters, x.data()));
  }

  Real gradient(ConstVectorRef<Real> x, const Batch<Real>& batch, VectorRef<Real> g, Scratch<Real>&) const override {
    const OneThread one_thread;
    const std::unique_lock<std::mutex> dice = take_dice(batch);
    std::unique_ptr<Copy> copy = borrow(x);
    copy->module.train();
    const Tensor loss = torch::nn::functional::cross_entropy(
        outputs(*copy, batch.inputs), labels_of(batch),
        torch::nn::functional::CrossEntropyFuncOptions().label_smoothing(spec_.label_smoothing));
    const std::vector<Tensor> learned = learned_of(copy->parts);
    write_gradients(torch::autograd::grad({loss}, learned, {}, false, false, true), copy->parts, x, g);
    const Real value =
        static_cast<Real>(loss.template item<double>()) + add_penalty<Real>(static_cast<Real>(spec_.l2), statistics(), x, g);
    give_back(std::move(copy));
    return value;
  }

  void logits(ConstVectorRef<Real> x, ConstMatrixRef<Real> inputs, MatrixRef<Real> out, Scratch<Real>&) const override {
    const OneThread one_thread;
    const torch::NoGradGuard no_gradient;
    std::unique_ptr<Copy> copy = borrow(x);
    copy->module.eval();
    const Tensor scores = outputs(*copy, inputs).contiguous();
    std::copy_n(scores.template data_ptr<Real>(), out.size(), out.data());
    give_back(std::move(copy));
  }

 private:
  static bool draws(const Module& module) {
    const auto graph = module.get_method("forward").graph()->copy();
    torch::jit::Inline(*graph);
    const std::string code = graph->toString();
    const auto has = [&](const char* word) { return code.find(word) != std::string::npos; };
    return has("dropout") || has("rand") || has("bernoulli") || has("normal_") || has("uniform_") || has("multinomial");
  }

  // One sample through the module, so that what does not fit is said before the run.
  void try_out() const {
    try {
      Copy copy(original_.clone());
      copy.module.eval();
      const Matrix<Real> sample = Matrix<Real>::Zero(1, shape_.size());
      const Tensor scores = outputs(copy, view(sample));
      if (scores.dim() == 2 && scores.size(0) == 1 && scores.size(1) == static_cast<int64_t>(classes_)) return;
      fail(spec_, "it must give one row of " + std::to_string(classes_) + " scores for a sample");
    } catch (const c10::Error& error) {
      fail(spec_, "it does not take the data's samples: " + first_line(error));
    } catch (const std::runtime_error& error) {
      const std::string text = error.what();
      fail(spec_, "it does not take the data's samples: " + text.substr(text.rfind("RuntimeError")));
    }
  }

  Tensor outputs(Copy& copy, ConstMatrixRef<Real> inputs) const {
    const auto options = torch::TensorOptions().dtype(scalar_type<Real>());
    const bool is_image = shape_.height > 1 || shape_.channels > 1;
    const std::vector<int64_t> sizes = is_image ? std::vector<int64_t>{inputs.rows(), shape_.channels, shape_.height, shape_.width}
                                                : std::vector<int64_t>{inputs.rows(), inputs.cols()};
    return copy.module.forward({torch::from_blob(const_cast<Real*>(inputs.data()), sizes, options)}).toTensor();
  }

  static Tensor labels_of(const Batch<Real>& batch) {
    Tensor labels = torch::empty({static_cast<int64_t>(batch.labels.size())}, torch::kLong);
    std::copy(batch.labels.begin(), batch.labels.end(), labels.template data_ptr<int64_t>());
    return labels;
  }

  // libtorch has one source of random numbers for all threads: a thread that draws has it alone, from the beginning of its own.
  std::unique_lock<std::mutex> take_dice(const Batch<Real>& batch) const {
    static std::mutex dice;
    if (!draws_) return {};
    std::unique_lock lock(dice);
    torch::manual_seed(batch.chance ? batch.chance->stream(0).next() : 0);
    return lock;
  }

  std::unique_ptr<Copy> borrow(ConstVectorRef<Real> x) const {
    std::unique_ptr<Copy> copy;
    {
      const std::lock_guard lock(guard_);
      if (!free_.empty()) {
        copy = std::move(free_.back());
        free_.pop_back();
      }
    }
    if (!copy) copy = std::make_unique<Copy>(original_.clone());
    const torch::NoGradGuard no_gradient;
    write(copy->parts.buffers, write(copy->parts.parameters, x.data()));
    return copy;
  }

  void give_back(std::unique_ptr<Copy> copy) const {
    const std::lock_guard lock(guard_);
    free_.push_back(std::move(copy));
  }

  static Real* read(const std::vector<Tensor>& tensors, Real* numbers) {
    for (const Tensor& tensor : tensors) {
      const Tensor plain = tensor.detach().contiguous();
      numbers = std::copy_n(plain.template data_ptr<Real>(), plain.numel(), numbers);
    }
    return numbers;
  }

  static const Real* write(const std::vector<Tensor>& tensors, const Real* numbers) {
    const auto options = torch::TensorOptions().dtype(scalar_type<Real>());
    for (const Tensor& tensor : tensors) {
      tensor.copy_(torch::from_blob(const_cast<Real*>(numbers), tensor.sizes(), options));
      numbers += tensor.numel();
    }
    return numbers;
  }

  // What the module froze has no gradient.
  static std::vector<Tensor> learned_of(const Parts& parts) {
    std::vector<Tensor> learned;
    for (const Tensor& parameter : parts.parameters)
      if (parameter.requires_grad()) learned.push_back(parameter);
    return learned;
  }

  // `gradients` are those of learned_of(parts), undefined where the output does not depend on a parameter.
  void write_gradients(const std::vector<Tensor>& gradients, const Parts& parts, ConstVectorRef<Real> x, VectorRef<Real> g) const {
    g.setZero();
    Real* numbers = g.data();
    auto gradient = gradients.begin();
    for (const Tensor& parameter : parts.parameters) {
      if (parameter.requires_grad() && gradient->defined()) read({*gradient}, numbers);
      if (parameter.requires_grad()) ++gradient;
      numbers += parameter.numel();
    }
    read(parts.buffers, numbers);
    g.tail(measured_) = x.tail(measured_) - g.tail(measured_);
    Index first = learned_;
    for (std::size_t i = 0; i < parts.buffers.size(); ++i) {
      g.segment(first, parts.buffers[i].numel()) /= static_cast<Real>(parts.momenta[i]);
      first += parts.buffers[i].numel();
    }
  }

  TorchSpec spec_;
  Shape shape_;
  std::uint32_t classes_;
  Module original_;
  Index learned_ = 0;
  Index measured_ = 0;
  bool draws_ = false;
  mutable std::mutex guard_;
  mutable std::vector<std::unique_ptr<Copy>> free_;
};

}  // namespace

template <class Real>
std::shared_ptr<const Model<Real>> make_torch_model(const TorchSpec& spec, const Shape& shape, std::uint32_t classes) {
  return std::make_shared<TorchModel<Real>>(spec, shape, classes);
}

template std::shared_ptr<const Model<float>> make_torch_model(const TorchSpec&, const Shape&, std::uint32_t);
template std::shared_ptr<const Model<double>> make_torch_model(const TorchSpec&, const Shape&, std::uint32_t);

}  // namespace rubato
