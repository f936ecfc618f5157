#include "actors/hosts/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "runtime/printable.hpp"
#include "transports/parcel_head.hpp"

namespace rubato {

namespace {

constexpr std::size_t longest_text = 4096;
constexpr std::uint32_t eager_asks = 8;  // until the first good estimate of a clock
constexpr Duration eager_pause = std::chrono::milliseconds(25);
constexpr std::size_t window = 16;  // exchanges among which the shortest counts: clocks drift, so not for ever
constexpr Duration say_every = std::chrono::seconds(1);
constexpr std::size_t longest_head = std::size_t{64} << 10;   // of all but items, which bound their heads themselves
constexpr std::size_t most_absences = 10'000;                 // that are remembered
constexpr Duration for_stragglers = std::chrono::seconds(2);  // of the hosts that begin a run, before a late one goes in

}  // namespace

void HostInfo::archive(Archive& archive) {
  archive(run, arithmetic, version, life, is_virtual, running_since, begun, came_to, incarnation, goes_on_from, checkpoint);
  archive.list(parts, [](Archive& each, FingerprintPart& part) {
    each(part);
    each.require(part.name.size() <= longest_fingerprint_part && part.value.size() <= longest_fingerprint_part);
  });
  archive.require(parts.size() <= most_fingerprint_parts);
  for (const std::string* text : {&run, &arithmetic, &version}) archive.require(text->size() <= longest_text);
  for (const auto& instant : {running_since, goes_on_from}) archive.require_moderate(instant.value_or(Duration{}));
  archive.require_moderate(came_to);
  archive.require(incarnation <= last_life);
}

// Sent until the other says that it knows us as we are now.
struct Membership::Hello {
  HostInfo self;
  std::uint32_t edition = 0;
  std::uint64_t heard_life = 0;  // of the receiver, as its sender knows it
  std::uint32_t heard_edition = 0;
  bool asks_for_answer = true;
  std::uint32_t lives = 0;  // that the receiver has had

  void archive(Archive& archive) {
    archive(self, edition, heard_life, heard_edition, asks_for_answer, lives);
    archive.require(lives <= last_life + 1);
  }
};

struct Membership::ClockAsk {
  std::uint64_t nonce = 0;
  void archive(Archive& archive) { archive(nonce); }
};

struct Membership::ClockAnswer {
  std::uint64_t nonce = 0;         // of the question
  Duration arrived{}, answered{};  // on the answerer's clock

