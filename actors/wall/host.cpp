#include "actors/wall/host.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/caf.hpp"
#include "actors/core/run_parts.hpp"

namespace rubato {

namespace {

constexpr std::size_t most_deliveries = 256;                   // in a parcel
constexpr std::int64_t most_waiting = 100'000;                 // messages and notes of one host, not yet handled
constexpr double least_pace = 100, saturated_pace = 1000;      // messages that a link may carry a real second, at least
constexpr double pace_room = 8;                                // times what the sender's law gives
constexpr double pace_burst = 10;                              // seconds of it at once, as after a cut of the network
constexpr double mute_after = 30;                              // messages that were due and did not come
constexpr std::uint8_t most_copies = 1;                        // of any channel
constexpr Duration settling = std::chrono::milliseconds(400);  // without a message from anywhere: the links are empty

// A channel that only stands for "at once" is not laid over real links.
const Channel* modelled(const config::Channel& channel, const Timing& timing) {
  const bool is_at_once = channel.kind == config::ChannelKind::ideal && channel.delay.value <= 1e-6;
  return is_at_once ? nullptr : timing.channel.get();
}

Duration longest_delay(const Channel* channel, const ConductorSettings& settings) {
  if (!channel) return {};
  if (!settings.retransmits) return channel->longest_delay();
  const Duration once = std::min(channel->longest_delay(), settings.attempts.longest);
  const Duration pause = settings.attempts.back_off;
  if (once > Duration::max() / (2 * most_attempts + 2) || pause > Duration::max() / (256 * most_attempts)) return Duration::max();
  return once * (most_attempts + 1) + pause * 64 * most_attempts;
}

// A client as an actor. Its mailbox puts the events of several threads in a row; nothing else is added.
class WallActor final : public HandedActor {
 public:
  /// `on_handled` is called after every event.
  WallActor(caf::actor_config& config, RunControl& control, WallClient& client, std::function<void()> on_handled)
      : HandedActor(config), control_{control}, client_{client}, on_handled_{std::move(on_handled)} {}

  caf::behavior make_behavior() override {
    return {[this](const WallEvent& event) {
      const BusyWorker busy(control_);
      if (control_.is_closed.load()) return;
      const auto memory = control_.client_pool.lend();
      client_.handle(event, *memory);
      client_.tell_rounds();
      on_handled_();
    }};
  }

