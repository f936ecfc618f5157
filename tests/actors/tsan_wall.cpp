// Real time under ThreadSanitizer: many threads tick, send, receive, measure, save and record the clients of small
// quadratic problems. First plain threads in CAF's place; then, with --actors, the actors of two hosts and a hub
// between them. With --race a client's gradient writes a variable that is everybody's: that must be reported.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "actors/wall/host.hpp"
#include "algos/entries.hpp"
#include "tests/support/files.hpp"
#include "transports/hub.hpp"

using namespace rubato;
using namespace std::chrono_literals;
using test::Folder;

namespace {

constexpr std::uint32_t clients = 8;
constexpr double scale = 20;
constexpr double seconds = 120 * scale;  // of the experiment, if not enough has happened before
constexpr double least_seconds = 13;     // the reset at 12 s is over
constexpr std::uint64_t enough = 20;     // computations of a client, and messages that it has kept

bool plants_race = false;
std::uint64_t planted_race = 0;

std::atomic<int> faults{0};

void expect(bool claim, const char* sentence) {
  if (claim) return;
  std::fprintf(stderr, "not true: %s\n", sentence);
  ++faults;
}

/// 1/2 ||x - c||^2, every number of c the client's own.
class Quadratic final : public Learner<double> {
 public:
  explicit Quadratic(ClientId client) : centre_{client.value + 1.0} {}
  Index dimension() const override { return 64; }
  std::uint32_t samples() const override { return 1; }
  double gradient(ConstVectorRef<double> x, Picks, VectorRef<double> g, Scratch<double>&) const override {
    if (plants_race) {
      ++planted_race;
      std::this_thread::sleep_for(1ms);  // before it takes any lock: another handler writes meanwhile
    }
    g = (x.array() - centre_).matrix();
    return 0.5 * g.squaredNorm();
  }

 private:
  double centre_;
};

class SmallTask final : public Task {
 public:
  SmallTask() {
    for (std::uint32_t i = 0; i < clients; ++i) learners_.push_back(std::make_unique<Quadratic>(ClientId{i}));
    AlgorithmOptions options;
    options.set("self_apply", true);
    factory_ = entries::draco.make.of_double(options);
  }
  std::size_t dimension() const override { return static_cast<std::size_t>(start_.size()); }
  std::size_t scalar_bytes() const override { return sizeof(double); }
  const Evaluation& evaluation() const override { return evaluation_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  std::span<const std::uint32_t> samples() const override { return samples_; }
  std::unique_ptr<Performer> make_performer(const ClientView& client_view, TensorPool& pool) const override {
    return std::make_unique<PerformerOf<double>>(factory_(client_view, view(start_), pool), *learners_[client_view.client.value],
                                                 BatchPlan{1, client_view.client, 0, nullptr}, pool);
  }

 private:
  Vector<double> start_ = Vector<double>::Zero(64);
  std::vector<std::unique_ptr<Learner<double>>> learners_;
  std::vector<std::uint32_t> samples_ = std::vector<std::uint32_t>(clients, 1);
  std::vector<std::string> notes_;
  AlgorithmFactory<double> factory_;
  EvaluationOf<double> evaluation_{learners_, false};
};

/// Everybody hears everybody; links delay, lose and double.
std::unique_ptr<Timing> make_timing() {
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < clients; ++i)
    for (std::uint32_t j = 0; j < clients; ++j)
      if (i != j) edges.push_back({{i}, {j}});
  auto links = std::make_unique<RandomChannel>(
      7, RandomChannel::LinkLaw{{.kind = Law::Kind::exponential, .first = 0.05, .values = {}}, 0.1, 0.1},
      std::map<std::pair<ClientId, ClientId>, RandomChannel::LinkLaw>{});
  auto timing = std::make_unique<Timing>(Graph(clients, true, std::move(edges)), std::move(links), ProtocolKind::push);
  timing->settings.compute = {TimerLaw::poisson(4)};
  timing->settings.transmit = {TimerLaw::poisson(3)};
  timing->settings.limits = {.window = 50ms, .deadline = 1s, .cap = 40};
  timing->settings.needs.send_only_if_computed = true;
  timing->settings.may_duplicate = true;
  timing->conductor.unification.period = 5s;
  timing->conductor.cap_period = 4s;
  timing->conductor.sample_every_events = 200;
  timing->conductor.sample_every = 3s;
  return timing;
}

bool is_enough(const MessageCounts& counts, std::uint64_t of_clients) {
  return counts.computations > enough * of_clients && counts.kept > enough * of_clients;
}

void expect_recorded(const std::filesystem::path& record, const std::vector<std::unique_ptr<WallClient>>& played) {
  std::vector<StepHash> hashes(clients);
  RecordReader reader(record);
  while (const Step* step = reader.next()) hashes[step->client.value].add(*step);
  for (const auto& client : played) {
    const StepHash& recorded = hashes[client->id().value];
    expect(recorded.low() == client->hash().low() && recorded.high() == client->hash().high(),
           "what is recorded of a client is what it did");
    expect(is_enough(client->protocol().counts(), 1), "every client computes and hears the others");
  }
}

// ---- plain threads in CAF's place -----------------------------------------------------------------------------------

/// Looks at the models that are measured.
struct Onlooker final : SnapshotSink {
  void on_measure(const Step&, const Performer& performer, ThreadMemory& memory) override {
    const Tensor copy = performer.snapshot(memory);
    if (copy.data<double>()[0] != copy.data<double>()[63]) ++uneven;  // a torn copy: all numbers of a model are alike
    ++seen;
  }
  std::atomic<int> seen{0}, uneven{0};
};

/// A box of events for each client; whichever thread finds one plays the client.
class PlainNetwork final : public ClientNetwork {
 public:
  explicit PlainNetwork(WallClock& clock) : clock_{clock}, boxes_(clients) {}

