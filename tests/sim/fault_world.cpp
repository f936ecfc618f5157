#include "tests/sim/fault_world.hpp"

#include <algorithm>
#include <sstream>

namespace rubato::test {

namespace {

using What = ChurnLine::What;

// Keeps its window when a new epoch begins.
class KeepsWindow final : public Protocol {
 public:
  explicit KeepsWindow(std::unique_ptr<Protocol> inner) : inner_{std::move(inner)} {}
  void start(Effects& effects) override { inner_->start(effects); }
  void on_compute(Time now, std::uint32_t detail, Effects& effects) override { inner_->on_compute(now, detail, effects); }
  void on_transmit(Time now, std::uint32_t detail, Effects& effects) override { inner_->on_transmit(now, detail, effects); }
  void on_departed(std::size_t count, Time now, Effects& effects) override { inner_->on_departed(count, now, effects); }
  void on_request(Time now, ClientId from, std::uint32_t tag, Effects& effects) override {
    inner_->on_request(now, from, tag, effects);
  }
  Offer on_arrival(const Arrival& arrival, Effects& effects) override { return inner_->on_arrival(arrival, effects); }
  void on_window_close(Time now, Effects& effects) override { inner_->on_window_close(now, effects); }
  void resume(Time now, Effects& effects) override { inner_->resume(now, effects); }
  void on_leave(Time now, Effects& effects) override { inner_->on_leave(now, effects); }
  void on_presence(ClientId neighbour, bool is_here, Time now, Effects& effects) override {
    inner_->on_presence(neighbour, is_here, now, effects);
  }
  void on_new_life(ClientId sender) override { inner_->on_new_life(sender); }
  void on_refill() override { inner_->on_refill(); }
  void on_unify(Time, bool, Effects&) override {}
  const Mailbox& mailbox() const override { return inner_->mailbox(); }