 private:
  RunControl& control_;
  WallClient& client_;
  std::function<void()> on_handled_;
};

}  // namespace

WallHost::WallHost(const config::Experiment& experiment, const Task& task, Timing& timing, const RunOptions& options,
                   WallRecord& record, WallNetwork* network)
    : experiment_{experiment},
      timing_{timing},
      options_{options},
      network_{network},
      client_pool_{sender_, 1, task.dimension() >= small_model},
      control_{client_pool_, task.evaluation(), static_cast<int>(options.threads)},
      clock_{experiment.time_scale},
      world_{.graph = timing.graph,
             .churn = timing.churn,
             .channel = modelled(experiment.channel, timing),
             .acknowledges = timing.conductor.acknowledges,
             .retransmits = timing.conductor.retransmits,
             .attempts = timing.conductor.attempts,
             .passes_mass_on = !timing.settings.share_weights.empty() || timing.settings.needs.in_order,
             .may_adopt = timing.conductor.may_adopt,
             .saturates = experiment.saturate,
             .pushes = timing.protocol() == ProtocolKind::push,
             .is_in_order = timing.settings.needs.in_order,
             .unification_period = timing.conductor.unification.period,
             .end = Time{from_seconds(experiment.until)},
             .clock = clock_,
             .network = *this,
             .record = record,
             .client_pool = client_pool_},
      stop_rule_{experiment.metrics},
      reporter_{options, control_},
      is_state_{timing.settings.needs.keep != Keep::all && timing.protocol() != ProtocolKind::rounds},
      model_bytes_{(task.dimension() + 1) * sizeof(double)},
      longest_delay_{longest_delay(world_.channel, timing.conductor)},
      pace_{from_seconds(experiment.hosts.lost_after) / 2} {
  if (options.counts_links) world_.link_counts.resize(timing.graph.links());
  control_.orders_samples = false;
  control_.stops_on_nan = experiment.metrics.stop_on_nan;
  if (stop_rule_.is_there()) control_.stop_rule = &stop_rule_;
  sender_.use(control_);
  record.show_to(options.observer);
  make_clients(task, timing);
  if (!network_) return;
  hosts_.resize(network_->membership.hosts());
  set_quotas();
  is_stopped_.resize(hosts_.size());
  for (const ParcelKind kind : {ParcelKind::message, ParcelKind::control})
    network_->membership.handle(
        kind, [this](HostId from, Parcel parcel, Duration arrived) { receive_message(from, std::move(parcel), arrived); });
  network_->membership.handle(ParcelKind::notice, [this](HostId from, const Parcel& parcel, Duration) {
    network_->membership.note_leaving(from, parcel.head.empty() ? "stopped" : "complete");
    const std::lock_guard lock(mutex_);
    is_stopped_[from.value] = true;
  });
}

// The clock ends before what its alarms touch.
WallHost::~WallHost() { clock_.stop(); }

void WallHost::make_clients(const Task& task, Timing& timing) {
  if (network_) timing.settings.may_duplicate = true;  // whatever carries messages may carry one twice
  auto protocols = timing.make_protocols(true);
  const ClientViews views = timing.views(true);
  by_client_.resize(protocols.size());
  measured_ = std::make_shared<std::vector<ClientId>>();
  const auto& drawn = timing.conductor.measured;
  for (std::uint32_t i = 0; i < protocols.size(); ++i) {
    if (network_ && network_->host_of[i] != network_->self()) continue;
    clients_.push_back(std::make_unique<WallClient>(world_, ClientId{i}, std::move(protocols[i]),
                                                    task.make_performer(views.of(ClientId{i}, task.samples()), client_pool_.pool)));
    by_client_[i] = clients_.back().get();
    if (!drawn || std::ranges::binary_search(*drawn, ClientId{i})) measured_->push_back(ClientId{i});
  }
}

// What the clients of a host may send to those here: neither their laws nor the graph are its to choose.
void WallHost::set_quotas() {
  const Needs& needs = timing_.settings.needs;
  const double period = to_seconds(Time{timing_.conductor.unification.period}), own = static_cast<double>(clients_.size());
  const double models = period > 0 ? pace_room * own * experiment_.time_scale / period : own;
  std::vector<double> paces(hosts_.size(), std::max(saturated_pace, models));  // of models, which go beside the graph
  std::vector<double> due(hosts_.size());  // a real second, where each sender picks one receiver
  for (const auto& client : clients_)
    for (const ClientId sender : timing_.graph.senders_to(client->id())) {
      const double computes = timing_.settings.compute_law(sender).mean_rate(experiment_.until);
      const TimerLaw& law = timing_.settings.transmit_law(sender);
      const double each = static_cast<double>(law.every) * needs.send_every;  // computations of a coupled timer
      const double transmits =
          law.kind == TimerLaw::Kind::coupled ? computes * law.repeat * needs.send_times / each : law.mean_rate(experiment_.until);
      const std::uint32_t host = network_->host_of[sender.value].value;
      paces[host] +=
          std::max(pace_room * (computes + transmits) * experiment_.time_scale, world_.saturates ? saturated_pace : least_pace);
      due[host] += transmits * experiment_.time_scale / static_cast<double>(timing_.graph.out_degree(sender));
    }
  for (const double pace : paces) quotas_.emplace_back(most_waiting, Allowance(pace, pace_burst * pace));
  const bool must_speak = !needs.asks_before_sending && !needs.sporadic.computes && !needs.sporadic.links && !world_.saturates;
  const bool loses_mass = world_.pushes && !timing_.settings.share_weights.empty() && world_.churn.is_empty();
  constexpr double most = 1e9;
  for (std::size_t host = 0; must_speak && loses_mass && host < due.size(); ++host)
    if (due[host] > mute_after / most)
      hosts_[host].longest_pause = from_seconds(std::min(std::max(mute_after / due[host], experiment_.hosts.lost_after), most));
}

void WallHost::load(ClientId client, std::uint64_t number, std::span<const std::byte> state) {
  if (!is_here(client))
    throw std::invalid_argument("a checkpoint of client " + std::to_string(client.value) + ", which is on another host");
  by_client_[client.value]->load(state, number);
}

void WallHost::mark_first_states(bool is_earlier_life) {
  for (auto& client : clients_) client->mark_first_state(is_earlier_life);
}

// ---- from the first tick to the last -------------------------------------------------------------------------------

void WallHost::perform(bool is_late, const std::function<void(const WallCheckpoint&)>& on_checkpoint) {
  ActorSystem system(options_.threads);
  struct End {  // before the actors' threads go, whatever is thrown: afterwards nothing may ring or knock
    WallHost& host;
    ~End() {
      host.clock_.stop();
      host.let_go();
    }
  } end{*this};
  keeps_checkpoints_ = on_checkpoint && experiment_.checkpoint_every > 0;
  join_plan(is_late);
  spawn_all(*system);
  if (attendance_)
    for (const ClientId client : attendance_->absent()) tell_all(client, false);
  look_at_hosts();  // which of them are not here
  set_end();        // before any tick can ring
  if (timing_.conductor.samples_first_state && !is_late) sample(Time{});
  const WallEvent start{.kind = WallEvent::Kind::start, .at = is_late ? clock_.now() : Time{}, .number = is_late};
  for (const auto& client : clients_)
    if (is_there(client->id())) post(client->id(), start);
  set_alarms();
  if (attendance_) await_churn();
  {
    const std::lock_guard lock(door_);
    is_open_ = true;
  }
  reporter_.wait([&] { look(on_checkpoint); });
  if (!client_pool_.has_failed()) reporter_.guarded([&] { write_checkpoints(on_checkpoint); });
  wall_seconds_ = reporter_.wall_seconds();
}

void WallHost::spawn_all(caf::actor_system& system) {
  control_.clients.resize(by_client_.size());
  for (auto& client : clients_)
    control_.clients[client->id().value] =
        system.spawn<WallActor, caf::hidden>(std::ref(control_), std::ref(*client), [this] { handled(); });
  spawn_evaluators(system, control_, [this](const Sample& sample) { close_sample(sample); });
}

void WallHost::let_go() {
  {
    const std::lock_guard lock(door_);
    is_open_ = false;
  }
  control_.close();  // after a failure, or when the drain took too long, some are still at work
  control_.let_go();
}

void WallHost::every(Duration period, std::uint64_t number, std::function<void(std::uint64_t)> act) {
  const Time when = Time{} + period * static_cast<std::int64_t>(number);
  if (when > Time{from_seconds(experiment_.until)}) return;
  clock_.alarm(when, [this, period, number, act = std::move(act)] {
    act(number);
    every(period, number + 1, act);
  });
}

void WallHost::set_end() {
  clock_.alarm(Time{from_seconds(experiment_.until)}, [this] {
    post_to_all({.kind = WallEvent::Kind::stop, .at = Time{from_seconds(experiment_.until)}});  // what was due later was not due
    is_until_over_.store(true);
  });
}

void WallHost::set_alarms() {
  const auto next = [&](Duration period) {
    return static_cast<std::uint64_t>(std::max(clock_.now() - Time{}, Duration{}) / period) + 1;
  };
  const auto repeat = [&](Duration period, std::function<void(std::uint64_t)> act) {
    if (period > Duration{}) every(period, next(period), std::move(act));
  };
  repeat(timing_.conductor.cap_period,
         [this](std::uint64_t) { post_to_all({.kind = WallEvent::Kind::refill, .at = clock_.now()}); });
  repeat(timing_.conductor.unification.period, [this](std::uint64_t number) { unify(number); });
  repeat(timing_.conductor.sample_every, [this](std::uint64_t) { sample(clock_.now()); });
  // A replay keeps the two newest states of a client: none may be further ahead of the checkpoint on the disk.
  repeat(from_seconds(experiment_.checkpoint_every), [this](std::uint64_t number) {
    if (!control_.is_stopping.load()) begin_checkpoint(number);
  });
}

// One at a time, and each number once: the record names them.
void WallHost::begin_checkpoint(std::uint64_t least) {
  if (is_saving_.exchange(true)) return;
  const Time now = clock_.now();
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = std::max(least, asked_.number + 1);
    asked_ = {number, to_seconds(now)};
  }
  post_to_all({.kind = WallEvent::Kind::save, .at = now, .number = number});
}

