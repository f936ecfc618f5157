#include "runtime/world/churn.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "runtime/sentence.hpp"
#include "runtime/words.hpp"

namespace rubato {

namespace {

using What = ChurnLine::What;
using Kind = ChurnEvent::Kind;

What way_back(What away) {
  if (away == What::leave) return What::join;
  return away == What::crash ? What::restart : What::go_on;
}

std::string in_words(Time at) {
  std::string text = std::to_string(to_seconds(at));
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " s";
}

// The life of one client as far as the lines before have told it.
class Biography {
 public:
  Biography(ClientId self, const ChurnTimes& times) : self_{self}, times_{times} {}

  bool begins_here() const { return begins_here_; }
  bool needs_first_state() const { return needs_first_state_; }

  // Empty, or why the line contradicts what was before.
  std::string add(const ChurnLine& line, std::vector<ChurnEvent>& events) {
    const bool is_first = !has_lines_;
    if (has_lines_ && line.at == last_) return "is the second event of that client at that instant";
    has_lines_ = true;
    last_ = line.at;
    if (is_first && line.what == What::join) begins_here_ = is_here_ = has_been_here_ = false, lives_ = 0;
    switch (line.what) {
      case What::join:
      case What::restart:
        return come(line, events);
      case What::leave:
      case What::crash:
        return go(line, events);
      default:
        return rest(line, events);
    }
  }

  // After the last line.
  void end(std::vector<ChurnEvent>& events) {
    if (noticed_ != never) events.push_back({noticed_, Kind::notice, self_});
  }

 private:
  std::string come(const ChurnLine& line, std::vector<ChurnEvent>& events) {
    if (is_here_) return "is there already";
    if (line.what == What::restart && !has_been_here_) return "has not been there before; use \"join\"";
    if (line.from == Origin::checkpoint && times_.checkpoint_every <= Duration{})
      return "has no checkpoint to come back with; set churn.checkpoint_every";
    if (noticed_ < line.at) events.push_back({noticed_, Kind::notice, self_});
    noticed_ = never;
    ChurnEvent event{line.at, Kind::come, self_, line.from};
    if (line.from == Origin::checkpoint) {
      if (due_.number > saved_) events.push_back(due_);
      event.number = saved_ = std::max(saved_, due_.number);
    }
    needs_first_state_ |= has_been_here_ && event.number == 0;
    event.life = lives_++;
    events.push_back(event);
    is_here_ = has_been_here_ = true;
    since_ = line.at;
    return {};
  }

  std::string go(const ChurnLine& line, std::vector<ChurnEvent>& events) {
    if (!is_here_) return "is not there";
    const bool is_crash = line.what == What::crash;
    if (times_.checkpoint_every > Duration{}) {
      const auto number = (line.at - Time{}) / times_.checkpoint_every;
      const Time saved = Time{} + number * times_.checkpoint_every;
      if (saved > since_) due_ = {saved, Kind::save, self_, Origin::start, first_churn_state + static_cast<std::uint64_t>(number)};
    }
    events.push_back({line.at, is_crash ? Kind::crash : Kind::leave, self_});
    if (is_crash) noticed_ = later(line.at, times_.notice);
    is_here_ = is_paused_ = false;
    return {};
  }

  std::string rest(const ChurnLine& line, std::vector<ChurnEvent>& events) {
    if (!is_here_) return "is not there";
    const bool pauses = line.what == What::pause;
    if (pauses == is_paused_) return pauses ? "pauses already" : "does not pause";
    is_paused_ = pauses;
    events.push_back({line.at, pauses ? Kind::pause : Kind::go_on, self_});
    return {};
  }

  ClientId self_;
  const ChurnTimes& times_;
  bool begins_here_ = true, needs_first_state_ = false;
  bool has_lines_ = false, is_here_ = true, has_been_here_ = true, is_paused_ = false;
  std::uint32_t lives_ = 1;
  Time last_{}, since_{}, noticed_ = never;
  ChurnEvent due_{};         // the last state that was due to be saved; number 0: none
  std::uint64_t saved_ = 0;  // the number of the last one that was needed
};

// All clients and the links between them, line by line.
class Census {
 public:
  Census(std::size_t clients, const ChurnTimes& times) : clients_{clients} {
    for (std::uint32_t i = 0; i < clients; ++i) all_.emplace_back(ClientId{i}, times);
  }

  void add(const ChurnLine& line) {
    if (line.at <= Time{}) return complain(line, "must be after the start of the experiment");
    if (line.what == What::partition || line.what == What::heal) return cut(line);
    if (line.clients.empty()) return complain(line, "names no client");
    for (const ClientId client : line.clients) {
      if (client.value >= clients_) {
        complain(line, "there is no client ", client.value);
        continue;
      }
      if (std::string fault = all_[client.value].add(line, events); !fault.empty())
        complain(line, "client ", client.value, " ", fault);
    }
  }

