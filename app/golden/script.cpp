#include "app/golden/script.hpp"

#include <algorithm>
#include <stdexcept>

#include "actors/virtual/virtual_run.hpp"
#include "algos/catalogue.hpp"
#include "learning/models/problems.hpp"

namespace rubato::golden {

namespace {

Matrix<double> to_matrix(const Json& json) {
  const auto rows = json.get<std::vector<std::vector<double>>>();
  Matrix<double> matrix(static_cast<Index>(rows.size()), rows.empty() ? 0 : static_cast<Index>(rows[0].size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != rows[0].size()) throw std::invalid_argument("the rows of a matrix are not of one length");
    for (std::size_t k = 0; k < rows[i].size(); ++k) matrix(static_cast<Index>(i), static_cast<Index>(k)) = rows[i][k];
  }
  return matrix;
}

std::unique_ptr<Learner<double>> to_learner(const Json& problem, std::size_t client) {
  const auto kind = problem.at("kind").get<std::string>();
  if (kind == "quadratic")
    return make_quadratic<double>(to_matrix(problem.at("A").at(client)), to_vector(problem.at("c").at(client)));
  const Matrix<double> inputs = to_matrix(problem.at("X").at(client));
  const double l2 = problem.value("lam", 0.0);
  if (kind == "least_squares") return make_least_squares<double>(inputs, to_vector(problem.at("b").at(client)), l2);
  if (kind == "logistic") return make_logistic<double>(inputs, to_vector(problem.at("b").at(client)), l2);
  if (kind == "softmax")
    return make_softmax_problem<double>(inputs, problem.at("y").at(client).get<std::vector<Label>>(),
                                        problem.at("classes").get<std::uint32_t>(), l2);
  throw std::invalid_argument("problem.kind \"" + kind + "\" is not known");
}

class VectorProbe final : public Probe {
 public:
  explicit VectorProbe(Vectors& vectors) : vectors_{vectors} {}
  void vector(std::string_view name, std::span<const double> values) override {
    vectors_[std::string(name)].assign(values.begin(), values.end());
  }

 private:
  Vectors& vectors_;
};

class ScriptedTask final : public Task {
 public:
  explicit ScriptedTask(const ScriptedNumbers& numbers)
      : numbers_{numbers},
        factory_{make_algorithm<double>(catalogue_entry(numbers.algorithm), numbers.options)},
        evaluation_{numbers.learners, false} {
    for (const auto& learner : numbers.learners) samples_.push_back(learner->samples());
  }