void WallHost::go_on_from(const CheckpointInfo& checkpoint) {
  const std::lock_guard lock(mutex_);
  asked_ = checkpoint;
  saved_ = checkpoint;
}

std::optional<CheckpointInfo> WallHost::newest_checkpoint() const {
  const std::lock_guard lock(mutex_);
  return saved_;
}

// A host that is stopped goes on from here when it is started again.
void WallHost::save_at_stop() {
  if (!keeps_checkpoints_)
    return network_->membership.say(
        {EventLevel::warn, "stopping", "", {{"text", "no checkpoints are kept: this host cannot go on from here later"}}});
  network_->membership.say({EventLevel::info, "stopping", ""});
  begin_checkpoint(static_cast<std::uint64_t>((ended_ - Time{}) / from_seconds(experiment_.checkpoint_every)) + 1);
}

// Or else the next client that is there.
ClientId WallHost::hub(std::uint64_t number) const {
  ClientId hub = timing_.conductor.unification.hub(number, timing_.graph, static_cast<std::uint64_t>(experiment_.seed));
  const auto is_gone = [&](ClientId client) {
    return !is_there(client) || (network_ && !network_->membership.is_alive(network_->host_of[client.value]));
  };
  for (std::size_t i = 0; i < by_client_.size() && is_gone(hub); ++i)
    hub = ClientId{static_cast<std::uint32_t>((hub.value + 1) % by_client_.size())};
  return hub;
}

