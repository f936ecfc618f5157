#include "actors/virtual/conductor_actor.hpp"

#include <algorithm>

namespace rubato {

Credit Credit::automatic(std::size_t clients, std::size_t model_bytes, const config::Limits& limits) {
  Credit credit;
  credit.bytes_per_payload = static_cast<std::int64_t>(std::max<std::size_t>(model_bytes, 1));
  // Many steps a visit while clients are few enough for the caches; a bound on their memory when they are very many.
  const std::int64_t most = clients > (1u << 18) ? 1 << 18 : 1 << 20;
  credit.outstanding_steps = limits.outstanding_steps > 0
                                 ? limits.outstanding_steps
                                 : std::clamp<std::int64_t>(16 * static_cast<std::int64_t>(clients), 512, most);
  credit.payload_bytes = limits.payload_bytes > 0 ? limits.payload_bytes : std::int64_t{1} << 28;
  credit.slice = static_cast<std::uint64_t>(std::max<std::int64_t>(credit.outstanding_steps / 2, 1));
  return credit;
}

StepDispatcher::StepDispatcher(RunControl& control, Recorder* recorder)
    : control_{control}, recorder_{recorder}, staged_(control.client_pool.clients.size()) {}

void StepDispatcher::record(const Step& step) {
  if (recorder_ && step.kind != StepKind::measure) recorder_->add(step);
}

void StepDispatcher::perform(const Step& step) {
  record(step);
  if (step.kind == StepKind::discard) {  // nothing to compute: the payload is let go of here
    for (const StepEntry& entry : step.entries) control_.client_pool.slots.release(entry.slot);
    return;
  }
  Staged& mine = staged_[step.client.value];
  if (!mine.first) {
    mine.first = mine.last = &control_.client_pool.batches.take(step);
    touched_.push_back(step.client.value);
  } else if (!mine.last->fits(step)) {
    mine.last->next = &control_.client_pool.batches.take(step);
    mine.last = mine.last->next;
  }
  mine.last->add(step);
  ++count_;
}

void StepDispatcher::open_sample(const SampleHeader& header) {
  if (!control_.gatherer) return;  // the clients are probed instead
  ++control_.open_samples;
  hand(control_.gatherer, SampleOpens{header});
}

void StepDispatcher::hand_over() {
  control_.client_pool.outstanding.fetch_add(count_);
  count_ = 0;
  std::ranges::sort(touched_);  // neighbours often have neighbouring numbers: they find each other's data
  for (std::uint32_t client : touched_) {
    control_.client_pool.clients[client]->add(*staged_[client].first);
    staged_[client] = {};
    hand(control_.clients[client], StepsForYou{});
  }
  touched_.clear();
  if (recorder_ && !recorder_->error().empty()) control_.is_stopping.store(true);  // the disk is full: why go on
}

caf::behavior ConductorActor::make_behavior() {
  return {[this](GoOn) { go_on(); }};
}

// Models of a sample that are copied and not yet gathered, where all of them together would take too much memory.
std::int64_t ConductorActor::portion() const {
  constexpr std::int64_t most_bytes = std::int64_t{32} << 20;
  return std::max<std::int64_t>(most_bytes / credit_.bytes_per_payload, 16);
}

bool ConductorActor::measures_in_portions() const {
  const auto left = static_cast<std::int64_t>(source_.to_measure());
  return left > 0 && (is_measuring_ || left > 2 * portion());
}

// The first portion waits until everything before it is done, so that what is outstanding is measurements alone; the
// others until half of the portion before is gathered.
std::int64_t ConductorActor::outstanding_to_wait_for() const {
  if (!measures_in_portions()) return control_.client_pool.outstanding.load() / 2;
  return is_measuring_ ? portion() / 2 : 0;
}

// In slots, or on their way into one.
std::int64_t ConductorActor::payloads() const { return control_.client_pool.slots.in_use() - (peers_ ? peers_->empty_slots() : 0); }

// A run that may end at a sample does nothing before it is scored, but for measuring it.
int ConductorActor::most_open_samples() const { return control_.may_end_at_samples && !source_.is_sampling() ? 0 : 2; }

bool ConductorActor::has_credit() const {
  if (control_.open_samples.load() > most_open_samples()) return false;
  const std::int64_t outstanding = control_.client_pool.outstanding.load();
  if (outstanding == 0) return true;  // whatever the links hold: one host has to go on
  if (measures_in_portions()) return is_measuring_ && outstanding <= portion() / 2;
  return outstanding < credit_.outstanding_steps && payloads() * credit_.bytes_per_payload < credit_.payload_bytes;
}

// False if what it waits for is true already, and nothing has woken it meanwhile.
template <class Condition>
bool ConductorActor::falls_asleep(std::int64_t wake_at, Condition is_reached) {
  control_.wake_at.store(wake_at);
  control_.conductor_sleeps.store(true);
  return !(is_reached() && control_.conductor_sleeps.exchange(false));
}

bool ConductorActor::sleep_until(std::int64_t outstanding) {
  return falls_asleep(outstanding, [&] {
    return control_.client_pool.outstanding.load() <= outstanding && control_.open_samples.load() <= most_open_samples();
  });
}

// After a failure samples stay open for ever: then only the steps are waited for.
bool ConductorActor::is_quiet() const {
  return control_.client_pool.outstanding.load() == 0 && (control_.open_samples.load() == 0 || control_.client_pool.has_failed());
}

// The conductor is woken as long as it is not.
void ConductorActor::when_quiet(void (RunControl::*act)()) {
  if (!falls_asleep(0, [this] { return is_quiet(); })) (control_.*act)();
}

// As many steps as the credit for payloads allows: each of them may be a publication.
std::uint64_t ConductorActor::slice() const {
  if (measures_in_portions()) return static_cast<std::uint64_t>(portion());
  const std::int64_t room = credit_.payload_bytes / credit_.bytes_per_payload - payloads();
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(room, 1, static_cast<std::int64_t>(credit_.slice)));
}

