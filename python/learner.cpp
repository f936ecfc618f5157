#include "python/learner.hpp"

#include <cmath>
#include <cstring>
#include <ranges>

namespace rubato::python {

namespace {

constexpr std::uint32_t most_classes = 1'000'000;

std::int64_t whole_attribute(const py::object& learner, const char* name) {
  const py::object value = learner.attr(name);
  if (!PyIndex_Check(value.ptr()))
    throw py::type_error(std::string(name) + " of a learner must be a whole number, not " + described(value));
  return py::int_(value).cast<std::int64_t>();
}

std::int64_t checked_attribute(const py::object& learner, const char* name, std::int64_t low, std::int64_t high) {
  const std::int64_t value = whole_attribute(learner, name);
  if (value < low || value > high)
    throw py::value_error(std::string(name) + " of a learner is " + std::to_string(value) + ": must be at least " +
                          std::to_string(low) + " and at most " + std::to_string(high));
  return value;
}

// Only what the class itself has, not the methods of rubato.Learner that say what to write.
bool has_own(const py::object& learner, const char* name) {
  if (!py::hasattr(learner, name)) return false;
  const py::object base = py::module_::import("rubato").attr("Learner");
  const py::object type = py::type::of(learner);
  return !py::hasattr(type, name) || !py::hasattr(base, name) || !type.attr(name).is(base.attr(name));
}

Score plain_score(double mean_loss, std::uint64_t samples) {
  Score score;
  score.samples = samples;
  score.loss_sum = mean_loss * static_cast<double>(samples);
  return score;
}

/// The arrays that a learner object is handed, which Python owns: a view of them never shows memory of something else.
template <class Real>
struct LearnerMemory {
  std::mutex mutex;  // taken before the interpreter's lock
  Kept owner, x, g;  // of the learner object; empty: not handed out yet
  Real* x_numbers = nullptr;
  const Real* g_numbers = nullptr;
};

/// The learner of one client.
template <class Real>
class LocalDoor final : public LearnerDoor<Real> {
 public:
  using typename LearnerDoor<Real>::Facts;

  LocalDoor(const py::object& learner, std::shared_ptr<LearnerMemory<Real>> memory, Raised* raised)
      : raised_{raised}, memory_{std::move(memory)}, learner_{learner} {
    facts_.dimension = checked_attribute(learner, "dimension", 1, std::int64_t{1} << 40);
    facts_.samples = static_cast<std::uint32_t>(checked_attribute(learner, "samples", 1, 0xFFFF'FFFE));
    if (py::hasattr(learner, "classes"))
      facts_.classes = static_cast<std::uint32_t>(checked_attribute(learner, "classes", 0, most_classes));
    facts_.has_score = has_own(learner, "score");
    facts_.has_start = has_own(learner, "start");
    facts_.has_predict = has_own(learner, "predict");
    is_attached_ = has_own(*memory_->owner, "attach") && has_own(learner, "loss_at");
    if (!is_attached_ && !has_own(learner, "gradient"))
      throw py::type_error("a learner needs gradient(x, rows), or attach(x, g) and loss_at(rows)");
  }

  const Facts& facts() const override { return facts_; }

  Real gradient(ClientId, ConstVectorRef<Real> x, Picks picks, VectorRef<Real> g) override {
    const std::lock_guard alone(memory_->mutex);
    return call_python(raised_, [&] {
      load(x);
      const py::object rows = rows_of(picks);
      return is_attached_ ? loss_at(rows, g) : gradient_of(rows, g);
    });
  }

  Score score(ConstVectorRef<Real> x, Part part) override {
    const std::lock_guard alone(memory_->mutex);
    return call_python(raised_, [&] {
      load(x);
      const bool is_training = part == Part::train;
      const py::object rows = is_training ? all_rows() : py::none();
      const py::object answer = learner_->attr("score")(*memory_->x, rows);
      release("score");
      if (py::isinstance<Score>(answer)) {
        Score score = answer.cast<Score>();
        if (score.classes != facts_.classes)
          throw py::value_error("score() tells " + std::to_string(score.classes) + " classes apart, `classes` of the learner is " +
                                std::to_string(facts_.classes));
        return score;
      }
      if (facts_.classes > 0) throw py::type_error("score() of a learner with classes must return a rubato.Score");
      return plain_score(number_of(answer, "score()"), is_training ? facts_.samples : 1);
    });
  }

  void start(VectorRef<Real> x, std::uint64_t seed) override {
    const std::lock_guard alone(memory_->mutex);
    call_python(raised_, [&] {
      const py::object answer = learner_->attr("start")(seed);
      const auto count = static_cast<std::size_t>(facts_.dimension);
      const py::array_t<Real, py::array::c_style | py::array::forcecast> start(answer);  // of any numbers: it is asked for once
      const Real* numbers = numbers_in<Real>(start, count, "what start() returns");
      require_finite(numbers, count, "what start() returns");
      std::memcpy(x.data(), numbers, count * sizeof(Real));
    });
  }

  void predict(ConstVectorRef<Real> x, Picks picks, MatrixRef<Real> out) override {
    const std::lock_guard alone(memory_->mutex);
    call_python(raised_, [&] {
      load(x);
      const py::object answer = learner_->attr("predict")(*memory_->x, rows_of(picks));
      release("predict");
      const auto flat = answer.attr("reshape")(-1);
      const auto count = static_cast<std::size_t>(out.size());
      const Real* numbers = numbers_in<Real>(flat, count, "what predict() returns, row after row,");
      std::memcpy(out.data(), numbers, count * sizeof(Real));
    });
  }

 private:
  static double number_of(const py::object& value, const std::string& what) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      throw py::type_error("the loss that " + what + " returns must be a number, not " + described(value));
    }
    if (std::isnan(number)) throw py::value_error("the loss that " + what + " returns is not a number");
    return number;
  }