  void archive(Archive& archive) {
    archive(nonce, arrived, answered);
    for (const Duration instant : {arrived, answered}) archive.require_moderate(instant);
  }
};

Membership::Membership(Transport& transport, Settings settings)
    : transport_{transport},
      settings_{std::move(settings)},
      conduct_{settings_.names.size()},
      mine_{settings_.self},
      peers_(settings_.names.size()),
      allowances_(peers_.size()),
      unaffordable_(peers_.size()) {
  if (transport.self().value >= settings_.names.size()) throw std::invalid_argument("this host is not in the roster");
  for (std::uint32_t host = 0; host < hosts(); ++host)
    if (HostId{host} != self()) others_.push_back({host});
}

Membership::~Membership() { stop({}); }

void Membership::handle(ParcelKind kind, Handler handler) { handlers_[static_cast<std::size_t>(kind)] = std::move(handler); }

void Membership::start() {
  has_started_ = true;
  transport_.start(*this);
  thread_ = std::thread([this] { run(); });
}

void Membership::stop(Duration linger) {
  {
    const std::lock_guard lock(mutex_);
    if (!has_started_) return;
    is_stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  transport_.stop(linger);
  has_started_ = false;
}

// ---- what arrives --------------------------------------------------------------------------------------------------

void Membership::on_parcel(HostId from, Parcel parcel, Duration arrived) try {
  hand_on(from, std::move(parcel), arrived);
} catch (const std::bad_alloc&) {
  conduct_.add(from, Misdeed::memory);
  const std::lock_guard lock(mutex_);
  if (from.value < unaffordable_.size()) ++unaffordable_[from.value];
}

void Membership::refuse(HostId from, Misdeed what) {
  ++ignored_;
  conduct_.add(from, what);
}

bool Membership::may_ask(HostId from, Duration arrived) {
  const std::lock_guard lock(mutex_);
  return allowances_[from.value].answers.take(arrived);
}

void Membership::hand_on(HostId from, Parcel parcel, Duration arrived) {
  const bool is_stranger = from.value >= peers_.size() || from == self();
  if (parcel.kind != ParcelKind::payload && parcel.head.size() > longest_head) return refuse(from, Misdeed::unreadable);
  if (!is_stranger && parcel.kind == ParcelKind::hello) return on_hello(from, parcel, arrived);
  {
    const std::lock_guard lock(mutex_);
    const bool is_one_of_us = !is_stranger && peers_[from.value].host_info && peers_[from.value].refusal.empty();
    if (!is_one_of_us) return void(++ignored_);
    note_life(from, arrived);
  }
  if (parcel.kind == ParcelKind::clock_ask) return on_ask(from, parcel, arrived);
  if (parcel.kind == ParcelKind::clock_answer) return on_answer(from, parcel, arrived);
  const Handler& handler = handlers_[static_cast<std::size_t>(parcel.kind)];
  if (handler) handler(from, std::move(parcel), arrived);
}

void Membership::note_life(HostId from, Duration arrived) {
  Peer& peer = peers_[from.value];
  const Duration away = arrived - peer.heard;
  peer.heard = std::max(peer.heard, arrived);
  if (!peer.is_lost) return;
  peer.is_lost = false;
  end_absence(from, arrived);
  if (peer.was_met) tell_back(from, std::max(peer.lives, 1u), away);
  news_.push_back({from, true, peer.host_info->life});
  changed_.notify_all();
}

std::string Membership::refusal_of(HostId host, const HostInfo& theirs) const {
  const auto differs = [&](const std::string& what, const std::string& there, const std::string& here) {
    return fmt::format("host \"{}\" has another {} ({}) than host \"{}\" ({})", name(host), what, printable(there), name(self()),
                       here);
  };
  if (theirs.version != mine_.version) return differs("version of rubato", theirs.version, mine_.version);
  if (theirs.run != mine_.run) {
    if (const std::string difference = first_difference(theirs); !difference.empty())
      return fmt::format("host \"{}\" has another experiment than host \"{}\": {}; start all hosts with the same files and options",
                         name(host), name(self()), difference);
    return differs("experiment", theirs.run.substr(0, 12), mine_.run.substr(0, 12)) +
           "; start all hosts with the same file and the same options";
  }
  if (mine_.is_virtual && theirs.arithmetic != mine_.arithmetic)
    return differs("arithmetic", theirs.arithmetic, mine_.arithmetic) +
           "; in virtual time all hosts compute with the same bits: use the same build, and isa if machines differ";
  return "";
}

// In the order of this host's; empty: it names none.
std::string Membership::first_difference(const HostInfo& theirs) const {
  constexpr const char* nothing = "nothing";
  const auto in = [](const std::vector<FingerprintPart>& parts, const std::string& name) {
    const auto found = std::ranges::find(parts, name, &FingerprintPart::name);
    return found == parts.end() ? std::string{nothing} : found->value;
  };
  if (theirs.parts.empty() || mine_.parts.empty()) return "";
  for (const auto* parts : {&mine_.parts, &theirs.parts})
    for (const FingerprintPart& part : *parts)
      if (const std::string there = in(theirs.parts, part.name), here = in(mine_.parts, part.name); there != here)
        return fmt::format("{} is {} there and {} here", printable(part.name), printable(there), here);
  return "";
}

void Membership::on_hello(HostId from, const Parcel& parcel, Duration arrived) {
  const std::optional<Hello> hello = read_item<Hello>(parcel.head);
  bool is_stale = false;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[from.value];
    is_stale = hello && peer.host_info && hello->self.life < peer.host_info->life;
    ignored_ += is_stale;
    if (!hello) return refuse(from, Misdeed::unreadable);
  }
  if (is_stale && may_ask(from, arrived)) send_hello(from);  // so that it learns of the later start
  if (is_stale) return;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[from.value];
    const bool is_another_life = peer.host_info && hello->self.life != peer.host_info->life;
    if (is_another_life && !allowances_[from.value].lives.take(arrived)) return refuse(from, Misdeed::haste);
    const bool was_met = peer.was_met, was_in = peer.is_told && peer.refusal.empty();
    const bool was_lost = peer.is_lost || !peer.left.empty();
    const Duration took_part = was_in ? peer.heard : peer.took_part, away = arrived - took_part;
    if (is_another_life) {
      if (was_in) begin_absence(from, took_part);
      const std::uint32_t lives = peer.lives;
      peer = {};
      peer.lives = lives;
      peer.was_met = was_met;
      peer.took_part = took_part;
      news_.push_back({from, true, hello->self.life});
    }
    peer.host_info = hello->self;
    peer.refusal = refusal_of(from, hello->self);
    peer.knows_us = hello->heard_life == mine_.life && hello->heard_edition == edition_;
    peer.heard_edition = hello->edition;
    if (hello->heard_life > mine_.life && !std::exchange(is_doubled_, true)) tell(EventLevel::warn, "doubled", from, {});
    peer.our_lives = hello->lives;
    if (hello->self.running_since) peer.lives = std::max(peer.lives, hello->self.incarnation + 1);
    note_life(from, arrived);
    if (is_another_life && was_in && !was_lost && !peer.refusal.empty())
      tell(EventLevel::warn, "lost", from, {{"silent_seconds", to_seconds(away)}});
    if (is_another_life && was_met && peer.refusal.empty()) {
      peer.is_told = peer.is_to_go_on = true;
      end_absence(from, arrived);
      tell_back(from, peer.lives + (hello->self.running_since ? 0 : 1), away);
    }
    tell_first(from);
    tell_origin(from);
    changed_.notify_all();
  }
  if (!hello->asks_for_answer) return;
  may_ask(from, arrived) ? send_hello(from) : refuse(from, Misdeed::haste);
}

