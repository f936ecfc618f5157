#include "actors/hosts/virtual_host.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "actors/hosts/host_dispatcher.hpp"
#include "actors/virtual/virtual_run.hpp"
#include "experiment/roster.hpp"
#include "runtime/engine/timing_check.hpp"

namespace rubato {

namespace {

using config::Experiment;

constexpr Duration glance_at_run = std::chrono::milliseconds(20);  // between two looks at whether the run has failed
constexpr int standstills_waited = 60;                             // times lost_after, for a host that is there and stands still
constexpr Duration farewell = std::chrono::seconds(2);             // at most, for the last words of others
constexpr std::size_t most_free_bytes = std::size_t{512} << 20;    // kept for what arrives next
constexpr ItemName end_of_run{ItemKind::end, 0};

// What a host reports when its clients are done.
struct HostResult {
  std::string timeline;
  double math_seconds = 0, evaluation_seconds = 0;
  std::optional<double> message_seconds;
  std::uint32_t threads = 0;

  void archive(Archive& archive) { archive(timeline, math_seconds, evaluation_seconds, message_seconds, threads); }
};

// A client at the end.
struct FinalState {
  Tensor model;
  Traffic traffic;
  std::vector<Screened> screened;
  std::vector<PeerWeight> collaboration;
  void archive(Archive& archive) {
    archive(model, traffic, screened);
    archive_row(archive, collaboration);
  }
};

struct EndOfRun {
  std::string model_digest;
  void archive(Archive& archive) { archive(model_digest); }
};

// Small enough that several wait in the queue to one host.
std::size_t parcel_bytes(const Experiment& experiment) {
  return std::min(ItemExchange::usual_parcel_bytes, static_cast<std::size_t>(experiment.hosts.queue_bytes) / 4);
}

// What never fits would be waited for without end.
void require_room(const Experiment& experiment, std::size_t dimension) {
  constexpr std::size_t besides = 1 << 16;  // heads and what a queue counts for a parcel
  const std::size_t needed = dimension * sizeof(double) + besides;
  const auto require = [&](const char* key, std::int64_t bytes) {
    if (static_cast<std::size_t>(bytes) < needed)
      throw std::invalid_argument(std::string(key) + " = " + std::to_string(bytes) + ": a message of this model needs up to " +
                                  std::to_string(needed) + " bytes; allow at least that");
  };
  require("hosts.queue_bytes", experiment.hosts.queue_bytes);
  require("hosts.largest_bytes", experiment.hosts.largest_bytes);
}

class VirtualHost {
 public:
  VirtualHost(const Experiment& experiment, Preparation parts, const RunOptions& options, Membership& membership,
              Transport& transport)
      : experiment_{experiment},
        parts_{std::move(parts)},
        options_{options},
        membership_{membership},
        owners_{hosts_of_clients(experiment)},
        items_{membership, transport, arrived_, parcel_bytes(experiment)},
        shared_{membership, transport, items_, owners_} {}
  /// Ends the membership first: afterwards nothing calls back.
  ~VirtualHost() { membership_.stop(farewell); }
  VirtualHost(const VirtualHost&) = delete;
  VirtualHost& operator=(const VirtualHost&) = delete;

  RunResult perform() {
    const auto tell = [this](const std::string& what) {
      shared_.fail_here(what);  // unless all know already
      if (shared_.has_begun()) shared_.part(farewell);
    };
    try {
      return perform_all();
    } catch (const std::exception& error) {
      tell(error.what());
      throw;
    } catch (...) {
      tell("something that is no std::exception");
      throw;
    }
  }

 private:
  RunResult perform_all() {
    meet();
    parts_.read_data(experiment_, options_);
    require_room(experiment_, result().dimension);
    prepare();
    perform_steps();
    result().digests.model = model_digest();
    result().host = membership_.name(membership_.self());
    items_.settle();
    shared_.part(farewell);
    say_stop();
    return std::move(result());
  }

  // At an instant that all have agreed on because a stop was wanted, or at a sample.
  void say_stop() {
    const Time until{from_seconds(experiment_.until)};
    const std::string judge = conductor_->now() < until ? shared_.ended_by() : "";
    if (shared_.end() && *shared_.end() < until) result().stopped_by = "stop";
    if (!judge.empty()) result().stopped_by = judge;
    result().was_stopped = !result().stopped_by.empty();
    if (!judge.empty()) result().notes.push_back(sentence_about_stop(conductor_->now(), until, judge));
  }

  RunResult& result() { return parts_.result; }
  ModelShape shape() { return {experiment_.precision, result().dimension}; }
  const Client& client(ClientId id) { return *virtual_run_->client_pool().clients[id.value]; }

