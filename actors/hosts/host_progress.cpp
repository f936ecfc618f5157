#include "actors/hosts/host_progress.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace rubato {

namespace {

constexpr Duration tell_every = std::chrono::milliseconds(50);
constexpr std::size_t most_marks = 1024;
constexpr std::uint64_t at_the_end = std::numeric_limits<std::uint64_t>::max();

}  // namespace

// Everything a host has to say, again and again.
struct HostProgress::HostState {
  std::uint64_t position = 0;
  bool is_halting = false;
  std::optional<Duration> halted_at;  // goes no further until all have agreed where to end
  std::optional<Duration> end_at;     // from the first host: where all end
  Mark mark;
  std::optional<std::string> failure;
  bool has_ended = false;

  void archive(Archive& archive) {
    archive(position, is_halting, halted_at, end_at, mark, failure, has_ended);
    for (const auto& instant : {halted_at, end_at}) archive.require_moderate(instant.value_or(Duration{}));
  }
};

HostProgress::HostProgress(Membership& membership, Transport& transport, ItemExchange& items, std::vector<HostId> owners)
    : membership_{membership}, transport_{transport}, items_{items}, owners_{std::move(owners)}, peers_(membership.hosts()) {
  for (std::uint32_t host = 0; host < membership_.hosts(); ++host)
    if (HostId{host} != self()) others_.push_back({host});
  membership_.handle(ParcelKind::notice, [this](HostId from, const Parcel& parcel, Duration) { on_notice(from, parcel); });
  items_.on_less([this] { wake(); });
  thread_ = std::thread([this] { run(); });
}

HostProgress::~HostProgress() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void HostProgress::begin() {
  const std::lock_guard lock(mutex_);
  has_begun_ = true;
}

bool HostProgress::has_begun() const {
  const std::lock_guard lock(mutex_);
  return has_begun_;
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

void HostProgress::on_stop_wanted() {
  const std::lock_guard lock(mutex_);
  is_halting_ = true;
}

// True: this host stands still until all know where to end.
bool HostProgress::waits_for_end() {
  const bool stands_still = is_halting_ && !end_at_;
  if (!stands_still || halted_at_) return stands_still;
  halted_at_ = conductor_->now().time_since_epoch();
  settle_end();
  return !end_at_;
}

bool HostProgress::may_advance() {
  const std::size_t kept = items_.kept();
  const std::lock_guard lock(mutex_);
  if (failure_) return true;  // to its end
  if (waits_for_end()) return false;
  if (end_at_) conductor_->end_at(Time{*end_at_});
  std::uint64_t slowest = at_the_end;
  for (const HostId host : others()) slowest = std::min(slowest, peers_[host.value].position);
  if (position_ <= slowest) return true;
  return position_ - slowest <= lead_.steps && kept < lead_.payloads;
}

void HostProgress::on_walked() {
  const auto in_slots = static_cast<std::uint64_t>(control_->client_pool.slots.in_use() - empty_slots_);
  peak_payloads_ = std::max<std::uint64_t>(peak_payloads_, in_slots + items_.kept());
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t reached = conductor_->is_over() ? at_the_end : position_;
    if (reached == told_position_) return;
    told_position_ = reached;
    if (conductor_->is_over() && !halted_at_) halted_at_ = conductor_->now().time_since_epoch();
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
    marks_.push_back(mark);
    if (marks_.size() > most_marks) marks_.pop_front();
    for (const HostId host : others()) theirs.emplace_back(host, peers_[host.value].mark);
  }
  for (const auto& [host, other] : theirs) compare(host, other);
}