// What the timing throws ends the run like what a client throws. Everything issued is handed over all the same, so that
// no client waits for ever.
template <class Act>
void ConductorActor::guarded(Act act) {
  Step step{.client = no_client, .entries = {}};
  control_.client_pool.guard(step, [&] {
    try {
      act();
    } catch (...) {
      step.at = source_.now();
      throw;
    }
  });
}

// A walk ends where a sample begins and where it ends. Where nothing waits for that it goes on: a client that gets its
// measurement with its other steps needs no visit of its own.
bool ConductorActor::walks_through_samples() const {
  return !peers_ && !control_.may_end_at_samples && !measures_in_portions() && !source_.is_paused() && !source_.awaits_answer() &&
         !source_.is_over() && control_.open_samples.load() <= most_open_samples();
}

void ConductorActor::walk_a_slice() {
  const bool is_portion = measures_in_portions();
  guarded([this, is_portion] {
    source_.walk(slice());
    constexpr int parts_of_a_sample = 2;  // itself, and what comes after it
    for (int part = 0; part < parts_of_a_sample && !is_portion && walks_through_samples(); ++part) {
      const std::uint64_t most = slice(), staged = dispatcher_.staged();
      if (staged >= most) break;
      source_.walk(most - staged);
    }
  });
  is_measuring_ = is_portion && source_.to_measure() > 0;
  dispatcher_.hand_over();
}

bool ConductorActor::hand_in_answer() {
  std::atomic<int>& answer = control_.client_pool.answer;
  if (answer.load() < 0 && falls_asleep(-1, [&] { return answer.load() >= 0; })) return false;
  const bool is_yes = answer.exchange(-1) == 1;
  if (peers_) peers_->on_answer(is_yes);
  guarded([&] { source_.answer(is_yes); });
  return true;
}

bool ConductorActor::has_company() {
  return !peers_ || peers_->may_advance() || !falls_asleep(-1, [this] { return peers_->may_advance(); });
}

void ConductorActor::stop_if_wanted() {
  if (control_.is_stopping.load()) peers_ ? peers_->on_stop_wanted() : source_.stop();
}

void ConductorActor::go_on() {
  stop_if_wanted();
  if (source_.is_over() || control_.client_pool.has_failed()) return when_quiet(&RunControl::finish);
  if (source_.is_paused()) return when_quiet(&RunControl::pause);
  const BusyWorker busy(control_);
  if (!has_company()) return;
  if (source_.awaits_answer() && !hand_in_answer()) return;
  if (!has_credit() && sleep_until(outstanding_to_wait_for())) return;
  if (control_.may_end_at_samples) stop_if_wanted();  // the sample that says so may have come meanwhile
  walk_a_slice();
  if (peers_) peers_->on_walked();
  control_.now_nanoseconds.store(source_.now().time_since_epoch().count(), std::memory_order_relaxed);
  control_.events.store(source_.events(), std::memory_order_relaxed);
  if (const auto rounds = source_.rounds_so_far()) control_.tell(*rounds);
  if (control_.is_looked_at()) control_.show(source_.glance());
  caf::anon_send(this, GoOn{});  // behind all that have work now
}

}  // namespace rubato