bool WallHost::is_hub(ClientId client, std::uint64_t number) const {
  // The client itself is there for its sender, even if this host does not know it yet.
  const ClientId first = timing_.conductor.unification.hub(number, timing_.graph, static_cast<std::uint64_t>(experiment_.seed));
  return client == first || client == hub(number);
}

Duration WallHost::round_trip(ClientId asker) const {
  constexpr Duration unknown = std::chrono::milliseconds(100), least = std::chrono::milliseconds(1);
  if (is_here(asker)) return {};
  const auto offset = network_->membership.offset(network_->host_of[asker.value]);
  return clock_.scaled(offset ? std::max(2 * offset->error, least) : unknown);
}

// On the clock's thread.
void WallHost::unify(std::uint64_t number) {
  ++unifications_;
  WallEvent event{.kind = WallEvent::Kind::unify, .at = clock_.now(), .number = number, .client = hub(number)};
  event.wake.detail = timing_.conductor.unification.clears_mailbox;
  post_to_all(event);
}

// On the clock's thread. A sample that comes before the ones before it were scored is left out: the run goes first.
void WallHost::sample(Time at) {
  std::vector<ClientId> measured;
  std::copy_if(measured_->begin(), measured_->end(), std::back_inserter(measured),
               [this](ClientId client) { return is_there(client); });
  if (is_until_over_.load() || control_.is_stopping.load()) return;  // the last sample says the rest
  if (measured_->empty()) return;                                    // all that are drawn are at other hosts
  if (measured.empty() || control_.open_samples.load() > 2) {
    ++samples_left_out_;
    return;
  }
  ++control_.open_samples;
  const SampleHeader header = open_sample(std::move(measured), clients_.size(), std::min(at, world_.end));
  hand(control_.gatherer, SampleOpens{header});
  for (const auto& client : clients_) {
    const bool is_measured = std::ranges::binary_search(*header.measured, client->id());
    post(client->id(), {.kind = WallEvent::Kind::measure,
                        .at = header.at,
                        .number = header.number,
                        .phase = is_measured ? std::uint8_t{0} : traffic_only});
  }
}

SampleHeader WallHost::open_sample(std::vector<ClientId> measured, std::size_t clients, Time at) {
  SampleHeader header{.number = samples_++, .at = at, .clients = static_cast<std::uint32_t>(measured.size())};
  header.others = static_cast<std::uint32_t>(clients - measured.size());
  header.events = world_.events.load();
  header.model_messages = world_.model_messages.load();
  header.measured = std::make_shared<const std::vector<ClientId>>(std::move(measured));
  header.mass_is_whole = world_.churn.is_empty();
  const std::lock_guard lock(mutex_);
  header.at = std::min(at, ended_);  // the last one is not before it
  return open_headers_[header.number] = header;
}

void WallHost::close_sample(Sample sample) {
  {
    const std::lock_guard lock(mutex_);
    sample.header = std::move(open_headers_.extract(sample.header.number).mapped());
    if (sample.header.clients + sample.header.others <= clients_.size()) scores_ = scores_of(sample);  // not the last, of all hosts
  }
  reporter_.take(sample);
}

// ---- the plan of churn: each host carries it out for its own clients, and knows of the others -----------

bool WallHost::is_there(ClientId client) const {
  const std::lock_guard lock(mutex_);
  return !attendance_ || attendance_->is_here(client);
}

// Of a plan that is under way only its state counts. Before any thread plays the clients.
void WallHost::join_plan(bool is_late) {
  if (world_.churn.is_empty()) return;
  attendance_.emplace(world_.churn);
  std::uint64_t partition = all_links;
  while (is_late && attendance_->next() <= clock_.now())
    if (const ChurnEvent& past = attendance_->take(); past.kind == ChurnEvent::Kind::partition) partition = past.number;
  if (!attendance_->is_cut()) partition = all_links;
  for (const auto& client : clients_) {
    client->begin_in_plan(*attendance_, partition);
    const bool is_needed = world_.churn.needs_first_state(client->id());
    if (is_needed || network_) client->keep_first_state();
    if (is_needed && !network_) client->mark_first_state(false);  // hosts that can be gone on with have done so
  }
}