  void post(ClientId client, WallEvent event) {
    ++open_;
    Box& box = boxes_[client.value];
    const std::lock_guard lock(box.mutex);
    box.events.push_back(std::move(event));
  }
  void post_to_all(WallEvent event) {
    event.at = clock_.now();
    for (std::uint32_t i = 0; i < clients; ++i) post(ClientId{i}, event);
  }
  void every(Duration period, std::uint64_t number, WallEvent event) {
    clock_.alarm(Time{} + period * static_cast<std::int64_t>(number), [this, period, number, event]() mutable {
      event.number = number;
      event.client = ClientId{static_cast<std::uint32_t>(number % clients)};
      post_to_all(event);
      every(period, number + 1, event);
    });
  }

  void send(std::shared_ptr<const Message> message, std::vector<Delivery> deliveries) override {
    for (const Delivery& delivery : deliveries) {
      WallEvent event{.kind = WallEvent::Kind::message};
      event.message = message;
      event.delivery = delivery;
      for (unsigned copy = 0; copy <= delivery.copies; ++copy) {
        event.at = message->sent + (copy == 0 ? delivery.delay : delivery.copy_delay);
        later(event.at, delivery.receiver, event, true);
      }
    }
  }
  void counted(const WallClient&) override {}
  void refused(ClientId, Misdeed) override {}
  void later(Time when, ClientId client, WallEvent event, bool counts) override {
    if (counts) ++open_;
    clock_.alarm(when, [this, client, counts, event = std::move(event)] {
      post(client, event);
      if (counts) --open_;
    });
  }
  void measured(ClientId client, std::uint64_t, const MessageCounts& counts) override {
    if (is_enough(counts, 1)) have_enough_ |= 1u << client.value;
  }
  void saved(ClientId, std::uint64_t, std::vector<std::byte> state) override { saved_bytes_ += state.size(); }
  bool is_hub(ClientId client, std::uint64_t number) const override { return client.value == number % clients; }
  Duration round_trip(ClientId) const override { return {}; }

