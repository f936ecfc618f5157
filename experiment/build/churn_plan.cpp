#include "experiment/build/world.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "experiment/build/timers.hpp"

namespace rubato {

namespace {

std::vector<ClientId> to_clients(const std::vector<std::int64_t>& numbers) {
  std::vector<ClientId> clients;
  for (const std::int64_t number : numbers) clients.push_back({static_cast<std::uint32_t>(number)});
  return clients;
}

ChurnLine to_line(const config::ChurnEvent& event, std::size_t place) {
  ChurnLine line;
  line.at = Time{from_seconds(event.at)};
  line.what = event.what;
  line.clients = to_clients(event.clients);
  for (const auto& group : event.groups) line.groups.push_back(to_clients(group));
  line.from = event.from;
  line.name = fmt::format("churn.events[{}]", place);
  return line;
}

// Whom the script, or an absence before this one, has named.
class Named {
 public:
  explicit Named(const config::Churn& churn) {
    for (const config::ChurnEvent& event : churn.events) script_.insert(event.clients.begin(), event.clients.end());
    for (const config::Absence& absence : churn.random) absences_.insert(absence.clients.begin(), absence.clients.end());
  }
  std::vector<ClientId> others(std::int64_t clients) const {
    std::vector<ClientId> others;
    for (std::int64_t i = 0; i < clients; ++i)
      if (!script_.contains(i) && !absences_.contains(i)) others.push_back({static_cast<std::uint32_t>(i)});
    return others;
  }
  bool are_scripted(std::int64_t client) const { return script_.contains(client); }

 private:
  std::set<std::int64_t> script_, absences_;
};

AbsenceLaw to_law(const config::Absence& absence, const Named& named, std::int64_t clients, double end, std::string name) {
  AbsenceLaw law;
  law.name = std::move(name);
  for (const std::int64_t client : absence.clients) {
    if (client >= clients) throw std::invalid_argument(fmt::format("{}.clients: there is no client {}", law.name, client));
    if (named.are_scripted(client))
      throw std::invalid_argument(fmt::format(
          "{}.clients: client {} is named in churn.events, too; what happens to it must be said in one place", law.name, client));
  }
  law.clients = absence.clients.empty() ? named.others(clients) : to_clients(absence.clients);
  law.away = absence.away;
  law.from = absence.from;
  law.until = Time{from_seconds(absence.until.value_or(end))};
  if (absence.kind == config::AbsenceKind::trace) {
    law.trace = read_trace(absence.file.string(), static_cast<std::size_t>(clients));
    return law;
  }
  law.up = law_of(absence.up);
  law.down = law_of(absence.down);
  return law;
}

}  // namespace

ChurnPlan make_churn_plan(const config::Experiment& experiment) {
  const config::Churn& churn = experiment.churn;
  if (churn.is_empty()) return {};
  std::vector<ChurnLine> lines;
  for (std::size_t i = 0; i < churn.events.size(); ++i) lines.push_back(to_line(churn.events[i], i));
  const Named named(churn);
  const double after_the_end = experiment.until + 1;  // a client that is not called back stays away
  for (std::uint32_t i = 0; i < churn.random.size(); ++i) {
    const std::string name = fmt::format("churn.random[{}]", i);
    const AbsenceLaw law = to_law(churn.random[i], named, experiment.clients.count, after_the_end, name);
    for (ChurnLine& line : draw_absences(law, static_cast<std::uint64_t>(experiment.seed), i)) lines.push_back(std::move(line));
  }
  return ChurnPlan(static_cast<std::size_t>(experiment.clients.count), lines,
                   {from_seconds(churn.notice), from_seconds(churn.checkpoint_every)});
}

}  // namespace rubato