void WallHost::await_churn() {
  const Time next = attendance_->next();
  if (next > Time{from_seconds(experiment_.until)}) return;
  clock_.alarm(next, [this] {
    ChurnEvent event;
    {
      const std::lock_guard lock(mutex_);
      event = attendance_->take();
    }
    if (!is_until_over_.load()) carry_out(event);
    await_churn();
  });
}

// As in virtual time, but that each client hears by itself what the plan says of it, and a model is handed over as a message.
void WallHost::carry_out(const ChurnEvent& event) {
  WallEvent own{.kind = WallEvent::Kind::churn, .at = event.at, .churn = event};
  if (event.is_of_links()) return post_to_all(own);
  const ClientId giver = attendance_->giver_of(event, timing_.graph.senders_to(event.client));
  own.client = giver;
  post_if_own(event.client, own);
  if (!event.is_announced()) return;
  tell_all(event.client, !attendance_->is_missed(event.client));
  if (world_.may_adopt && giver != no_client)
    post_if_own(giver, {.kind = WallEvent::Kind::hand, .at = event.at, .number = fetched_model(event), .client = event.client});
  if (world_.passes_mass_on) begin_epoch(event);
}

// What this host's clients do not hear of here they hear of from messages.
void WallHost::begin_epoch(const ChurnEvent& event) {
  const Epoch epoch = attendance_->epoch_after(event);
  const WallEvent reset{.kind = WallEvent::Kind::reset, .at = event.at, .number = epoch.packed()};
  for (const auto& client : clients_)
    if (attendance_->hears_of(epoch, client->id())) post(client->id(), reset);
}

void WallHost::tell_all(ClientId about, bool is_here) {
  WallEvent event{.kind = WallEvent::Kind::presence, .at = clock_.now(), .client = about};
  const bool is_own = this->is_here(about);
  event.number = is_here && (is_own || !network_ || network_->membership.is_alive(network_->host_of[about.value]));
  post_to_all(event);
}

void WallHost::post_if_own(ClientId client, WallEvent event) {
  if (is_here(client)) post(client, std::move(event));
}

// ---- messages ------------------------------------------------------------------------------------------------------

void WallHost::post(ClientId client, WallEvent event) {
  open_work_.fetch_add(1, std::memory_order_relaxed);
  hand(control_.clients[client.value], std::move(event));
}

void WallHost::post_to_all(const WallEvent& event) {
  for (const auto& client : clients_) post(client->id(), event);
}

void WallHost::handled() {
  open_work_.fetch_sub(1, std::memory_order_release);
  const std::uint64_t every = timing_.conductor.sample_every_events;
  if (every == 0) return;
  const std::uint64_t period = world_.events.load(std::memory_order_relaxed) / every;
  std::uint64_t sampled = sampled_periods_.load(std::memory_order_relaxed);
  if (period > sampled && sampled_periods_.compare_exchange_strong(sampled, period))
    clock_.alarm(Time{}, [this] { sample(clock_.now()); });
}

void WallHost::later(Time when, ClientId client, WallEvent event, bool counts) {
  if (counts) open_work_.fetch_add(1, std::memory_order_relaxed);
  clock_.alarm(when, [this, client, counts, event = std::move(event)] {
    post(client, event);
    if (counts) open_work_.fetch_sub(1, std::memory_order_release);
  });
}

// Stamped where it arrives.
void WallHost::deliver(const std::shared_ptr<const Message>& message, const Delivery& delivery, Time stamp, HostId from) {
  WallEvent event{.kind = WallEvent::Kind::message, .message = message, .delivery = delivery};
  const bool is_own = !network_ || from == network_->self();
  const auto after = [&](Duration delay) {
    if (!is_own && !(event.place = quotas_[from.value].enter())) return refuse(from, Misdeed::flood);
    event.at = stamp + delay;
    if (delay <= Duration{}) return post(delivery.receiver, event);
    later(event.at, delivery.receiver, event, true);
  };
  after(delivery.delay);
  for (unsigned copy = 0; copy < delivery.copies; ++copy) after(delivery.copy_delay);
}