// Hashes run through the whole run: once apart they never meet again, so the newest samples are enough.
void HostProgress::compare(HostId other, const Mark& theirs) {
  {
    const std::lock_guard lock(mutex_);
    const auto same = [&](const Mark& mark) { return mark.sample == theirs.sample; };
    const auto ours = std::find_if(marks_.begin(), marks_.end(), same);
    const bool was_told = theirs.low != 0 || theirs.high != 0;
    if (!was_told || ours == marks_.end() || (ours->low == theirs.low && ours->high == theirs.high)) return;
  }
  fail("host \"" + membership_.name(self()) + "\" and host \"" + membership_.name(other) +
       "\" disagree about the steps before sample " + std::to_string(theirs.sample) +
       ": they walk different timings; use the same build and files everywhere");
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
    Peer& peer = peers_[from.value];
    is_news = state->position > peer.position || (state->is_halting && !is_halting_) || (state->end_at && !end_at_);
    peer.position = std::max(peer.position, state->position);
    if (state->halted_at) peer.halted_at = state->halted_at;
    if (state->mark.sample >= peer.mark.sample) peer.mark = state->mark;
    peer.has_ended = peer.has_ended || state->has_ended;
    is_halting_ = is_halting_ || state->is_halting;
    if (from == first() && state->end_at && !end_at_) end_at_ = state->end_at;
    settle_end();
    changed_.notify_all();
  }
  if (state->failure) fail(*state->failure);
  compare(from, state->mark);
  if (is_news) wake();
}

// Everybody stands still somewhere: the run ends where the foremost stands.
void HostProgress::settle_end() {
  if (!is_first() || !is_halting_ || end_at_ || !halted_at_) return;
  Duration last = *halted_at_;
  for (const HostId host : others()) {
    if (!peers_[host.value].halted_at) return;
    last = std::max(last, *peers_[host.value].halted_at);
  }
  end_at_ = last;
}

// ---- failing and ending --------------------------------------------------------------------------------------------

void HostProgress::fail(const std::string& sentence) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = sentence;
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
  return failure_;
}

void HostProgress::fail_if_a_client_did() {
  std::optional<RunFailure> failed;
  {
    const std::shared_lock lock(stage_mutex_);
    if (control_) failed = control_->client_pool.failure();
  }
  if (failed) fail("host \"" + membership_.name(self()) + "\": " + to_string(*failed));
}

// Before the run has begun somebody else waits for the hosts.
void HostProgress::fail_if_a_host_is_gone() {
  for (const HostId host : others_) {
    {
      const std::lock_guard lock(mutex_);
      Peer& peer = peers_[host.value];
      const auto host_info = has_begun_ && !peer.has_ended ? membership_.host_info(host) : std::nullopt;
      if (!host_info) continue;
      const bool is_same_life = peer.life.value_or(host_info->life) == host_info->life;
      peer.life = host_info->life;
      if (is_same_life && membership_.is_alive(host)) continue;
    }
    return fail("host \"" + membership_.name(host) + "\" is gone; a virtual run waits for everybody, so it cannot go on");
  }
}

std::optional<Time> HostProgress::end() const {
  const std::lock_guard lock(mutex_);
  return end_at_ ? std::optional(Time{*end_at_}) : std::nullopt;
}

void HostProgress::part(Duration limit) {
  constexpr int last_words = 3;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  tell();
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, limit, [this] {
      for (const HostId host : others())
        if (!peers_[host.value].has_ended) return false;
      return true;
    });
  }
  for (int i = 0; i < last_words; ++i) tell();
}

HostProgress::HostState HostProgress::state() const {
  const std::lock_guard lock(mutex_);
  HostState state;
  state.position = told_position_;
  state.is_halting = is_halting_;
  if (is_halting_) state.halted_at = halted_at_;
  if (is_first()) state.end_at = end_at_;
  if (!marks_.empty()) state.mark = marks_.back();
  state.failure = failure_;
  state.has_ended = has_ended_;
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

void HostProgress::run() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    changed_.wait_for(lock, tell_every, [this] { return is_stopping_; });
    lock.unlock();
    fail_if_a_client_did();
    fail_if_a_host_is_gone();
    tell();
    wake();
    lock.lock();
  }
}

}  // namespace rubato