void Membership::on_ask(HostId from, const Parcel& parcel, Duration arrived) {
  const std::optional<ClockAsk> ask = read_item<ClockAsk>(parcel.head);
  if (!ask) return refuse(from, Misdeed::unreadable);
  if (!may_ask(from, arrived)) return refuse(from, Misdeed::haste);
  transport_.send(from, parcel_of(ParcelKind::clock_answer, ClockAnswer{ask->nonce, arrived, settings_.now()}));
}

void Membership::on_answer(HostId from, const Parcel& parcel, Duration arrived) {
  const std::optional<ClockAnswer> answer = read_item<ClockAnswer>(parcel.head);
  if (!answer) return refuse(from, Misdeed::unreadable);
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_[from.value];
  const auto question = std::ranges::find(peer.questions, answer->nonce, &Question::nonce);
  if (question == peer.questions.end()) return refuse(from, Misdeed::time);
  const Duration asked = question->sent;
  peer.questions.erase(question);
  const Duration round_trip = (arrived - asked) - (answer->answered - answer->arrived);
  const Duration offset = ((answer->arrived - asked) + (answer->answered - arrived)) / 2;
  if (round_trip < Duration::zero() || arrived < asked || answer->answered < answer->arrived)
    return refuse(from, Misdeed::unreadable);  // no honest clocks say this
  peer.exchanges.push_back({round_trip, offset});
  if (peer.exchanges.size() > window) peer.exchanges.pop_front();
  tell_first(from);
  changed_.notify_all();
}

// ---- what the thread says ------------------------------------------------------------------------------------------

void Membership::send_hello(HostId to) {
  Hello hello;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[to.value];
    peer.next_hello = settings_.now() + settings_.hello_every;
    const std::uint64_t life = peer.host_info ? peer.host_info->life : 0;
    hello = {mine_, edition_, life, peer.heard_edition, !peer.knows_us, peer.lives};
  }
  transport_.send(to, parcel_of(ParcelKind::hello, std::move(hello)));
}

Membership::ClockAsk Membership::next_question(Peer& peer, Duration now) {
  const std::uint64_t nonce = std::uint64_t{chance_()} << 32 | chance_();
  peer.questions.push_back({nonce, now});
  if (peer.questions.size() > window) peer.questions.pop_front();
  return {nonce};
}