void WallHost::send(std::shared_ptr<const Message> message, std::vector<Delivery> deliveries) {
  std::map<HostId, std::vector<Delivery>> elsewhere;
  for (const Delivery& delivery : deliveries) {
    if (is_here(delivery.receiver))
      deliver(message, delivery, message->sent, network_ ? network_->self() : HostId{});
    else if (network_)
      elsewhere[network_->host_of[delivery.receiver.value]].push_back(delivery);
  }
  for (const auto& [host, theirs] : elsewhere)
    for (std::size_t from = 0; from < theirs.size(); from += most_deliveries) {  // each may have tensors of its own
      const std::vector<Delivery> some(
          theirs.begin() + static_cast<std::ptrdiff_t>(from),
          theirs.begin() + static_cast<std::ptrdiff_t>(std::min(theirs.size(), from + most_deliveries)));
      network_->transport.send(host, to_parcel(*message, some, is_state_));
    }
}

// How much less this host's experiment shows than the other's at one instant; 0 while nothing is known.
Duration WallHost::behind(HostId host) const {
  const auto theirs = network_->membership.host_info(host);
  const auto offset = network_->membership.offset(host);
  if (!theirs || !theirs->running_since || !offset) return {};
  const Duration now = monotonic_now();
  return clock_.scaled(now + offset->nanoseconds - *theirs->running_since) - (clock_.at(now) - Time{});
}

void WallHost::receive_message(HostId from, Parcel parcel, Duration arrived) {
  const std::lock_guard lock(door_);
  last_message_.store(arrived.count(), std::memory_order_relaxed);
  if (!is_open_) return;
  InboundQuota& quota = quotas_[from.value];
  if (!quota.pace.take(arrived)) return refuse(from, Misdeed::flood);
  auto message = to_message(std::move(parcel), static_cast<std::uint32_t>(by_client_.size()));
  if (!message || network_->host_of[message->message->id.sender.value] != from) return refuse(from, Misdeed::message);
  const std::size_t most_tensors = 16 + Payload::most_tensors * message->deliveries.size();  // with room for what goes along
  if (message->message->payload.bytes() > most_tensors * model_bytes_) return refuse(from, Misdeed::message);  // before it may wait
  quota.heard = arrived;
  message->message->sent -= behind(from);
  const Time stamp = clock_.told_at(arrived);  // not before the instant at which this host goes on
  const std::shared_ptr<const Message> shared = std::move(message->message);
  bool is_first = true;  // the parcel's own place in the pace
  for (const Delivery& delivery : message->deliveries) {
    const bool is_possible = std::max(delivery.delay, delivery.copy_delay) <= longest_delay_ && delivery.copies <= most_copies;
    if (!is_here(delivery.receiver) || !is_possible)
      refuse(from, Misdeed::message);
    else if (!std::exchange(is_first, false) && !quota.pace.take(arrived))
      refuse(from, Misdeed::flood);
    else
      deliver(shared, delivery, stamp, from);
  }
}

void WallHost::refuse(HostId from, Misdeed what) {
  ++(what == Misdeed::flood ? flooded_ : malformed_);
  network_->membership.conduct().add(from, what);
}

// By a client of this host.
void WallHost::refused(ClientId sender, Misdeed what) {
  if (network_) network_->membership.conduct().add(network_->host_of[sender.value], what);
}

// ---- looked at ten times a second ----------------------------------------------------------------------------------

void WallHost::measured(ClientId client, std::uint64_t sample, const MessageCounts& counts) {
  const std::lock_guard lock(mutex_);
  open_headers_.at(sample).add(counts, timing_.conductor.energy.of(client, counts));
}

void WallHost::counted(const WallClient& client) {
  std::vector<Screened> refused;
  for (const Screened& link : client.performer().screening().by_sender())
    if (link.refused() > 0) refused.push_back(link);
  const std::lock_guard lock(mutex_);
  counted_[client.id()] = {client.counts(), client.tally().skipped, {}, std::move(refused)};
}

WallHost::Live WallHost::live() const {
  const std::lock_guard lock(mutex_);
  Live sum{.scores = scores_};
  for (const auto& [client, live] : counted_) sum.counts += live.counts, sum.skipped += live.skipped;
  return sum;
}