  /// Until nothing is open and `is_over`.
  void play(std::vector<std::unique_ptr<WallClient>>& played, ClientPool& client_pool, const std::atomic<bool>& is_over) {
    const auto memory = client_pool.lend();
    while (!is_over || open_ > 0) {
      bool has_played = false;
      for (std::uint32_t i = 0; i < clients; ++i)
        while (play_one(boxes_[i], *played[i], *memory)) has_played = true;
      if (!has_played) std::this_thread::sleep_for(50us);
    }
  }

  std::uint64_t saved_bytes() const { return saved_bytes_; }
  bool all_have_enough() const { return have_enough_ == (1u << clients) - 1; }

 private:
  struct Box {
    std::mutex mutex;
    std::deque<WallEvent> events;
    bool is_played = false;
  };

  bool play_one(Box& box, WallClient& client, ThreadMemory& memory) {
    WallEvent event;
    {
      const std::lock_guard lock(box.mutex);
      if (box.is_played || box.events.empty()) return false;
      box.is_played = true;
      event = std::move(box.events.front());
      box.events.pop_front();
    }
    client.handle(event, memory);
    {
      const std::lock_guard lock(box.mutex);
      box.is_played = false;
    }
    --open_;
    return true;
  }

  WallClock& clock_;
  std::vector<Box> boxes_;
  std::atomic<std::int64_t> open_{0};
  std::atomic<std::uint64_t> saved_bytes_{0};
  std::atomic<std::uint32_t> have_enough_{0};  // a bit for each client, as it was measured
};

/// Looks once a second of the experiment, and ends when enough has happened.
struct End {
  WallClock& clock;
  PlainNetwork& network;
  const Onlooker& onlooker;
  std::atomic<bool> is_over{false};

