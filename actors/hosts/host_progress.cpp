#include "actors/hosts/host_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "runtime/printable.hpp"

namespace rubato {

namespace {

constexpr Duration tell_every = std::chrono::milliseconds(50);
constexpr std::size_t most_marks = 1024;
constexpr Duration say_after = std::chrono::seconds(30);      // of standing still, and as often as that
constexpr Duration halt_patience = std::chrono::seconds(10);  // for all to say where they stand
constexpr std::size_t longest_sentence = 2000;
constexpr std::uint64_t at_the_end = std::numeric_limits<std::uint64_t>::max();

}  // namespace

void HostProgress::HostState::archive(Archive& archive) {
  archive(position, is_halting, halted_at, end_at, mark, judged, last_sample, ended_by, failure, has_ended);
  archive.require(!failure || failure->size() <= longest_sentence);
  archive.require(ended_by.empty() || ended_by == "metrics.stop" || ended_by == "metrics.stop_on_nan");
  for (const auto& instant : {halted_at, end_at}) archive.require_moderate(instant.value_or(Duration{}));
}

HostProgress::HostProgress(Membership& membership, Transport& transport, ItemExchange& items, std::vector<HostId> owners)
    : membership_{membership}, transport_{transport}, items_{items}, owners_{std::move(owners)}, peers_(membership.hosts()) {
  membership_.handle(ParcelKind::notice, [this](HostId from, const Parcel& parcel, Duration) { on_notice(from, parcel); });
  items_.on_less([this] { wake(); });
  thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

void HostProgress::begin() {
  const std::lock_guard lock(mutex_);
  began_ = monotonic_now();
  has_begun_ = true;
}

void HostProgress::attach(RunControl& control, Conductor& conductor, Lead lead) {
  conductor_ = &conductor;
  lead_ = lead;
  {
    const std::unique_lock lock(stage_mutex_);
    control_ = &control;
  }
  if (const auto sentence = failure())  // it came before the run began
    control.client_pool.fail({.client = no_client, .entries = {}}, *sentence);
}

void HostProgress::detach() {
  const std::unique_lock lock(stage_mutex_);
  control_ = nullptr;
}

// ---- the conductor's side ------------------------------------------------------------------------------------------

// Where a sample was judged to be the last all hosts stand at it, and end there; else all have to agree on an instant first.
void HostProgress::on_stop_wanted() {
  const bool is_judged = is_first() && control_ && control_->ends_at_sample.load();
  {
    const std::lock_guard lock(mutex_);
    if (!mine_.ended_by.empty()) return;
    if (!is_judged || mine_.is_halting) return void(mine_.is_halting = true);
    mine_.last_sample = conductor_->samples();
    mine_.ended_by = control_->stop_rule && !control_->is_nan_stop.load() ? "metrics.stop" : "metrics.stop_on_nan";
  }
  conductor_->stop();
  tell();
}

// The first host: nothing is measured any more, and no sample has ended the run. True if that is news.
bool HostProgress::note_judged() {
  const bool is_judging = !is_first() || !control_->may_end_at_samples || conductor_->is_sampling() ||
                          control_->open_samples.load() > 0 || control_->is_stopping.load();
  if (is_judging || mine_.judged == conductor_->samples()) return false;
  mine_.judged = conductor_->samples();
  return true;
}

// Where a run may end at a sample no host goes on before the first one has judged it.
bool HostProgress::waits_for_verdict() {
  if (is_first() || !control_->may_end_at_samples || conductor_->is_sampling() || mine_.end_at) return false;
  const HostState& said = peers_[first().value].said;
  const bool is_last = !said.ended_by.empty() && said.last_sample == conductor_->samples();
  if (is_last) conductor_->stop();
  return !is_last && said.judged < conductor_->samples();
}

// True: this host stands still until all know where to end.
bool HostProgress::waits_for_end() {
  const bool stands_still = mine_.is_halting && !mine_.end_at;
  if (!stands_still || mine_.halted_at) return stands_still;
  mine_.halted_at = conductor_->now().time_since_epoch();
  settle_end();
  return !mine_.end_at;
}

bool HostProgress::may_advance() {
  const std::size_t kept = items_.kept();
  const bool has_judged = [this] {
    const std::lock_guard lock(mutex_);
    return note_judged();
  }();
  if (has_judged) tell();
  const std::lock_guard lock(mutex_);
  if (mine_.failure) return true;  // to its end
  if (waits_for_end() || waits_for_verdict()) return false;
  if (mine_.end_at) conductor_->end_at(Time{*mine_.end_at});
  std::uint64_t slowest = at_the_end;
  for (const HostId host : others()) slowest = std::min(slowest, peers_[host.value].said.position);
  if (position_ <= slowest) return true;
  return position_ - slowest <= lead_.steps && kept < lead_.payloads;
}

void HostProgress::on_walked() {
  const auto in_slots = static_cast<std::uint64_t>(control_->client_pool.slots.in_use() - empty_slots_);
  peak_payloads_ = std::max<std::uint64_t>(peak_payloads_, in_slots + items_.kept());
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t reached = conductor_->is_over() ? at_the_end : position_;
    if (reached == mine_.position) return;
    mine_.position = reached;
    moved_ = monotonic_now();
    if (conductor_->is_over() && !mine_.halted_at) mine_.halted_at = conductor_->now().time_since_epoch();
  }
  tell();
}

void HostProgress::on_answer(bool yes) {
  if (!question_) return;  // it was another host's
  items_.deliver({ItemKind::answer, *question_}, [yes](HostId) { return Item{{std::byte{yes}}, {}}; });
  question_.reset();
}

void HostProgress::on_sample(std::uint64_t number) {
  Mark mark{number, 0, 0};
  for (const StepHash& hash : conductor_->hashes()) {
    mark.low = (std::rotl(mark.low, 5) ^ hash.low()) * 0x9E37'79B9'7F4A'7C15;
    mark.high = (std::rotl(mark.high, 7) ^ hash.high()) * 0xD6E8'FEB8'6659'FD93;
  }
  std::vector<std::pair<HostId, Mark>> theirs;
  {
    const std::lock_guard lock(mutex_);
    mine_.mark = mark;
    marks_.push_back(mark);
    if (marks_.size() > most_marks) marks_.pop_front();
    for (const HostId host : others()) theirs.emplace_back(host, peers_[host.value].said.mark);
  }
  for (const auto& [host, other] : theirs) compare(host, other);
}

// Hashes run through the whole run: once apart they never meet again, so the newest samples are enough.
void HostProgress::compare(HostId other, const Mark& theirs) {
  {
    const std::lock_guard lock(mutex_);
    const auto ours = std::ranges::find(marks_, theirs.sample, &Mark::sample);
    const bool was_told = theirs.low != 0 || theirs.high != 0;
    if (!was_told || ours == marks_.end() || (ours->low == theirs.low && ours->high == theirs.high)) return;
  }
  fail(
      fmt::format("host \"{}\" and host \"{}\" disagree about the steps before sample {}: they walk different timings; "
                  "use the same build and files everywhere",
                  membership_.name(self()), membership_.name(other), theirs.sample));
}

// ---- what comes from others ----------------------------------------------------------------------------------------

void HostProgress::put(SlotIndex slot, Payload payload) {
  const std::shared_lock lock(stage_mutex_);
  if (!control_) return;
  for (Waiter* waiter = control_->client_pool.slots.fill(slot, std::move(payload)); waiter;) {
    Waiter* following = waiter->next;
    Client& client = static_cast<Client&>(*waiter);
    client.stop_waiting();
    if (client.enter()) hand(control_->clients[client.id().value], YourTurn{});
    waiter = following;
  }
}

void HostProgress::put_answer(bool yes) {
  const std::shared_lock lock(stage_mutex_);
  if (!control_) return;
  control_->client_pool.answer.store(yes ? 1 : 0);
  control_->wake_conductor();
}

void HostProgress::put_snapshot(const Step& measured, std::optional<Snapshot> snapshot) {
  const std::shared_lock lock(stage_mutex_);
  if (!control_) return;
  if (!snapshot) return control_->close_model(false);
  control_->evaluate({measured.index, measured.client, measured.at, std::move(*snapshot)});
}

void HostProgress::on_notice(HostId from, const Parcel& parcel) {
  const std::optional<HostState> state = read_item<HostState>(parcel.head);
  if (!state) return;
  bool is_news = false;
  {
    const std::lock_guard lock(mutex_);
    HostState& said = peers_[from.value].said;
    is_news = state->position > said.position || (state->is_halting && !mine_.is_halting) || (state->end_at && !mine_.end_at) ||
              state->judged > said.judged || state->ended_by != said.ended_by;
    if (state->position > said.position) peers_[from.value].moved = monotonic_now();
    said.position = std::max(said.position, state->position);
    if (state->halted_at) said.halted_at = state->halted_at;
    if (state->mark.sample >= said.mark.sample) said.mark = state->mark;
    said.judged = std::max(said.judged, state->judged);
    if (said.ended_by.empty() && !state->ended_by.empty()) said.ended_by = state->ended_by, said.last_sample = state->last_sample;
    said.has_ended = said.has_ended || state->has_ended;
    mine_.is_halting = mine_.is_halting || state->is_halting;
    if (from == first() && state->end_at && !mine_.end_at) mine_.end_at = state->end_at;
    settle_end();
    changed_.notify_all();
  }
  if (state->failure) fail(printable(*state->failure, longest_sentence));
  compare(from, state->mark);
  if (is_news) wake();
}

// The host furthest behind; where none is behind this one, the host that keeps it waiting for an item.
ItemExchange::Awaited HostProgress::culprit() const {
  const auto slowest = std::ranges::min_element(others(), {}, [this](HostId host) {
    const Peer& peer = peers_[host.value];
    return std::pair(peer.said.position, peer.moved);
  });
  const ItemExchange::Awaited behind{*slowest, peers_[slowest->value].moved};
  const bool is_behind = peers_[slowest->value].said.position < mine_.position;
  return is_behind ? behind : items_.longest_awaited().value_or(behind);
}

std::string HostProgress::sentence_about(HostId host, Duration now) const {
  const Peer& peer = peers_[host.value];
  if (peer.said.position == at_the_end)
    return fmt::format("host \"{}\", which does not send what it has promised", membership_.name(host));
  return fmt::format("host \"{}\", which stands at step {} for {:.0f} s", membership_.name(host), peer.said.position,
                     to_seconds(now - std::max(peer.moved, began_)));
}

std::optional<std::string> HostProgress::look_for_standstill(Duration patience, Duration now) {
  std::unique_lock lock(mutex_);
  if (others().empty() || mine_.failure) return std::nullopt;
  if (mine_.is_halting && !halting_since_) halting_since_ = now;
  if (mine_.is_halting && !mine_.end_at && now - *halting_since_ > halt_patience * (is_first() ? 1 : 2)) {
    const auto silent = std::ranges::find_if(
        others(), [this](HostId host) { return is_first() ? !peers_[host.value].said.halted_at : host == first(); });
    if (silent == others().end()) return std::nullopt;
    const std::string sentence = "the run was stopped without waiting for " + sentence_about(*silent, now);
    lock.unlock();
    fail(sentence);
    return std::nullopt;
  }
  const auto [host, since] = culprit();
  const Duration still = now - std::max({moved_, since, began_});
  if (still < say_after) return std::nullopt;
  const std::string about = sentence_about(host, now);
  if (still > patience && (is_first() || mine_.position != at_the_end)) {  // the first host may gather for as long as it takes
    lock.unlock();
    fail("the run does not go on without " + about);
    return std::nullopt;
  }
  if (now < next_word_) return std::nullopt;
  next_word_ = now + say_after;
  return "waiting for " + about;
}

// All hosts stand still somewhere: the run ends where the foremost stands.
void HostProgress::settle_end() {
  if (!is_first() || !mine_.is_halting || mine_.end_at || !mine_.halted_at) return;
  Duration last = *mine_.halted_at;
  for (const HostId host : others()) {
    const auto& halted_at = peers_[host.value].said.halted_at;
    if (!halted_at) return;
    last = std::max(last, *halted_at);
  }
  mine_.end_at = last;
}

// ---- failing and ending --------------------------------------------------------------------------------------------

void HostProgress::fail(const std::string& sentence) {
  {
    const std::lock_guard lock(mutex_);
    if (mine_.failure) return;
    mine_.failure = printable(sentence, longest_sentence);
  }
  {
    const std::shared_lock lock(stage_mutex_);
    if (control_) control_->client_pool.fail({.client = no_client, .entries = {}}, sentence);
  }
  items_.give_up();
  tell();
  wake();
}

std::optional<std::string> HostProgress::failure() const {
  const std::lock_guard lock(mutex_);
  return mine_.failure;
}

void HostProgress::fail_if_a_client_did() {
  std::optional<RunFailure> failed;
  {
    const std::shared_lock lock(stage_mutex_);
    if (control_) failed = control_->client_pool.failure();
  }
  if (failed) fail_here(to_string(*failed));
}

// Before the run has begun the membership waits for the hosts.
void HostProgress::fail_if_a_host_is_gone() {
  for (const HostId host : others()) {
    {
      const std::lock_guard lock(mutex_);
      Peer& peer = peers_[host.value];
      const auto host_info = has_begun_ && !peer.said.has_ended ? membership_.host_info(host) : std::nullopt;
      if (!host_info) continue;
      const bool is_same_life = peer.life.value_or(host_info->life) == host_info->life;
      peer.life = host_info->life;
      if (is_same_life && membership_.is_alive(host)) continue;
    }
    return fail("host \"" + membership_.name(host) + "\" is gone; a virtual run waits for all hosts, so it cannot go on");
  }
}

std::optional<Time> HostProgress::end() const {
  const std::lock_guard lock(mutex_);
  return mine_.end_at ? std::optional(Time{*mine_.end_at}) : std::nullopt;
}

std::string HostProgress::ended_by() const {
  const std::lock_guard lock(mutex_);
  return is_first() ? mine_.ended_by : peers_[first().value].said.ended_by;
}

void HostProgress::part(Duration limit) {
  constexpr int last_words = 3;
  {
    const std::lock_guard lock(mutex_);
    mine_.has_ended = true;
  }
  tell();
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [this] {
      return std::ranges::all_of(others(), [this](HostId host) { return peers_[host.value].said.has_ended; });
    });
  }
  for (int i = 0; i < last_words; ++i) tell();
}

HostProgress::HostState HostProgress::state() const {
  const std::lock_guard lock(mutex_);
  HostState state = mine_;
  if (!state.is_halting) state.halted_at.reset();
  if (!is_first()) state.end_at.reset();
  return state;
}

void HostProgress::tell() {
  const HostState mine = state();
  for (const HostId host : others()) transport_.send(host, parcel_of(ParcelKind::notice, mine, WhenFull::drop_oldest));
}

void HostProgress::wake() {
  const std::shared_lock lock(stage_mutex_);
  if (control_) control_->wake_conductor();
}

void HostProgress::run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait_for(lock, stop, tell_every, [] { return false; });
    lock.unlock();
    fail_if_a_client_did();
    fail_if_a_host_is_gone();
    tell();
    wake();
    lock.lock();
  }
}

}  // namespace rubato
