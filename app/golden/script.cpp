#include "app/golden/script.hpp"

#include <algorithm>
#include <stdexcept>

#include "actors/virtual/virtual_run.hpp"
#include "learning/models/problems.hpp"

namespace rubato::golden {

namespace {

std::unique_ptr<Learner<double>> to_learner(const Json& problem, std::size_t client) {
  const auto kind = problem.at("kind").get<std::string>();
  if (kind == "quadratic")
    return make_quadratic<double>(problem.at("A").at(client).get<Matrix<double>>(),
                                  problem.at("c").at(client).get<Vector<double>>());
  const auto inputs = problem.at("X").at(client).get<Matrix<double>>();
  const double l2 = problem.value("lam", 0.0);
  const auto targets = [&] { return problem.at("b").at(client).get<Vector<double>>(); };
  if (kind == "least_squares") return make_least_squares<double>(inputs, targets(), l2);
  if (kind == "logistic") return make_logistic<double>(inputs, targets(), l2);
  if (kind == "softmax")
    return make_softmax_problem<double>(inputs, problem.at("y").at(client).get<std::vector<Label>>(),
                                        problem.at("classes").get<std::uint32_t>(), l2);
  throw std::invalid_argument("problem.kind \"" + kind + "\" is not known");
}

class VectorProbe final : public Probe {
 public:
  explicit VectorProbe(Vectors& vectors) : vectors_{vectors} {}
  void vector(std::string_view name, std::span<const double> values) override {
    vectors_[std::string(name)] = Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size()));
  }

 private:
  Vectors& vectors_;
};

class ScriptedTask final : public Task {
 public:
  ScriptedTask(const ScriptedNumbers& numbers, std::size_t clients)
      : numbers_{numbers},
        factory_{make_algorithm<double>(catalogue_entry(numbers.algorithm), numbers.options)},
        evaluation_{numbers.learners, false} {
    numbers.require(clients);
    for (const auto& learner : numbers.learners) samples_.push_back(learner->samples());
  }

  std::size_t dimension() const override { return static_cast<std::size_t>(numbers_.start.front().size()); }
  std::size_t scalar_bytes() const override { return sizeof(double); }
  const Evaluation& evaluation() const override { return evaluation_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  std::span<const std::uint32_t> samples() const override { return samples_; }

  std::unique_ptr<Performer> make_performer(const ClientView& client_view, TensorPool& pool) const override {
    const ClientId client = client_view.client;
    const BatchPlan plan{
        .client = client, .table = &numbers_.choices[client.value], .local_batches = local_batches_of(numbers_.options)};
    return std::make_unique<PerformerOf<double>>(factory_(client_view, view(numbers_.start[client.value]), pool),
                                                 *numbers_.learners[client.value], plan, pool);
  }

 private:
  const ScriptedNumbers& numbers_;
  AlgorithmFactory<double> factory_;
  EvaluationOf<double> evaluation_;
  std::vector<std::string> notes_;
  std::vector<std::uint32_t> samples_;
};

void require_below(std::size_t bound, const Rows& picked, const char* what) {
  for (const std::uint32_t one : picked)
    if (one >= bound)
      throw std::out_of_range("there are " + std::to_string(bound) + " " + what + ", no number " + std::to_string(one));
}

}  // namespace

ScriptedNumbers::ScriptedNumbers(const Json& problem, const Json& parameters, const std::string& of_catalogue)
    : learners{to_learners(problem)},
      start{to_start(parameters.at(parameters.contains("x0") ? "x0" : "theta0"), learners.size())},
      choices(learners.size()),
      algorithm{of_catalogue},
      options{to_options(parameters, catalogue_entry(of_catalogue).options)} {}

ScriptedNumbers::ScriptedNumbers(std::size_t clients)
    : start(clients, Vector<double>::Zero(1)), choices(clients), algorithm{"draco"} {
  for (std::size_t i = 0; i < clients; ++i)
    learners.push_back(make_quadratic<double>(Matrix<double>::Zero(1, 1), Vector<double>::Zero(1)));
}

