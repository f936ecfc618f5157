// What an algorithm in Python is handed: its work, its steps and the messages of a window.
#pragma once

#include <cstring>
#include <memory>
#include <ranges>
#include <vector>

#include "python/calls.hpp"

namespace rubato::python {

/// Work without the type of its numbers. It is of use while one call of the algorithm lasts.
class PythonWork {
 public:
  virtual ~PythonWork() = default;
  virtual py::object gradient(const py::object& x, std::uint64_t k) = 0;
  virtual void descend(const py::object& x, std::uint64_t k, double eta) = 0;
  virtual py::object batch(std::uint64_t number) = 0;
  virtual py::object uniforms(std::uint64_t number, std::int64_t count) = 0;
  virtual py::object noise(std::uint64_t number, std::int64_t count, double deviation) = 0;
  virtual py::object coordinates(std::uint64_t number, std::uint32_t peer, std::int64_t dimension, std::int64_t count) = 0;
  virtual std::uint32_t samples() const = 0;
  virtual std::uint64_t local_batches() const = 0;
  virtual void end() = 0;
};

template <class Real>
class PythonWorkOf final : public PythonWork {
 public:
  PythonWorkOf(Work<Real>& work, std::size_t dimension) : work_{&work}, dimension_{dimension} {}

  py::object gradient(const py::object& x, std::uint64_t k) override {
    const Real* numbers = numbers_in<Real>(x, dimension_, "x of gradient()");
    Tensor aligned, g = work().pool.template make<Real>(dimension_);
    const ConstVectorRef<Real> at = aligned_view(numbers, aligned);
    VectorRef<Real> out = numbers_of<Real>(g);
    const typename Scratch<Real>::Frame frame(work().scratch);
    {
      const py::gil_scoped_release unlocked;
      work().gradient(at, k, out);
    }
    return view_of<Real>(g, true);
  }

  void descend(const py::object& x, std::uint64_t k, double eta) override {
    Real* numbers = writable_numbers_in<Real>(x, dimension_, "x of descend()");
    Tensor copy = work().pool.template make<Real>(dimension_);
    VectorRef<Real> at = numbers_of<Real>(copy);
    std::memcpy(at.data(), numbers, dimension_ * sizeof(Real));
    {
      const py::gil_scoped_release unlocked;
      work().descend(at, k, static_cast<Real>(eta));
    }
    std::memcpy(numbers, at.data(), dimension_ * sizeof(Real));
  }

  py::object batch(std::uint64_t number) override {
    const typename Scratch<Real>::Frame frame(work().scratch);
    const Picks picks = work().batch(number);
    return picks.empty() ? array_of<std::int64_t>(std::views::iota(0u, samples())) : array_of<std::int64_t>(picks);
  }

  py::object uniforms(std::uint64_t number, std::int64_t count) override {
    const typename Scratch<Real>::Frame frame(work().scratch);
    return array_of<Real>(work().uniforms(number, count_of(count)));
  }
  py::object noise(std::uint64_t number, std::int64_t count, double deviation) override {
    const typename Scratch<Real>::Frame frame(work().scratch);
    return array_of<Real>(work().noise(number, count_of(count), deviation));
  }
  py::object coordinates(std::uint64_t number, std::uint32_t peer, std::int64_t dimension, std::int64_t count) override {
    const typename Scratch<Real>::Frame frame(work().scratch);
    if (count > dimension) throw py::value_error("there are fewer coordinates than are asked for");
    const Picks picks = work().coordinates(number, ClientId{peer}, count_of(dimension), count_of(count));
    return array_of<std::int64_t>(picks);
  }
  std::uint32_t samples() const override { return work().learner.samples(); }
  std::uint64_t local_batches() const override { return work().local_batches(); }
  void end() override { work_ = nullptr; }

 private:
  Work<Real>& work() const {
    if (!work_) throw py::value_error("work is of use while the call lasts that it was handed to");
    return *work_;
  }
  static Index count_of(std::int64_t count) {
    constexpr std::int64_t most = std::int64_t{1} << 40;
    if (count < 0 || count > most) throw py::value_error("a count must be at least 0");
    return count;
  }
  // The engine's sums depend on where a vector begins: at a multiple of 64 bytes, or in a copy that does.
  ConstVectorRef<Real> aligned_view(const Real* numbers, Tensor& copy) {
    const auto size = static_cast<Index>(dimension_);
    if (reinterpret_cast<std::uintptr_t>(numbers) % buffer_alignment == 0) return {numbers, size};
    copy = work().pool.template make<Real>(dimension_);
    std::memcpy(copy.template writable<Real>(), numbers, dimension_ * sizeof(Real));
    return {copy.template data<Real>(), size};
  }

  Work<Real>* work_;
  std::size_t dimension_;
};

/// Hands work to a call and takes it back at its end.
template <class Real>
class LentWork {
 public:
  LentWork(Work<Real>& work, std::size_t dimension) : lent_{std::make_shared<PythonWorkOf<Real>>(work, dimension)} {}
  ~LentWork() { lent_->end(); }
  LentWork(const LentWork&) = delete;
  LentWork& operator=(const LentWork&) = delete;
  const std::shared_ptr<PythonWork>& operator*() const { return lent_; }

 private:
  std::shared_ptr<PythonWork> lent_;
};

/// A copy of one message of a step.
struct PythonEntry {
  std::uint32_t peer;
  std::uint64_t sequence;
  double weight;
  std::uint32_t place;
};

/// A copy of a step.
struct PythonStep {
  explicit PythonStep(const Step& step)
      : kind{name_of(step.kind)}, with_gradient{step.with_gradient}, phase{step.phase}, index{step.index} {
    for (const StepEntry& entry : step.entries) entries.push_back({entry.peer.value, entry.sequence, entry.weight, entry.place});
  }
  std::string kind;
  bool with_gradient;
  int phase;
  std::uint64_t index;
  std::vector<PythonEntry> entries;
};

/// A message of a window. Its tensors may be kept.
struct PythonMessage {
  /// With the tensors of a payload that its receiver at this place sees.
  PythonMessage(const Payload& payload, std::uint32_t place) {
    for (const Tensor& tensor : payload.common)
      if (tensor) common.push_back(tensor);
    const std::size_t first = std::size_t{place} * payload.own_each;
    for (std::size_t i = first; i < first + payload.own_each && i < payload.own.size(); ++i) own.push_back(payload.own[i]);
  }
  std::uint32_t sender = 0;
  std::uint64_t sequence = 0;
  double weight = 1;
  double age = 0;
  std::vector<Tensor> common, own;
};

void bind_work(py::module_& module);

}  // namespace rubato::python