 private:
  std::unique_ptr<Protocol> inner_;
};

std::vector<double> links_of(const MixingMatrix& matrix) { return {matrix.link_weights().begin(), matrix.link_weights().end()}; }

}  // namespace

std::vector<ChurnLine> with_calm(std::vector<ChurnLine> lines) {
  const ChurnPlan plan(fault_clients, lines, fault_times);
  Attendance end(plan);
  while (end.next() != never) end.take();
  ChurnLine join{at_seconds(fault_phase), What::join, {}, {}, Origin::neighbour, "calm"};
  ChurnLine go_on{at_seconds(fault_phase), What::go_on, {}, {}, Origin::neighbour, "calm"};
  for (std::uint32_t i = 0; i < fault_clients; ++i) {
    if (!end.is_here({i})) join.clients.push_back({i});
    if (end.is_paused({i})) go_on.clients.push_back({i});
  }
  if (!join.clients.empty()) lines.push_back(join);
  if (!go_on.clients.empty()) lines.push_back(go_on);
  if (end.is_cut()) lines.push_back({at_seconds(fault_phase), What::heal, {}, {}, Origin::neighbour, "calm"});
  return lines;
}

FaultWorld::FaultWorld(std::uint64_t seed, std::vector<ChurnLine> lines, Planted planted)
    : seed_{seed},
      chance_(seed, {0}, Purpose::split, 1),
      planted_{planted},
      subject_{subject_of(seed)},
      graph_{chance_.uniform() < 0.5 ? topologies::complete(fault_clients) : topologies::exponential(fault_clients)},
      lines_{with_calm(std::move(lines))} {
  const CatalogueEntry& entry = catalogue_entry(subject_.name);
  if (entry.share == Weights::doubly || entry.merge == Weights::doubly) graph_ = topologies::complete(fault_clients);
  plan_ = ChurnPlan(fault_clients, lines_, fault_times);
  push_.graph = &graph_;
  push_.seed = seed;
  push_.needs = entry.needs(subject_.options);
  for (std::uint32_t i = 0; i < fault_clients; ++i)
    push_.compute.push_back(subject_.computes ? TimerLaw::poisson(0.5 + 0.25 * (i % 4)) : TimerLaw::off());
  push_.transmit = {TimerLaw::poisson(1.5)};
  push_.limits.window = from_seconds(chance_.uniform() < 0.3 ? 0 : 0.1);
  if (chance_.uniform() < 0.5) push_.limits.deadline = from_seconds(1.5);
  if (chance_.uniform() < 0.5) push_.limits.cap = 6 + static_cast<std::uint32_t>(chance_.below(10));
  push_.may_duplicate = true;
  push_.shares_out_weights = entry.merge == Weights::neighbours;
  const auto weigh = [&](Weights weights) -> std::vector<std::vector<double>> {
    switch (weights) {
      case Weights::row:
        return {links_of(weights::uniform_row(graph_))};
      case Weights::column:
        return {links_of(weights::uniform_column(graph_))};
      case Weights::doubly:
        return {links_of(weights::metropolis(graph_))};
      case Weights::neighbours:
        return {links_of(weights::neighbours_only(graph_))};
      default:
        return {};
    }
  };
  push_.merge_weights = weigh(entry.merge);
  push_.share_weights = weigh(entry.share);
  channel_ = std::make_unique<RandomChannel>(
      seed,
      RandomChannel::LinkLaw{{.kind = Law::Kind::exponential, .first = 0.05 + 0.3 * chance_.uniform()},
                             0.4 * chance_.uniform(),
                             0.2 * chance_.uniform()},
      std::map<std::pair<ClientId, ClientId>, RandomChannel::LinkLaw>{});
  settings_.seed = seed;
  settings_.graph = &graph_;
  settings_.channel = channel_.get();
  settings_.cap_period = from_seconds(1);
  settings_.samples_last_state = false;
  settings_.until = at_seconds(fault_phase + subject_.calm);
  settings_.churn = &plan_;
  settings_.passes_mass_on = (!push_.share_weights.empty() || push_.needs.in_order) && planted != Planted::no_reset;
  settings_.may_adopt = entry.may_be_unified;
  // DRACO adds increments up and mixes no models: without unification loss alone drives models apart.
  if (entry.may_be_unified && (chance_.uniform() < 0.5 || entry.merge == Weights::neighbours)) {
    settings_.unification.period = from_seconds(7);
    settings_.unification.via_transport = chance_.uniform() < 0.5;
  }
  run_ = make_clients(entry);
}

std::unique_ptr<PerformedRun> FaultWorld::make_clients(const CatalogueEntry& entry) {
  std::vector<std::unique_ptr<Learner<double>>> learners;
  std::vector<Vector<double>> starts;
  for (std::uint32_t i = 0; i < fault_clients; ++i) {
    Stream own(seed_, ClientId{i}, Purpose::init);
    Matrix<double> pull = Matrix<double>::Identity(dimension, dimension);
    Vector<double> centre = Vector<double>::Ones(dimension), start(dimension);
    for (Index k = 0; k < dimension; ++k) {
      if (subject_.is_pulled_apart) centre[k] = 2 * own.uniform() - 1;
      start[k] = 4 * own.uniform() - 2;
    }
    learners.push_back(make_quadratic<double>(pull, centre));
    starts.push_back(start);
  }
  return std::make_unique<PerformedRun>(graph_, std::move(learners), make_algorithm<double>(entry, subject_.options), starts,
                                        false);
}

void FaultWorld::run(Hardship& hardship) {
  const bool passes_mass_on = !push_.share_weights.empty();
  const Weights merge = catalogue_entry(subject_.name).merge;
  FaultWatch watch(*run_, graph_, passes_mass_on, merge == Weights::neighbours);
  FaultObserver observer(
      watch, TimingCheck(push_, push_.needs.absorb == AbsorbAt::window, merge == Weights::row || merge == Weights::doubly));
  for (std::uint32_t i = 0; i < fault_clients; ++i)
    if (!plan_.begins_here({i})) watch.begin_absent({i});
  for (const ChurnEvent& event : plan_.events()) watch.expect_change(event.client, event.at);
  std::vector<std::unique_ptr<Protocol>> protocols;
  for (std::uint32_t i = 0; i < fault_clients; ++i) {
    protocols.push_back(std::make_unique<Push>(push_, ClientId{i}));
    if (planted_ == Planted::old_window) protocols.back() = std::make_unique<KeepsWindow>(std::move(protocols.back()));
  }
  Conductor conductor(settings_, std::move(protocols), watch, &observer);
  std::uint64_t walked = 0;
  while (conductor.walk(1)) {
    if (watch.take_question()) conductor.answer(watch.answer());
    hardship.balanced += watch.check_balance(conductor.now());
    if (++walked % 256 == 0) check_counts(conductor, watch);
  }
  check_counts(conductor, watch);
  hardship.events += conductor.events();
  hardship.churn += conductor.attendance() ? conductor.attendance()->counts() : ChurnCounts{};
  hardship.messages += conductor.total_counts();
  if (passes_mass_on && !watch.is_whole()) throw Broken("in the calm some mass is still missing");
  const double rest = disagreement();
  if (!(rest < subject_.agreement)) throw Broken("in the calm models are still " + std::to_string(rest) + " apart");
}

void FaultWorld::check_counts(const Conductor& conductor, const FaultWatch& watch) const {
  if (planted_ == Planted::old_window) return;  // the protocol around the protocol counts for itself
  const MessageCounts counts = conductor.total_counts();
  const std::uint64_t in = counts.sent + watch.copies();
  const std::uint64_t out = counts.arrived() + counts.lost_in_all();
  if (in == out + conductor.under_way()) return;
  throw Broken("of " + std::to_string(in) + " messages sent, copies included, " + std::to_string(out) +
               " have come to an end and " + std::to_string(conductor.under_way()) + " are under way");
}

double FaultWorld::disagreement() const {
  Vector<double> mean = Vector<double>::Zero(dimension);
  for (std::uint32_t i = 0; i < fault_clients; ++i) mean += run_->model(i) / fault_clients;
  double worst = 0;
  for (std::uint32_t i = 0; i < fault_clients; ++i) worst = std::max(worst, (run_->model(i) - mean).norm());
  return worst;
}

std::vector<ChurnLine> sound(const std::vector<ChurnLine>& lines) {
  std::vector<ChurnLine> kept;
  for (const ChurnLine& line : lines) {
    kept.push_back(line);
    try {
      const ChurnPlan plan(fault_clients, kept, fault_times);
    } catch (const std::invalid_argument&) {
      kept.pop_back();
    }
  }
  return kept;
}

std::vector<ChurnLine> random_script(std::uint64_t seed) {
  Stream chance(seed, {0}, Purpose::split, 2);
  const auto some = [&](std::uint64_t bound) { return static_cast<std::uint32_t>(chance.below(bound)); };
  std::vector<ChurnLine> lines;
  const std::uint32_t count = 6 + some(20);
  for (std::uint32_t i = 0; i < count; ++i) {
    ChurnLine line;
    line.at = at_seconds(0.01 * (1 + some(static_cast<std::uint64_t>(100 * fault_phase) - 1)));
    line.what = static_cast<What>(some(8));
    line.from = static_cast<Origin>(some(3));
    line.name = "line";
    if (line.what == What::partition) {
      line.groups.resize(1 + some(2));
      for (std::uint32_t client = 0; client < fault_clients; ++client)
        if (const std::uint32_t group = some(line.groups.size() + 1); group > 0) line.groups[group - 1].push_back({client});
      std::erase_if(line.groups, [](const auto& group) { return group.empty(); });
    } else if (line.what != What::heal) {
      line.clients = {{some(fault_clients)}};
    }
    lines.push_back(std::move(line));
  }
  std::stable_sort(lines.begin(), lines.end(), [](const ChurnLine& a, const ChurnLine& b) { return a.at < b.at; });
  return sound(lines);
}

std::string failure_of(std::uint64_t seed, const std::vector<ChurnLine>& lines, Hardship& hardship, Planted planted) {
  try {
    FaultWorld(seed, lines, planted).run(hardship);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// Delta debugging: parts of the script are left out, larger ones first, as long as it fails without them.
std::vector<ChurnLine> shrink(std::uint64_t seed, std::vector<ChurnLine> lines, Planted planted) {
  Hardship passed_over;
  for (std::size_t size = std::max<std::size_t>(lines.size() / 2, 1);;) {
    bool is_shorter = false;
    for (std::size_t from = 0; from < lines.size();) {
      std::vector<ChurnLine> without(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(from));
      without.insert(without.end(), lines.begin() + static_cast<std::ptrdiff_t>(std::min(from + size, lines.size())), lines.end());
      without = sound(without);
      if (failure_of(seed, without, passed_over, planted).empty()) {
        from += size;
        continue;
      }
      lines = std::move(without);
      is_shorter = true;
    }
    if (size == 1 && !is_shorter) return lines;
    size = std::max<std::size_t>(size / 2, 1);
  }
}

std::string in_words(const std::vector<ChurnLine>& lines) {
  static constexpr const char* whats[] = {"join", "leave", "crash", "restart", "pause", "go_on", "partition", "heal"};
  static constexpr const char* origins[] = {"neighbour", "start", "checkpoint"};
  const auto list = [](const std::vector<ClientId>& clients) {
    std::string text;
    for (const ClientId client : clients) text += (text.empty() ? "" : ", ") + std::to_string(client.value);
    return "[" + text + "]";
  };
  std::ostringstream text;
  for (const ChurnLine& line : lines) {
    text << "{ at = " << to_seconds(line.at) << ", what = \"" << whats[static_cast<int>(line.what)] << '"';
    if (!line.clients.empty()) text << ", clients = " << list(line.clients);
    if (line.what == What::partition) {
      text << ", groups = [";
      for (std::size_t k = 0; k < line.groups.size(); ++k) text << (k ? ", " : "") << list(line.groups[k]);
      text << "]";
    }
    if (line.what == What::join || line.what == What::restart) text << ", from = \"" << origins[static_cast<int>(line.from)] << '"';
    text << " },\n";
  }
  return text.str();
}

}  // namespace rubato::test