Needs ScriptedNumbers::needs() const { return catalogue_entry(algorithm).needs(options); }

void ScriptedNumbers::require(std::size_t clients) const {
  if (options.has("step") &&
      std::ranges::find(catalogue_entry(algorithm).options, "step", &OptionSpec::name) == catalogue_entry(algorithm).options.end())
    throw std::invalid_argument(algorithm + " has no step size that diminishes");
  if (learners.size() != clients || start.size() != clients)
    throw std::invalid_argument("the problem or its start is not for " + std::to_string(clients) + " clients");
  for (std::size_t i = 0; i < clients; ++i) {
    const Learner<double>& learner = *learners[i];
    if (start[i].size() != start[0].size()) throw std::invalid_argument("the models are not of one size");
    if (start[i].size() != learner.dimension())
      throw std::invalid_argument("the start of client " + std::to_string(i) + " has not the dimension of its problem");
    for (const Rows& batch : choices[i].batches) require_below(learner.samples(), batch, "samples");
    for (const auto& [address, coordinates] : choices[i].coordinates)
      require_below(static_cast<std::size_t>(learner.dimension()), coordinates, "coordinates");
  }
}

Vector<double> sum_of(const States& states, const std::string& name) {
  Vector<double> sum = Vector<double>::Zero(states.front()->at(name).size());
  for (const Vectors* state : states) sum += state->at(name);
  return sum;
}

Json in_shape(const Vector<double>& vector, Shape shape) {
  if (shape == Shape::vector) return vector;
  if (vector.size() == 0) throw std::out_of_range("there is no number to be shown");
  return shape == Shape::whole ? Json(static_cast<std::int64_t>(vector[0])) : Json(vector[0]);
}

namespace {

constexpr double moves_nothing = 1e-300;
constexpr OptionSpec part_of_option{"", OptionType::whole, "", ""};

AlgorithmOptions::Value to_option(const Json& value, const OptionSpec& spec) {
  const auto allowed = [&](double number) { return number == 0 && spec.low == 0 && spec.low_is_out ? moves_nothing : number; };
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer() && spec.type == OptionType::whole) return value.get<std::int64_t>();
  if (value.is_number()) return allowed(value.get<double>());
  auto numbers = value.get<std::vector<double>>();
  if (numbers.empty()) throw std::invalid_argument(std::string(spec.name) + " is an empty list");
  for (double& number : numbers) number = allowed(number);
  return numbers;
}

// {type, ...} as the word of that name and options of their own.
void set_parts(const Json& whole, const std::string& name, const std::string& prefix, std::initializer_list<const char*> parts,
               AlgorithmOptions& options) {
  options.set(name, whole.at("type").get<std::string>());
  for (const char* part : parts)
    if (whole.contains(part)) options.set(prefix + part, to_option(whole.at(part), part_of_option));
}

}  // namespace

AlgorithmOptions to_options(const Json& parameters, std::span<const OptionSpec> known) {
  AlgorithmOptions options;
  const Json* batches = given(parameters, "B");  // local batches; where it is an array, a matrix
  if (batches && batches->is_number()) options.set("local_batches", to_option(*batches, shared_options[0]));
  for (const OptionSpec& spec : known) {
    const std::string name(spec.name);
    const Json* value = given(parameters, name.c_str());
    if (!value) continue;
    if (name == "h" && value->is_object()) {
      set_parts(*value, name, "h_", {"lam", "theta", "a"}, options);
    } else if (name == "compressor") {
      set_parts(*value, name, "", {"k", "unbiased", "bits"}, options);
    } else if (name == "weighting" && *value == "size") {
      options.set(name, std::string("samples"));
    } else if (value->is_object()) {
      options.set(name, to_option(value->at("delta"), spec));
      options.set("step", std::string("diminishing"));
      options.set("step_offset", value->at("Gamma").get<double>());
    } else {
      options.set(name, to_option(*value, spec));
    }
  }
  return options;
}