  std::vector<Biography>& all() { return all_; }
  std::vector<ChurnEvent> events;
  std::vector<std::vector<std::uint32_t>> groups;
  std::string faults;

 private:
  void cut(const ChurnLine& line) {
    if (line.at == last_cut_) return complain(line, "is the second event of the links at that instant");
    last_cut_ = line.at;
    line.what == What::heal ? heal(line) : partition(line);
  }

  void partition(const ChurnLine& line) {
    std::vector<std::uint32_t> group_of(clients_, 0);
    std::set<ClientId> named;
    for (std::uint32_t k = 0; k < line.groups.size(); ++k)
      for (const ClientId client : line.groups[k]) {
        if (client.value >= clients_) return complain(line, "there is no client ", client.value);
        if (!named.insert(client).second) return complain(line, "client ", client.value, " is in two groups");
        group_of[client.value] = k + 1;
      }
    const bool separates = std::adjacent_find(group_of.begin(), group_of.end(), std::not_equal_to<>()) != group_of.end();
    if (!separates) return complain(line, "puts all clients into one group, which separates none");
    events.push_back({line.at, Kind::partition, {}, Origin::start, groups.size()});
    groups.push_back(std::move(group_of));
    is_partitioned_ = true;
  }

  void heal(const ChurnLine& line) {
    if (!is_partitioned_) return complain(line, "there is no partition to heal");
    is_partitioned_ = false;
    events.push_back({line.at, Kind::heal});
  }

  template <class... Why>
  void complain(const ChurnLine& line, const Why&... why) {
    faults +=
        (faults.empty() ? "" : "\n") + sentence(line.name, " (", word_of(line.what), " at ", in_words(line.at), "): ", why...);
  }

  std::size_t clients_;
  std::vector<Biography> all_;
  bool is_partitioned_ = false;
  Time last_cut_{};
};

}  // namespace

std::vector<ChurnLine> draw_absences(const AbsenceLaw& law, std::uint64_t seed, std::uint32_t which) {
  std::vector<ChurnLine> lines;
  for (const ClientId client : law.clients) {
    const auto line = [&](Time at, What what) { lines.push_back({at, what, {client}, {}, law.from, law.name}); };
    if (!law.trace.empty()) {
      bool goes = true;
      for (const Time at : law.trace[client.value]) {
        if (at >= law.until) break;
        line(at, goes ? law.away : way_back(law.away));
        goes = !goes;
      }
      if (!goes) line(law.until, way_back(law.away));
      continue;
    }
    Stream stream(seed, client, Purpose::churn, which);
    const auto some = [&](const Law& one) { return std::max(from_seconds(sample(one, stream, client)), Duration{1}); };
    for (Time at = later(Time{}, some(law.up)); at < law.until;) {
      line(at, law.away);
      at = std::min(later(at, some(law.down)), law.until);
      line(at, way_back(law.away));
      at = later(at, some(law.up));
    }
  }
  return lines;
}

ChurnPlan::ChurnPlan(std::size_t clients, std::span<const ChurnLine> lines, const ChurnTimes& times) {
  std::vector<const ChurnLine*> in_order;
  for (const ChurnLine& line : lines) in_order.push_back(&line);
  std::stable_sort(in_order.begin(), in_order.end(), [](const ChurnLine* a, const ChurnLine* b) { return a->at < b->at; });
  Census census(clients, times);
  for (const ChurnLine* line : in_order) census.add(*line);
  if (!census.faults.empty()) refuse(census.faults);
  for (Biography& one : census.all()) {
    one.end(census.events);
    begins_here_.push_back(one.begins_here());
    needs_first_state_.push_back(one.needs_first_state());
  }
  groups_ = std::move(census.groups);
  events_ = std::move(census.events);
  std::sort(events_.begin(), events_.end(), [](const ChurnEvent& a, const ChurnEvent& b) {
    return std::tie(a.at, a.kind, a.client, a.number) < std::tie(b.at, b.kind, b.client, b.number);
  });
  constexpr std::size_t most = 0xFFFF'FFFF / epochs_apart;
  if (events_.size() > most) refuse("churn: there are more than ", most, " events");
  std::uint32_t epoch = 0;
  for (ChurnEvent& event : events_)
    if (event.kind == Kind::leave || event.kind == Kind::notice || event.kind == Kind::come) event.epoch = epoch += epochs_apart;
}

}  // namespace rubato