  void meet() {
    membership_.start();
    const std::vector<HostId> there = membership_.meet(from_seconds(experiment_.hosts.wait), options_.stop);
    std::string absent;
    for (std::uint32_t host = 0; host < membership_.hosts(); ++host)
      if (std::ranges::find(there, HostId{host}) == there.end()) absent += (absent.empty() ? "" : ", ") + membership_.name({host});
    if (!absent.empty()) throw RunFailed("these hosts are missing, and a virtual run needs all of them: " + absent);
    shared_.begin();
  }

  void prepare() {
    const Task& task = *parts_.task;
    Timing& timing = *parts_.timing;
    const std::size_t clients = timing.graph.clients();
    options_.on_progress = [this, heard = options_.on_progress](const Progress& progress) {
      look_for_standstill();
      if (heard) heard(progress);
    };
    if (options_.checks) options_ = checking(options_, result().scalar_bytes);
    std::vector<bool> cast;
    for (const HostId owner : owners_) cast.push_back(owner == membership_.self());
    keeper_.emplace(items_, task.evaluation(), clients);
    virtual_run_.emplace(task, options_, timing.views(options_.checks), shared_.is_first() ? nullptr : &*keeper_, cast);
    virtual_run_->control().stops_on_nan = experiment_.metrics.stop_on_nan;
    if (parts_.stop_rule.is_there()) virtual_run_->control().stop_rule = &parts_.stop_rule;
    virtual_run_->control().may_end_at_samples = experiment_.metrics.stop_on_nan || parts_.stop_rule.is_there();
    virtual_run_->validate_payloads();
    keeper_->use(virtual_run_->client_pool().pool);
    recorder_ = make_recorder(options_, clients);
    dispatcher_.emplace(virtual_run_->control(), recorder_.get());
    // The common tensors of a payload, and two for each receiver; a snapshot has less.
    const auto own = static_cast<std::size_t>(std::ranges::count(owners_, membership_.self()));
    items_.allow(16 + 2 * own, (result().dimension + 1) * sizeof(double));
    host_dispatcher_.emplace(*dispatcher_, virtual_run_->control(), shared_, items_, shape());
    if (options_.checks) check_.emplace(timing_check(parts_));
    conductor_.emplace(timing.conductor, timing.make_protocols(), *host_dispatcher_, check_ ? &*check_ : nullptr);
  }

  void perform_steps() {
    const Credit credit = Credit::automatic(owners_.size(), result().dimension * result().scalar_bytes, experiment_.limits);
    constexpr std::int64_t least_steps = 256;
    const HostProgress::Lead lead{
        static_cast<std::uint64_t>(std::max(2 * credit.outstanding_steps, least_steps)),
        static_cast<std::size_t>(std::max<std::int64_t>(credit.payload_bytes / credit.bytes_per_payload, 1))};
    shared_.attach(virtual_run_->control(), *conductor_, lead);
    virtual_run_->perform(*conductor_, *dispatcher_, credit, &shared_);
    if (const auto failure = virtual_run_->client_pool().failure()) shared_.fail_here(to_string(*failure));
    fail_if_one_did();
    finish_record(recorder_.get(), result());
    describe_timing(*parts_.timing, *conductor_, result());
    describe_silence(*parts_.timing, options_, result());
    describe_work(virtual_run_->wall_seconds(), virtual_run_->client_pool(), result());
    result().peak_payload_bytes = shared_.peak_payloads() * result().dimension * result().scalar_bytes;
    if (shared_.is_first()) result().samples = std::move(virtual_run_->samples());
  }

  void look_for_standstill() {
    const auto word = shared_.look_for_standstill(standstills_waited * from_seconds(experiment_.hosts.lost_after));
    if (word && options_.on_note) options_.on_note(*word);
  }

  void fail_if_one_did() {
    if (const auto sentence = shared_.failure()) throw RunFailed(*sentence);
  }

  // ---- the end: the first host has all models, and then all hosts have their digest ----------------------------------

  // `keep` puts the thing where it belongs, under the lock, and says whether it is what it should be.
  template <class Thing, class Keep>
  void want(ItemName name, HostId owner, Keep keep) {
    items_.want_thing<Thing>(name, owner, [this, keep](std::optional<Thing> thing) {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
      return !thing || keep(*thing);
    });
  }

  template <class Condition>
  void wait_until(Condition condition) {
    std::unique_lock lock(mutex_);
    while (!condition()) {
      changed_.wait_for(lock, glance_at_run);
      lock.unlock();
      look_for_standstill();
      fail_if_one_did();
      lock.lock();
    }
  }

  std::string model_digest() { return shared_.is_first() ? gather() : hand_over(); }