void Membership::speak(HostId host, Duration now) {
  bool says_hello = false, asks = false;
  ClockAsk question;
  {
    const std::lock_guard lock(mutex_);
    Peer& peer = peers_[host.value];
    says_hello = !peer.knows_us && now >= peer.next_hello;
    asks = peer.host_info && peer.refusal.empty() && now >= peer.next_ask;
    if (asks) question = next_question(peer, settings_.now());
    if (asks) peer.next_ask = now + (peer.asks++ < eager_asks ? eager_pause : pause_between_asks());
  }
  if (says_hello) send_hello(host);
  if (asks) transport_.send(host, parcel_of(ParcelKind::clock_ask, question));
}

// Asks and answers are also how hosts that have nothing to say hear of each other.
Duration Membership::pause_between_asks() const { return std::min(settings_.ask_every, settings_.lost_after / 4); }

// This process has not run for so long, stopped or starved, and could hear no other: that is no silence of theirs.
void Membership::forgive(Duration still) {
  const std::lock_guard lock(mutex_);
  const Duration now = settings_.now();
  for (Peer& peer : peers_) peer.heard = std::max(peer.heard, std::min(peer.heard + still, now));
  tell(EventLevel::warn, "stood_still", self(), {{"seconds", to_seconds(still)}});
}

void Membership::look_for_lost(Duration now) {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t host = 0; host < peers_.size(); ++host) {
    Peer& peer = peers_[host];
    if (!peer.host_info || !peer.refusal.empty() || peer.is_lost || now - peer.heard < settings_.lost_after) continue;
    peer.is_lost = true;
    has_lost_any_ |= peer.left != "complete";
    begin_absence(HostId{host}, peer.heard);
    if (peer.left.empty() && peer.was_met)
      tell(EventLevel::warn, "lost", HostId{host}, {{"silent_seconds", to_seconds(now - peer.heard)}});
    news_.push_back({HostId{host}, false, peer.host_info->life});
  }
}

void Membership::tell(EventLevel level, const char* event, HostId host,
                      std::vector<std::pair<std::string, RunEvent::Value>> fields) {
  if (settings_.on_event) events_.push_back({level, event, name(host), std::move(fields)});
}

void Membership::tell_back(HostId host, std::uint32_t life, Duration away) {
  tell(EventLevel::info, "back", host, {{"life", std::uint64_t{life}}, {"away_seconds", to_seconds(away)}});
}

void Membership::begin_absence(HostId host, Duration heard) {
  if (!peers_[host.value].was_met) return;
  const std::string& left = peers_[host.value].left;
  const auto is_on = [&](const Absence& absence) { return absence.host == host && !absence.to; };
  if (left == "complete" || absences_.size() == most_absences || std::ranges::any_of(absences_, is_on)) return;
  absences_.push_back({host, !left.empty(), heard, std::nullopt});
}

void Membership::end_absence(HostId host, Duration heard) {
  for (Absence& absence : absences_)
    if (absence.host == host && !absence.to) absence.to = heard;
}

// Once of each host: that it takes part, or why it cannot.
void Membership::tell_first(HostId host) {
  Peer& peer = peers_[host.value];
  const bool is_refused = !peer.refusal.empty();
  if (peer.is_told || !(is_refused || is_met(peer))) return;
  peer.is_told = true;
  if (is_refused) return tell(EventLevel::warn, "refused", host, {{"text", peer.refusal}});
  peer.was_met = true;
  tell(EventLevel::info, mine_.running_since ? "came_late" : "met", host, {});
}

// Of a host that is back, once it has said so.
void Membership::tell_origin(HostId host) {
  Peer& peer = peers_[host.value];
  if (!peer.is_to_go_on || !peer.host_info->goes_on_from) return;
  peer.is_to_go_on = false;
  const std::uint64_t checkpoint = peer.host_info->checkpoint;
  tell(checkpoint > 0 ? EventLevel::info : EventLevel::warn, "going_on", host,
       {{"checkpoint", checkpoint}, {"from_seconds", to_seconds(*peer.host_info->goes_on_from)}});
}

void Membership::note_leaving(HostId host, const char* how) {
  const std::lock_guard lock(mutex_);
  Peer& peer = peers_.at(host.value);
  if (!peer.left.empty()) return;
  peer.left = how;
  begin_absence(host, peer.heard);
  if (peer.was_met) tell(EventLevel::info, "left", host, {{"text", how}});
  changed_.notify_all();
}

