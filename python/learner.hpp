// A learner that is written in Python, as the engine sees it.
#pragma once

#include <rubato/experiment/own_parts.hpp>

#include <map>
#include <memory>

#include "python/calls.hpp"

namespace rubato::python {

/// What a Python learner answers with, whatever way its calls take. Calls come one at a time.
template <class Real>
class LearnerDoor {
 public:
  virtual ~LearnerDoor() = default;
  /// Numbers of the model, samples of the client, classes; fixed.
  struct Facts {
    Index dimension = 0;
    std::uint32_t samples = 0, classes = 0;
    bool has_score = false, has_start = false, has_predict = false;
  };
  virtual const Facts& facts() const = 0;
  virtual Real gradient(ClientId client, ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g) = 0;
  virtual Score score(ConstVectorRef<Real> x, Part part) = 0;
  virtual void start(VectorRef<Real> x, std::uint64_t seed) = 0;
  virtual void predict(ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out) = 0;
};

/// Memory of learner objects, by the object that is handed it: what several clients share has one.
using LearnerMemories = std::map<PyObject*, std::shared_ptr<void>>;

/// The door of a learner object in this process; the interpreter's lock is held, and the memories outlive it.
template <class Real>
std::shared_ptr<LearnerDoor<Real>> open_learner(const py::object& learner, LearnerMemories& memories, Raised* raised);

/// The learner of one client behind a door, which several clients may share.
template <class Real>
class PythonLearner final : public Learner<Real> {
 public:
  PythonLearner(std::shared_ptr<LearnerDoor<Real>> door, ClientId client) : door_{std::move(door)}, client_{client} {}

  Index dimension() const override { return door_->facts().dimension; }
  std::uint32_t samples() const override { return door_->facts().samples; }
  std::uint32_t classes() const override { return door_->facts().classes; }
  Real gradient(ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g, Scratch<Real>&) const override {
    return door_->gradient(client_, x, picks, g);
  }
  void initialise(VectorRef<Real> x, Stream& stream) const override {
    x.setZero();
    if (door_->facts().has_start) door_->start(x, stream.next() >> 1);
  }
  Score score(ConstVectorRef<Real> x, Part part, Scratch<Real>& scratch) const override {
    return door_->facts().has_score ? door_->score(x, part) : Learner<Real>::score(x, part, scratch);
  }
  void predict(ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out, Scratch<Real>& scratch) const override {
    if (!door_->facts().has_predict) return Learner<Real>::predict(x, picks, out, scratch);
    door_->predict(x, picks, out);
  }

 private:
  std::shared_ptr<LearnerDoor<Real>> door_;
  ClientId client_;
};

void bind_score(py::module_& module);

}  // namespace rubato::python