  std::string gather() {
    constexpr std::uint32_t ahead = 64;  // states asked for before they are needed
    gather_results();
    FinalModels models(owners_.size(), options_, result());
    std::uint32_t asked = 0;
    for (std::uint32_t i = 0; i < owners_.size(); ++i) {
      for (; asked < owners_.size() && asked <= i + ahead; ++asked) want_final_state({asked});
      const FinalState state = take_final_state({i});
      models.add({i}, state.model, !std::ranges::binary_search(result().absent, ClientId{i}));
      describe_client({i}, state.traffic, state.screened, state.collaboration, result());
    }
    describe_trouble(virtual_run_->reporter().divergences(), options_, result());
    const std::string digest = models.digest();
    if (shared_.others().empty()) return digest;
    items_.promise(end_of_run, shared_.others());
    items_.deliver(end_of_run, [digest](HostId) { return item_of(EndOfRun{digest}); });
    wait_for_receipts();
    return digest;
  }

  void wait_for_receipts() {
    const Duration until = monotonic_now() + farewell;
    std::unique_lock lock(mutex_);
    while (items_.keeps(end_of_run) && monotonic_now() < until) changed_.wait_for(lock, glance_at_run);
  }

  void gather_results() {
    for (const HostId host : shared_.others())
      want<HostResult>({ItemKind::result, host.value}, host, [this, host](HostResult& report) {
        results_[host] = report;
        return true;
      });
    wait_until([this] { return results_.size() == shared_.others().size(); });
    for (const auto& [host, report] : results_) {
      if (report.timeline != result().digests.timeline)
        throw RunFailed("host \"" + membership_.name(host) + "\" and host \"" + membership_.name(membership_.self()) +
                        "\" have walked different timings; use the same build and files everywhere");
      result().math_seconds += report.math_seconds;
      result().evaluation_seconds += report.evaluation_seconds;
      if (result().message_seconds) *result().message_seconds += report.message_seconds.value_or(0);
      result().threads += report.threads;
    }
  }

  void want_final_state(ClientId client) {
    const HostId owner = shared_.owner(client);
    if (owner == membership_.self()) return;
    want<FinalState>({ItemKind::model, client.value}, owner, [this, client](FinalState& state) {
      const bool is_good = shape().fits(state.model) && is_row(state.collaboration, owners_.size());
      if (is_good) states_[client] = std::move(state);
      return is_good;
    });
  }

  FinalState take_final_state(ClientId client) {
    if (shared_.is_own(client)) return own_final_state(client);
    wait_until([&] { return states_.contains(client); });
    const std::lock_guard lock(mutex_);
    return std::move(states_.extract(client).mapped());
  }

  FinalState own_final_state(ClientId id) {
    const Performer& performer = client(id).performer();
    return {performer.model(), performer.traffic(), performer.screening().by_sender(), performer.collaboration()};
  }

  std::string hand_over() {
    const ItemName name{ItemKind::result, membership_.self().value};
    const HostResult report{result().digests.timeline, result().math_seconds, result().evaluation_seconds, result().message_seconds,
                            options_.threads};
    items_.promise(name, {shared_.first()});
    items_.deliver(name, [report](HostId) { return item_of(report); });
    for (std::uint32_t i = 0; i < owners_.size(); ++i) {
      if (!shared_.is_own({i})) continue;
      result().traffic += client({i}).performer().traffic();
      items_.promise({ItemKind::model, i}, {shared_.first()});
      items_.deliver({ItemKind::model, i}, [this, i](HostId) { return item_of(own_final_state({i})); });
    }
    want<EndOfRun>(end_of_run, shared_.first(), [this](EndOfRun& end) {
      announced_ = end.model_digest;
      return true;
    });
    wait_until([this] { return announced_.has_value(); });
    result().notes.push_back("what was measured is with host \"" + membership_.name(shared_.first()) + "\"");
    return *announced_;
  }

  const Experiment& experiment_;
  Preparation parts_;
  RunOptions options_;
  Membership& membership_;
  const std::vector<HostId> owners_;
  TensorPool arrived_{most_free_bytes};  // what comes from others, and clients may keep
  std::optional<SnapshotKeeper> keeper_;
  std::optional<VirtualRun> virtual_run_;  // its tensors are in the depot's and the transport's hands until the end
  std::unique_ptr<Recorder> recorder_;
  std::optional<StepDispatcher> dispatcher_;
  std::optional<HostDispatcher> host_dispatcher_;
  std::optional<TimingCheck> check_;
  std::optional<Conductor> conductor_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<ClientId, FinalState> states_;  // guarded, like the next two: what has arrived
  std::map<HostId, HostResult> results_;
  std::optional<std::string> announced_;

  ItemExchange items_;  // last, like the next: what their threads call back goes after they have ended
  HostProgress shared_;
};

}  // namespace

RunResult perform_virtual_host(const Experiment& experiment, Preparation parts, const RunOptions& options, Membership& membership,
                               Transport& transport) {
  VirtualHost host(experiment, std::move(parts), options, membership, transport);
  return host.perform();
}

}  // namespace rubato