void Membership::say(RunEvent event) {
  const std::lock_guard lock(mutex_);
  if (settings_.on_event) events_.push_back(std::move(event));
  changed_.notify_all();
}

void Membership::run() {
  constexpr Duration tick = std::chrono::milliseconds(5), rest = std::chrono::milliseconds(20);
  Duration next_look = at_once, awake = monotonic_now();
  while (true) {
    std::vector<News> news;
    std::vector<RunEvent> events;
    bool stops = false;
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, peers_.size() > 16 ? rest : tick,
                        [this] { return is_stopping_ || !news_.empty() || !events_.empty(); });
      stops = is_stopping_;
      if (!stops) news.swap(news_);
      events.swap(events_);
    }
    for (const Conduct::Word& word : conduct_.due(settings_.now(), stops))
      if (settings_.on_event)
        settings_.on_event(
            {EventLevel::warn, "ignored", name(word.host), {{"count", word.count}, {"text", sentence_about(word.what)}}});
    std::ranges::for_each(events, settings_.on_event);
    if (stops) return;
    const Duration before = std::exchange(awake, monotonic_now());
    if (awake - before > settings_.lost_after / 2) forgive(awake - before);
    const Duration now = settings_.now();
    for (const News& item : news) {
      if (item.is_back && settings_.on_back) settings_.on_back(item.host, item.life);
      if (!item.is_back && settings_.on_lost) settings_.on_lost(item.host);
    }
    for (const HostId host : others_) speak(host, now);
    if (now < next_look) continue;
    look_for_lost(now);
    next_look = now + rest;
  }
}

// ---- what others ask -----------------------------------------------------------------------------------------------

// Both know each other, and its clock is known.
bool Membership::is_met(const Peer& peer) {
  return peer.host_info && peer.refusal.empty() && peer.knows_us && !peer.exchanges.empty();
}

std::vector<HostId> Membership::hosts_that(bool are_there) const {
  std::vector<HostId> hosts;
  for (std::uint32_t host = 0; host < peers_.size(); ++host)
    if ((HostId{host} == self() || is_met(peers_[host])) == are_there) hosts.push_back({host});
  return hosts;
}

// In real time one mistaken host ends no others: of two groups that run different things the larger goes on. Before all
// have been heard only if the other cannot become the smaller one.
void Membership::require_majority(std::unique_lock<std::mutex>& lock, bool is_over) {
  const auto is_refused = [](const Peer& peer) { return !peer.refusal.empty(); };
  const auto refused = static_cast<std::size_t>(std::ranges::count_if(peers_, is_refused));
  const std::size_t most_of_us = is_over || mine_.is_virtual ? hosts_that(true).size() : peers_.size() - refused;
  if (refused == 0 || (!mine_.is_virtual && refused < most_of_us)) return;
  const auto first = std::ranges::find_if(peers_, is_refused);
  const HostId host{static_cast<std::uint32_t>(first - peers_.begin())};
  const std::string refusal = first->refusal;
  lock.unlock();
  send_hello(host);  // so that it learns why, too
  throw std::invalid_argument(refusal);
}

std::vector<HostId> Membership::meet(Duration limit, const std::atomic<bool>* stop) {
  Duration until = settings_.now() + limit;
  bool is_under_way = false;
  Duration next_word = settings_.now() + say_every;
  std::unique_lock lock(mutex_);
  while (true) {
    require_majority(lock, false);
    const std::vector<HostId> absent = hosts_that(false);
    const Duration now = settings_.now();
    const auto is_running = [](const Peer& peer) { return is_met(peer) && peer.host_info->running_since; };
    if (!is_under_way && std::ranges::any_of(peers_, is_running)) {
      is_under_way = true;
      until = std::min(until, now + for_stragglers);
    }
    if (absent.empty() || now >= until || (stop && stop->load())) {
      require_majority(lock, true);
      break;
    }
    if (now >= next_word) {
      std::vector<std::string> names;
      for (const HostId host : absent) names.push_back(name(host));
      tell(EventLevel::info, "waiting", self(), {{"for", names}});
      changed_.notify_all();
      next_word = now + say_every;
    }
    changed_.wait_for(lock, std::min<Duration>(std::chrono::milliseconds(50), until - now));
  }
  return hosts_that(true);
}