  void look(double second) {
    clock.alarm(Time{from_seconds(second)}, [this, second] {
      const bool has_time =
          second < least_seconds || !network.all_have_enough() || onlooker.seen == 0 || network.saved_bytes() == 0;
      if (has_time && second < seconds) return look(second + 1);
      network.post_to_all({.kind = WallEvent::Kind::stop});
      is_over = true;
    });
  }
};

void run_plainly() {
  const Folder folder;
  const SmallTask task;
  const auto timing = make_timing();
  const ClientViews views = timing->views(true);
  Onlooker onlooker;
  ClientPool client_pool(onlooker, 1, false);
  WallClock clock(scale);
  PlainNetwork network(clock);
  WallRecord record(std::make_unique<Recorder>(folder / "timeline.rbt", clients));
  WallWorld world{.graph = timing->graph,
                  .churn = timing->churn,
                  .channel = timing->channel.get(),
                  .passes_mass_on = true,
                  .clock = clock,
                  .network = network,
                  .record = record,
                  .client_pool = client_pool};
  world.link_counts.resize(timing->graph.links());
  auto protocols = timing->make_protocols();
  std::vector<std::unique_ptr<WallClient>> played;
  for (std::uint32_t i = 0; i < clients; ++i)
    played.push_back(std::make_unique<WallClient>(world, ClientId{i}, std::move(protocols[i]),
                                                  task.make_performer(views.of(ClientId{i}, task.samples()), client_pool.pool)));
  clock.start();
  for (auto& client : played) client->mark_first_state(false);
  End end{clock, network, onlooker};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back([&] { network.play(played, client_pool, end.is_over); });
  network.post_to_all({.kind = WallEvent::Kind::start});
  network.every(5s, 1, {.kind = WallEvent::Kind::unify});
  network.every(2s, 1, {.kind = WallEvent::Kind::measure});
  network.every(3s, 1, {.kind = WallEvent::Kind::save});
  network.every(4s, 1, {.kind = WallEvent::Kind::refill});
  clock.alarm(Time{12s}, [&] {
    network.post(ClientId{3}, {.kind = WallEvent::Kind::reset, .at = Time{12s}, .number = Epoch{1, 1}.packed()});
  });
  end.look(1);
  for (std::thread& thread : threads) thread.join();
  clock.stop();
  expect(!client_pool.failure(), "no client fails");
  expect(onlooker.seen > 0 && onlooker.uneven == 0, "measured models are whole");
  expect(network.saved_bytes() > 0 && network.all_have_enough(), "states are saved and counted");
  record.recorder()->flush();
  expect(record.recorder()->error().empty(), "the record can be written");
  expect_recorded(folder / "timeline.rbt", played);
}

// ---- the actors of two hosts ----------------------------------------------------------------------------------------

config::Experiment experiment() {
  config::Experiment experiment;
  experiment.clock = config::ClockKind::wall_time;
  experiment.time_scale = scale;
  experiment.until = seconds;
  experiment.checkpoint_every = 4;
  experiment.mailbox.cap_period = 4;
  experiment.unification.period = 5;
  experiment.channel.kind = config::ChannelKind::random;
  return experiment;
}

/// Of both hosts: they stop when all have enough.
struct Meeting {
  std::atomic<std::uint32_t> have_enough{0};
  std::atomic<bool> stops{false};
};

void run_host(Transport& transport, const config::Experiment& experiment, Meeting& meeting) {
  const Folder folder;
  const SmallTask task;
  const auto timing = make_timing();
  RunOptions options;
  options.threads = 2;
  options.counts_links = true;
  options.stop = &meeting.stops;
  std::uint64_t samples = 0, checkpoints = 0;
  bool has_enough = false;
  options.on_sample = [&](const Sample& sample) {
    ++samples;
    const bool is_now = checkpoints > 0 && is_enough(sample.header.counts, 2 * clients);  // four times what those here need
    if (has_enough || !is_now) return;
    has_enough = true;
    if (++meeting.have_enough == 2) meeting.stops = true;
  };
  WallRecord record(std::make_unique<Recorder>(folder / "timeline.rbt", clients));
  Membership membership(transport, {.names = {"a", "b"}, .self = {}, .on_lost = {}, .on_back = {}});
  WallNetwork network{transport, membership, {}};
  for (std::uint32_t i = 0; i < clients; ++i) network.host_of.push_back(HostId{i % 2});
  {
    WallHost host(experiment, task, *timing, options, record, &network);
    membership.start();
    expect(membership.meet(60s).size() == 2, "the hosts find each other");
    const Duration since = monotonic_now() + 100ms;
    membership.set_running(since);
    host.begin(since, 0);
    host.mark_first_states(false);
    host.perform(false, [&](const WallCheckpoint&) { ++checkpoints; });
    membership.stop(1s);
    expect(!host.client_pool().failure(), "no client fails");
    expect(samples > 0 && checkpoints > 0, "models are scored and states are saved");
    record.recorder()->flush();
    expect_recorded(folder / "timeline.rbt", host.clients());
  }
}

void run_actors() {
  const config::Experiment shared = experiment();
  Hub hub(2);
  const auto one = hub.end(HostId{0}), two = hub.end(HostId{1});
  Meeting meeting;
  std::thread other([&] { run_host(*two, shared, meeting); });
  run_host(*one, shared, meeting);
  other.join();
}

}  // namespace

int main(int count, char** arguments) {
  bool has_actors = false;
  for (int i = 1; i < count; ++i) {
    has_actors = has_actors || arguments[i] == std::string_view("--actors");
    plants_race = plants_race || arguments[i] == std::string_view("--race");
  }
  if (has_actors)
    run_actors();
  else
    run_plainly();
  std::puts(faults ? "broken" : "the clients computed and heard each other, and the record is what they did");
  return faults ? EXIT_FAILURE : EXIT_SUCCESS;
}