  void load(ConstVectorRef<Real> x) {
    if (!*memory_->x) hand_out();
    std::memcpy(memory_->x_numbers, x.data(), static_cast<std::size_t>(x.size()) * sizeof(Real));
  }
  void hand_out() {
    const auto count = static_cast<std::size_t>(facts_.dimension);
    py::array_t<Real> x = new_array<Real>(count), g = new_array<Real>(count);
    memory_->x_numbers = x.mutable_data(), memory_->g_numbers = g.data();
    memory_->x.set(std::move(x)), memory_->g.set(std::move(g));
    if (is_attached_) memory_->owner->attr("attach")(*memory_->x, *memory_->g);
  }

  // Somewhere a view of x is kept: it would show another model in the next call. The next call gets other memory.
  void release(const char* method) {
    if (is_attached_ || memory_->x->ref_count() == 1) return;
    py::module_::import("gc").attr("collect")();
    if (memory_->x->ref_count() == 1) return;
    memory_->x.set(py::object());
    throw py::value_error(std::string(method) + "() keeps x, or a view of it, beyond the call: keep x.copy()");
  }

  Real loss_at(const py::object& rows, VectorRef<Real> g) {
    const double loss = number_of(learner_->attr("loss_at")(rows), "loss_at()");
    const auto count = static_cast<std::size_t>(facts_.dimension);
    require_finite(memory_->g_numbers, count, "the gradient that loss_at() leaves in g");
    std::memcpy(g.data(), memory_->g_numbers, count * sizeof(Real));
    return static_cast<Real>(loss);
  }

  Real gradient_of(const py::object& rows, VectorRef<Real> g) {
    const double loss = called_gradient(rows, g);  // what it returned is gone here
    release("gradient");
    return static_cast<Real>(loss);
  }
  double called_gradient(const py::object& rows, VectorRef<Real> g) {
    const py::object answer = learner_->attr("gradient")(*memory_->x, rows);
    if (!py::isinstance<py::tuple>(answer) || py::len(answer) != 2)
      throw py::type_error("gradient() must return (loss, g), not " + described(answer));
    const py::tuple pair(answer);
    const double loss = number_of(pair[0], "gradient()");
    const auto count = static_cast<std::size_t>(facts_.dimension);
    const py::object gradient = pair[1];
    const Real* numbers = numbers_in<Real>(gradient, count, "g of gradient()");
    require_finite(numbers, count, "g of gradient()");
    std::memcpy(g.data(), numbers, count * sizeof(Real));
    return loss;
  }