Glance WallHost::glance() const {
  Glance sum{.at = clock_.now(), .present = clients_.size()};
  const std::lock_guard lock(mutex_);
  if (attendance_)
    sum.present = static_cast<std::uint64_t>(
        std::ranges::count_if(clients_, [this](const auto& client) { return attendance_->is_here(client->id()); }));
  OverClients pace{.min = 1};
  for (const auto& [client, live] : counted_) {
    sum.counts += live.counts, sum.skipped += live.skipped;
    const std::uint64_t asked = live.counts.computations + live.skipped;
    const double kept = asked > 0 ? static_cast<double>(live.counts.computations) / static_cast<double>(asked) : 1;
    pace.mean += kept / static_cast<double>(counted_.size());
    pace.min = std::min(pace.min, kept), pace.max = std::max(pace.max, kept);
  }
  if (!counted_.empty()) sum.pace = pace;
  return sum;
}

void WallHost::look_at_counts() {
  const Duration now = monotonic_now();
  if (phase_ != Phase::running || now < next_count_) return;
  next_count_ = now + std::chrono::seconds(1);
  post_to_all({.kind = WallEvent::Kind::count, .at = clock_.now()});
  if (!network_) return;
  look_at_conduct();
  if (experiment_.saturate) return;
  const Live live = this->live();
  if (const auto skipped = pace_.look(now, {live.skipped, live.counts.computations}))
    network_->membership.say(
        {EventLevel::warn,
         "slow",
         "",
         {{"skipped_percent", *skipped}, {"text", "this machine does not keep the pace: lower time_scale or the rates"}}});
}

void WallHost::look_at_conduct() {
  constexpr std::pair<std::uint64_t Screened::*, Misdeed> reasons[] = {{&Screened::not_finite, Misdeed::not_finite},
                                                                       {&Screened::beyond_norm, Misdeed::beyond_norm},
                                                                       {&Screened::unauthorised, Misdeed::unauthorised},
                                                                       {&Screened::unasked, Misdeed::unasked}};
  const std::lock_guard lock(mutex_);
  for (const auto& [reason, what] : reasons) {
    std::vector<std::uint64_t> sums(hosts_.size());
    for (const auto& [client, live] : counted_)
      for (const Screened& link : live.refused) sums[network_->host_of[link.sender.value].value] += link.*reason;
    for (const HostId host : network_->membership.others()) network_->membership.conduct().set(host, what, sums[host.value]);
  }
}

void WallHost::saved(ClientId client, std::uint64_t number, std::vector<std::byte> state) {
  const std::lock_guard lock(mutex_);
  checkpoints_[number].states[client] = std::move(state);
}

void WallHost::tell_rounds() {
  if (!goes_in_rounds(timing_)) return;
  std::optional<std::uint64_t> done;
  RoundsSoFar all;
  for (const auto& client : clients_) {
    const RoundsSoFar mine = client->told_rounds();
    if (counts_rounds(timing_, client->id())) done = std::min(done.value_or(mine.done), mine.done);
    all.waiting.computations += mine.waiting.computations;
    all.waiting.messages += mine.waiting.messages;
  }
  if (!done) return;  // the centre is on another host
  all.done = *done;
  control_.tell(all);
}

void WallHost::look(const std::function<void(const WallCheckpoint&)>& on_checkpoint) {
  control_.now_nanoseconds.store(clock_.now().time_since_epoch().count(), std::memory_order_relaxed);
  control_.events.store(world_.events.load(), std::memory_order_relaxed);
  tell_rounds();
  if (client_pool_.has_failed()) return control_.finish();
  if (network_) look_at_hosts();
  if (network_ || options_.on_glance) look_at_counts();
  if (control_.is_looked_at()) control_.show(glance());
  write_checkpoints(on_checkpoint);
  const bool ends = control_.is_stopping.load() || is_until_over_.load() || world_.record.has_failed();
  if (phase_ == Phase::running && ends) begin_to_drain();
  if (phase_ != Phase::draining || !is_drained() || control_.open_samples.load() > 0) return;
  phase_ = Phase::over;
  control_.finish();
}

void WallHost::begin_to_drain() {
  const Time end{from_seconds(experiment_.until)};
  {
    const std::lock_guard lock(mutex_);
    ended_ = is_until_over_.load() ? end : std::clamp(clock_.now(), Time{}, end);
  }
  phase_ = Phase::draining;
  draining_since_ = monotonic_now();
  if (network_ && options_.stop && options_.stop->load()) save_at_stop();
  if (!is_until_over_.load()) post_to_all({.kind = WallEvent::Kind::stop, .at = clock_.now()});
  if (!network_) return;
  Parcel notice;
  if (is_until_over_.load()) notice.head.assign(1, std::byte{1});
  for (const HostId host : network_->membership.others()) network_->transport.send(host, notice);
}