std::uint64_t Membership::unaffordable(HostId host) const {
  const std::lock_guard lock(mutex_);
  return unaffordable_[host.value];
}

std::uint32_t Membership::known_lives() const {
  const std::lock_guard lock(mutex_);
  std::uint32_t lives = 0;
  for (const Peer& peer : peers_) lives = std::max(lives, peer.our_lives);
  return lives;
}

void Membership::set_past(std::uint64_t begun, Duration came_to) {
  const std::lock_guard lock(mutex_);
  mine_.begun = begun;
  mine_.came_to = came_to;
}

void Membership::set_running(Duration since, std::uint64_t begun, std::uint32_t incarnation) {
  const std::lock_guard lock(mutex_);
  mine_.running_since = since;
  mine_.begun = begun;
  mine_.incarnation = incarnation;
  for (std::uint32_t host = 0; host < peers_.size(); ++host)
    if (peers_[host].our_lives > incarnation) conduct_.add({host}, Misdeed::lives);
  introduce_again();
}

void Membership::set_origin(std::uint64_t checkpoint, Duration at) {
  const std::lock_guard lock(mutex_);
  mine_.checkpoint = checkpoint;
  mine_.goes_on_from = at;
  introduce_again();
}

void Membership::introduce_again() {
  ++edition_;
  for (Peer& peer : peers_) peer.knows_us = false, peer.next_hello = at_once;
}

bool Membership::is_alive(HostId host) const {
  if (host == self()) return true;
  const std::lock_guard lock(mutex_);
  return is_alive(peers_.at(host.value));
}

bool Membership::is_alive(const Peer& peer) const {
  return peer.host_info && peer.refusal.empty() && settings_.now() - peer.heard < settings_.lost_after;
}

std::vector<Absence> Membership::absences() const {
  const std::lock_guard lock(mutex_);
  return absences_;
}

bool Membership::has_lost_any() const {
  const std::lock_guard lock(mutex_);
  return has_lost_any_ || mine_.incarnation > 0 || std::ranges::any_of(peers_, [](const Peer& peer) { return peer.lives > 1; });
}

HostId Membership::first_alive() const {
  const std::lock_guard lock(mutex_);
  for (std::uint32_t host = 0; host < self().value; ++host)
    if (is_alive(peers_[host])) return {host};
  return self();
}

std::string Membership::refusal(HostId host) const {
  const std::lock_guard lock(mutex_);
  return peers_.at(host.value).refusal;
}

PeerStatus Membership::status(HostId host) const {
  PeerStatus status{.name = name(host), .state = "never met"};
  const std::optional<ClockOffset> clock = offset(host);
  const std::lock_guard lock(mutex_);
  const Peer& peer = peers_.at(host.value);
  if (!peer.host_info || (!peer.was_met && peer.refusal.empty())) return status;
  status.state = !peer.refusal.empty() ? "refused" : !peer.left.empty() ? peer.left : is_alive(peer) ? "present" : "lost";
  status.refusal = peer.refusal;
  status.silent = std::max(to_seconds(settings_.now() - peer.heard), 0.0);
  status.life = peer.lives;
  if (!clock) return status;
  status.clock_offset = to_seconds(clock->nanoseconds), status.clock_error = to_seconds(clock->error);
  return status;
}

std::optional<HostInfo> Membership::host_info(HostId host) const {
  const std::lock_guard lock(mutex_);
  return host == self() ? mine_ : peers_.at(host.value).host_info;
}

std::uint64_t Membership::life(HostId host) const {
  const std::lock_guard lock(mutex_);
  const auto& host_info = peers_[host.value].host_info;
  return host_info ? host_info->life : 0;
}

std::optional<ClockOffset> Membership::offset(HostId host) const {
  if (host == self()) return ClockOffset{};
  const std::lock_guard lock(mutex_);
  const std::deque<Exchange>& exchanges = peers_.at(host.value).exchanges;
  if (exchanges.empty()) return std::nullopt;
  const auto shortest = std::ranges::min_element(exchanges, {}, &Exchange::round_trip);
  return ClockOffset{shortest->offset, (shortest->round_trip + Duration{1}) / 2};
}

}  // namespace rubato