  py::object rows_of(Picks picks) { return picks.empty() ? all_rows() : py::object(array_of<std::int64_t>(picks)); }
  py::object all_rows() {
    if (*all_rows_) return *all_rows_;
    const auto rows = array_of<std::int64_t>(std::views::iota(0u, facts_.samples));
    py::detail::array_proxy(rows.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
    all_rows_.set(rows);
    return *all_rows_;
  }

  Raised* raised_;
  Facts facts_;
  bool is_attached_ = false;  // writes into g
  std::shared_ptr<LearnerMemory<Real>> memory_;
  Kept learner_, all_rows_;
};

Score score_of(double loss_sum, std::uint64_t samples, const py::object& truth, const py::object& predictions,
               std::uint32_t classes) {
  if (truth.is_none() != predictions.is_none() || truth.is_none() != (classes == 0))
    throw py::value_error("a Score of classes needs truth, predictions and classes; without classes it has none of them");
  Score score = empty_score(classes);
  score.loss_sum = loss_sum;
  score.samples = samples;
  if (truth.is_none()) return score;
  using Labels = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
  const Labels true_labels(truth), predicted(predictions);
  if (true_labels.ndim() != 1 || predicted.ndim() != 1 || true_labels.size() != predicted.size())
    throw py::value_error("truth and predictions of a Score must have one label a sample each");
  score.samples = 0;
  for (py::ssize_t i = 0; i < true_labels.size(); ++i) {
    const std::int64_t is = true_labels.data()[i], said = predicted.data()[i];
    if (is < 0 || said < 0 || is >= classes || said >= classes)
      throw py::value_error("a label of a Score lies beyond 0 .. " + std::to_string(classes - 1));
    score.count(static_cast<Label>(is), static_cast<Label>(said));
  }
  return score;
}

// The memories of all runs, by the object that was handed them; the interpreter's lock guards it.
std::map<PyObject*, std::weak_ptr<void>>& learners_at_work() {
  static std::map<PyObject*, std::weak_ptr<void>> all;
  return all;
}

// Two runs would write into each other's arrays.
void refuse_if_at_work(PyObject* owner) {
  std::erase_if(learners_at_work(), [](const auto& each) { return each.second.expired(); });
  if (learners_at_work().contains(owner))
    throw py::value_error("this learner is at work in another run: each needs one of its own");
}

}  // namespace

template <class Real>
std::shared_ptr<LearnerDoor<Real>> open_learner(const py::object& learner, LearnerMemories& memories, Raised* raised) {
  const py::object owner = py::hasattr(learner, "shared") ? py::object(learner.attr("shared")) : learner;
  std::shared_ptr<void>& memory = memories[owner.ptr()];
  if (!memory) {
    refuse_if_at_work(owner.ptr());
    const auto made = std::make_shared<LearnerMemory<Real>>();
    made->owner.set(owner);
    learners_at_work()[owner.ptr()] = memory = made;
  }
  return std::make_shared<LocalDoor<Real>>(learner, std::static_pointer_cast<LearnerMemory<Real>>(memory), raised);
}

template std::shared_ptr<LearnerDoor<float>> open_learner<float>(const py::object&, LearnerMemories&, Raised*);
template std::shared_ptr<LearnerDoor<double>> open_learner<double>(const py::object&, LearnerMemories&, Raised*);

void bind_score(py::module_& module) {
  py::class_<Score>(module, "Score", "What a model did on some samples: what score() of a learner returns.")
      .def(py::init(&score_of), py::arg("loss_sum"), py::arg("samples") = 0, py::kw_only(), py::arg("truth") = py::none(),
           py::arg("predictions") = py::none(), py::arg("classes") = 0,
           "The sum of the losses of `samples` samples; with classes the true and the predicted label of each, and then samples "
           "are counted.")
      .def_readonly("samples", &Score::samples, "Samples that were looked at.")
      .def_readonly("correct", &Score::correct, "Samples whose class was found.")
      .def_readonly("loss_sum", &Score::loss_sum, "Sum of their losses.")
      .def_readonly("classes", &Score::classes, "Classes told apart; 0: nothing is classified.")
      .def_property_readonly("accuracy", &Score::accuracy, "Share of samples whose class was found.")
      .def_property_readonly("mean_loss", &Score::mean_loss, "Loss a sample.");
}

}  // namespace rubato::python