bool WallHost::is_drained() {
  const Duration now = monotonic_now();
  if (now - draining_since_ > from_seconds(experiment_.hosts.drain)) return true;
  if (open_work_.load(std::memory_order_acquire) > 0) return false;
  if (!network_) return true;
  if (!is_until_over_.load()) return now - draining_since_ > settling;  // a host that leaves early does not wait
  const std::lock_guard lock(mutex_);
  for (const HostId host : network_->membership.others())
    if (hosts_[host.value].is_here && !is_stopped_[host.value]) return false;
  return now - std::max(draining_since_, Duration{last_message_.load()}) > settling;
}

void WallHost::write_checkpoints(const std::function<void(const WallCheckpoint&)>& on_checkpoint) {
  std::vector<WallCheckpoint> complete;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = checkpoints_.begin(); it != checkpoints_.end();) {
      if (it->second.states.size() < clients_.size()) {
        ++it;
        continue;
      }
      complete.push_back(std::move(it->second));
      complete.back().number = it->first;
      it = checkpoints_.erase(it);
    }
  }
  if (on_checkpoint && !reporter_.has_thrown())  // else the run would not come to its end as long as checkpoints do
    for (const WallCheckpoint& checkpoint : complete) {
      on_checkpoint(checkpoint);
      const std::lock_guard lock(mutex_);
      saved_ = asked_;
    }
  if (!complete.empty()) is_saving_.store(false);
}

// A host that is there and whose clients say nothing swallows the mass that they are sent: for them it has gone.
bool WallHost::is_mute(HostId host, Duration now) {
  Presence& known = hosts_[host.value];
  if (phase_ != Phase::running) return known.is_mute;
  {
    const std::lock_guard lock(door_);
    known.heard = std::max(known.heard, quotas_[host.value].heard);
  }
  if (!network_->membership.is_alive(host) || known.heard == Duration{}) known.heard = now;
  const Duration pause = now - known.heard;
  const bool is_mute = known.longest_pause > Duration{} && pause > known.longest_pause;
  if (is_mute != std::exchange(known.is_mute, is_mute))
    network_->membership.say(
        is_mute ? RunEvent{EventLevel::warn, "mute", network_->membership.name(host), {{"silent_seconds", to_seconds(pause)}}}
                : RunEvent{EventLevel::info, "speaks", network_->membership.name(host)});
  return is_mute;
}

// Which hosts have gone, are here, have begun another life. Mass that clients have taken along is counted anew.
void WallHost::look_at_hosts() {
  if (!network_) return;
  const Membership& membership = network_->membership;
  const Duration now = monotonic_now(), before = std::exchange(looked_, now);
  if (before > Duration{} && now - before > from_seconds(experiment_.hosts.lost_after) / 2) {
    for (Presence& known : hosts_) known.heard = now;  // this process stood still, and could hear none of them
    return;
  }
  for (const HostId host : membership.others()) {
    const bool is_here = !is_mute(host, now) && membership.is_alive(host);
    const std::uint64_t life = membership.life(host);
    Presence& known = hosts_[host.value];
    const bool is_new_life = is_here && known.life != 0 && life != known.life;
    if (is_here == known.is_here && !is_new_life) {
      if (is_here) known.life = life;
      continue;
    }
    const bool was_there = known.life != 0;
    known.is_here = is_here;
    if (is_here) known.life = life;
    if (is_here) {
      const std::lock_guard lock(mutex_);
      is_stopped_[host.value] = false;
    }
    for (std::uint32_t i = 0; i < by_client_.size(); ++i)
      if (network_->host_of[i] == host)
        post_to_all(
            {.kind = WallEvent::Kind::presence, .at = clock_.now(), .number = is_here && is_there({i}), .client = ClientId{i}});
    // One of the hosts that stayed begins the epoch.
    HostId first = network_->self();
    for (std::uint32_t other = 0; other < first.value; ++other)
      if (HostId{other} != host && membership.is_alive({other})) first = HostId{other};
    if (first == network_->self() && (was_there || is_here)) begin_epoch();
  }
}

void WallHost::begin_epoch() {
  if (!world_.passes_mass_on) return;
  const std::uint32_t number = Epoch::unpacked(world_.epoch.load()).number;
  const Epoch next{std::min(number, last_epoch - 1) + 1, network_->self().value + 1};
  post_to_all({.kind = WallEvent::Kind::reset, .at = clock_.now(), .number = next.packed()});
}

}  // namespace rubato