  std::size_t dimension() const override { return numbers_.start.front().size(); }
  std::size_t scalar_bytes() const override { return sizeof(double); }
  const Evaluation& evaluation() const override { return evaluation_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  std::span<const std::uint32_t> samples() const override { return samples_; }

  std::unique_ptr<Performer> make_performer(const ClientView& client_view, TensorPool& pool) const override {
    const ClientId client = client_view.client;
    const std::vector<double>& numbers = numbers_.start[client.value];
    const Vector<double> start = Eigen::Map<const Vector<double>>(numbers.data(), static_cast<Index>(numbers.size()));
    BatchPlan plan;
    plan.client = client;
    if (!numbers_.choices.empty()) plan.table = &numbers_.choices[client.value];
    return std::make_unique<PerformerOf<double>>(factory_(client_view, view(start), pool), *numbers_.learners[client.value], plan,
                                                 pool);
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

void check(const ScriptedNumbers& numbers, std::size_t clients) {
  const auto known = catalogue_entry(numbers.algorithm).options;
  if (numbers.options.has("step") &&
      std::none_of(known.begin(), known.end(), [](const OptionSpec& option) { return option.name == "step"; }))
    throw std::invalid_argument(numbers.algorithm + " has no step size that diminishes");
  if (numbers.learners.size() != clients || numbers.start.size() != clients)
    throw std::invalid_argument("the problem or its start is not for " + std::to_string(clients) + " clients");
  for (const std::vector<double>& start : numbers.start)
    if (start.size() != numbers.start.front().size()) throw std::invalid_argument("the models are not of one size");
  for (std::size_t i = 0; i < clients; ++i)
    if (static_cast<Index>(numbers.start[i].size()) != numbers.learners[i]->dimension())
      throw std::invalid_argument("the start of client " + std::to_string(i) + " has not the dimension of its problem");
  for (std::size_t i = 0; i < numbers.choices.size() && i < clients; ++i) {
    const Learner<double>& learner = *numbers.learners[i];
    for (const Rows& batch : numbers.choices[i].batches) require_below(learner.samples(), batch, "samples");
    for (const auto& [address, coordinates] : numbers.choices[i].coordinates)
      require_below(static_cast<std::size_t>(learner.dimension()), coordinates, "coordinates");
  }
}

std::vector<std::unique_ptr<Learner<double>>> to_learners(const Json& problem) {
  const std::size_t clients = problem.contains("A") ? problem.at("A").size() : problem.at("X").size();
  std::vector<std::unique_ptr<Learner<double>>> learners;
  for (std::size_t i = 0; i < clients; ++i) learners.push_back(to_learner(problem, i));
  return learners;
}

std::vector<std::vector<double>> to_start(const Json& x0, std::size_t clients) {
  if (x0.at(0).is_array()) return x0.get<std::vector<std::vector<double>>>();
  return std::vector<std::vector<double>>(clients, x0.get<std::vector<double>>());
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

std::vector<Traffic> ProbeTable::last_traffic() const {
  std::vector<Traffic> all;
  for (const auto& [client, traffic] : traffic_) all.push_back(traffic);
  return all;
}

void perform_script(Timing& timing, const ScriptedNumbers& numbers, ScriptObserver& observer, ProbeTable& table) {
  check(numbers, timing.graph.clients());
  const ScriptedTask task(numbers);
  RunOptions options;
  options.threads = 2;
  VirtualRun virtual_run(task, options, timing.views(true), &table);
  StepDispatcher dispatcher(virtual_run.control(), nullptr);
  std::uint64_t next_probe = std::uint64_t{1} << 32;  // far from the numbers of samples
  observer.probe = [&](ClientId client, Time at) {
    dispatcher.perform({.kind = StepKind::measure, .client = client, .index = next_probe, .at = at, .entries = {}});
    return next_probe++;
  };
  timing.conductor.samples_last_state = true;
  bool stops = false;
  observer.stop = [&] { stops = true; };
  Conductor conductor(timing.conductor, timing.make_protocols(), dispatcher, &observer);
  observer.on_start();
  observer.stop = [&] { conductor.stop(); };
  if (stops) conductor.stop();
  virtual_run.perform(conductor, dispatcher, Credit::automatic(timing.graph.clients(), task.dimension() * sizeof(double), 0, 0));
  if (const auto failure = virtual_run.client_pool().failure()) throw std::runtime_error(to_string(*failure));
  observer.on_end(conductor);
}

namespace {

class StepList final : public StepSource {
 public:
  StepList(const std::vector<ListedStep>& steps, std::size_t clients, StepSink& sink)
      : steps_{steps}, sink_{sink}, hashes_(clients) {}

  bool walk(std::uint64_t) override {
    for (const ListedStep& listed : steps_) hand_out(listed);
    is_over_ = true;
    return false;
  }
  void stop() override { is_over_ = true; }
  bool is_over() const override { return is_over_; }
  Time now() const override { return {}; }
  std::uint64_t events() const override { return 0; }
  const std::vector<StepHash>& hashes() const override { return hashes_; }

 private:
  void hand_out(const ListedStep& listed) {
    Step step = listed.step;
    std::vector<StepEntry> entries = listed.entries;
    if (listed.looks) step.kind = StepKind::measure;
    if (step.kind == StepKind::publish && !entries.empty()) {
      const SlotIndex slot = sink_.open_slot(static_cast<std::uint32_t>(entries.size()));
      for (StepEntry& entry : entries) entry.slot = slot;
      slots_[{step.client, entries.front().sequence}] = slot;
    }
    if (step.kind == StepKind::merge)
      for (StepEntry& entry : entries) entry.slot = slots_.at({entry.peer, entry.sequence});
    step.entries = entries;
    sink_.perform(step);
  }

  const std::vector<ListedStep>& steps_;
  StepSink& sink_;
  std::vector<StepHash> hashes_;
  std::map<std::pair<ClientId, Sequence>, SlotIndex> slots_;
  bool is_over_ = false;
};

}  // namespace

void perform_list(const std::vector<ListedStep>& steps, const Graph& graph, const ScriptedNumbers& numbers, ProbeTable& table) {
  check(numbers, graph.clients());
  const ScriptedTask task(numbers);
  RunOptions options;
  options.threads = 2;
  VirtualRun virtual_run(task, options, {graph}, &table);
  StepDispatcher dispatcher(virtual_run.control(), nullptr);
  StepList list(steps, graph.clients(), dispatcher);
  virtual_run.perform(list, dispatcher, Credit::automatic(graph.clients(), task.dimension() * sizeof(double), 0, 0));
  if (const auto failure = virtual_run.client_pool().failure()) throw std::runtime_error(to_string(*failure));
}

}  // namespace rubato::golden