std::vector<std::unique_ptr<Learner<double>>> to_learners(const Json& problem) {
  const std::size_t clients = problem.contains("A") ? problem.at("A").size() : problem.at("X").size();
  std::vector<std::unique_ptr<Learner<double>>> learners;
  for (std::size_t i = 0; i < clients; ++i) learners.push_back(to_learner(problem, i));
  return learners;
}

std::vector<Vector<double>> to_start(const Json& x0, std::size_t clients) {
  if (x0.at(0).is_array()) return x0.get<std::vector<Vector<double>>>();
  return std::vector(clients, x0.get<Vector<double>>());
}

void ProbeTable::on_measure(const Step& step, const Performer& performer, ThreadMemory& memory) {
  Vectors vectors;
  VectorProbe probe(vectors);
  performer.inspect(probe);
  const Tensor evaluated = performer.snapshot(memory);
  probe.vector("snapshot", {evaluated.data<double>(), evaluated.count()});
  const std::lock_guard lock(mutex_);
  seen_[{step.index, step.client}] = std::move(vectors);
  traffic_[step.client] = performer.traffic();
}

double ProbeTable::paper_bits() const {
  double bits = 0;
  for (const auto& [client, traffic] : traffic_) bits += traffic.paper_bits;
  return bits;
}

namespace {

RunOptions on_two_threads() {
  RunOptions options;
  options.threads = 2;
  return options;
}

// The clients at work for as long as it lives.
struct Scene {
  Scene(const ScriptedNumbers& numbers, const ClientViews& views, ProbeTable& table)
      : clients{views.clients()}, task{numbers, clients}, run{task, options, views, &table} {}

  void perform(StepSource& source) {
    run.perform(source, dispatcher, Credit::automatic(clients, task.dimension() * sizeof(double), {}));
    if (const auto failure = run.client_pool().failure()) throw std::runtime_error(to_string(*failure));
  }

  const std::size_t clients;
  const RunOptions options = on_two_threads();
  ScriptedTask task;
  VirtualRun run;
  StepDispatcher dispatcher{run.control(), nullptr};
};

}  // namespace

void perform_script(Timing& timing, const ScriptedNumbers& numbers, ScriptObserver& observer, ProbeTable& table) {
  Scene scene(numbers, timing.views(true), table);
  std::uint64_t next_probe = std::uint64_t{1} << 32;  // far from the numbers of samples
  observer.probe = [&](ClientId client, Time at) {
    scene.dispatcher.perform({.kind = StepKind::measure, .client = client, .index = next_probe, .at = at, .entries = {}});
    return next_probe++;
  };
  timing.conductor.samples_last_state = true;
  bool stops = false;
  observer.stop = [&] { stops = true; };
  Conductor conductor(timing.conductor, timing.make_protocols(), scene.dispatcher, &observer);
  observer.on_start();
  observer.stop = [&] { conductor.stop(); };
  if (stops) conductor.stop();
  scene.perform(conductor);
  observer.on_end(conductor);
}

namespace {

// All steps in one walk.
class PlayedSteps final : public StepSource {
 public:
  PlayedSteps(const std::function<void(StepSink&)>& play, std::size_t clients, StepSink& sink)
      : play_{play}, sink_{sink}, hashes_(clients) {}

  bool walk(std::uint64_t) override {
    play_(sink_);
    is_over_ = true;
    return false;
  }
  void stop() override { is_over_ = true; }
  bool is_over() const override { return is_over_; }
  Time now() const override { return {}; }
  std::uint64_t events() const override { return 0; }
  const std::vector<StepHash>& hashes() const override { return hashes_; }

 private:
  const std::function<void(StepSink&)>& play_;
  StepSink& sink_;
  std::vector<StepHash> hashes_;
  bool is_over_ = false;
};

}  // namespace

void perform_steps(const std::function<void(StepSink&)>& play, const Graph& graph, const ScriptedNumbers& numbers,
                   ProbeTable& table) {
  Scene scene(numbers, {graph}, table);
  PlayedSteps steps(play, graph.clients(), scene.dispatcher);
  scene.perform(steps);
}

}  // namespace rubato::golden
