// Scripts of churn: what they are spelt out to, what contradicts itself, and what random absences look like.
#include "runtime/world/churn.hpp"

#include <doctest/doctest.h>

#include <map>
#include <stdexcept>
#include <string>

#include "runtime/world/attendance.hpp"
#include "tests/support/world.hpp"

using namespace rubato;
using rubato::test::at_seconds;

namespace {

using What = ChurnLine::What;
using EventKind = ChurnEvent::Kind;

ChurnLine line(double at, What what, std::vector<std::uint32_t> clients = {}, Origin from = Origin::neighbour) {
  ChurnLine one{at_seconds(at), what, {}, {}, from, "line"};
  for (const std::uint32_t client : clients) one.clients.push_back({client});
  return one;
}

ChurnLine partition(double at, std::vector<std::vector<std::uint32_t>> groups) {
  ChurnLine one{at_seconds(at), What::partition, {}, {}, Origin::neighbour, "line"};
  for (const auto& group : groups) {
    one.groups.emplace_back();
    for (const std::uint32_t client : group) one.groups.back().push_back({client});
  }
  return one;
}

std::string fault_of(const std::vector<ChurnLine>& lines, const ChurnTimes& times = {}) {
  try {
    const ChurnPlan plan(4, lines, times);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

std::vector<EventKind> kinds_of(const ChurnPlan& plan) {
  std::vector<EventKind> kinds;
  for (const ChurnEvent& event : plan.events()) kinds.push_back(event.kind);
  return kinds;
}

}  // namespace

TEST_CASE("who is named by a join first is not there at the start, everybody else is") {
  const std::vector<ChurnLine> lines{line(3, What::join, {2}), line(1, What::leave, {0}), line(2, What::join, {0})};
  const ChurnPlan plan(4, lines, {});
  CHECK(plan.begins_here({0}));
  CHECK(plan.begins_here({1}));
  CHECK_FALSE(plan.begins_here({2}));
  CHECK(plan.needs_first_state({0}));
  CHECK_FALSE(plan.needs_first_state({2}));
  CHECK(kinds_of(plan) == std::vector{EventKind::leave, EventKind::come, EventKind::come});
}

TEST_CASE("a line that contradicts those before it is named with the client and what is wrong") {
  CHECK(fault_of({line(5, What::restart, {1})}) == "line (restart at 5 s): client 1 is there already");
  CHECK(fault_of({line(5, What::go_on, {1})}) == "line (go_on at 5 s): client 1 does not pause");
  CHECK(fault_of({line(5, What::heal)}) == "line (heal at 5 s): there is no partition to heal");
  CHECK(fault_of({line(1, What::crash, {3}), line(2.5, What::pause, {3})}) == "line (pause at 2.5 s): client 3 is not there");
  CHECK(fault_of({line(1, What::leave, {3}), line(1, What::join, {3})}) ==
        "line (join at 1 s): client 3 is the second event of that client at that instant");
  CHECK(fault_of({line(1, What::leave, {4})}) == "line (leave at 1 s): there is no client 4");
  CHECK(fault_of({line(1, What::leave)}) == "line (leave at 1 s): names no client");
  CHECK(fault_of({line(0, What::leave, {0})}) == "line (leave at 0 s): must be after the start of the experiment");
  CHECK(fault_of({partition(1, {{0, 1, 2, 3}})}) ==
        "line (partition at 1 s): puts all clients into one group, which separates none");
  CHECK(fault_of({partition(1, {{0}, {1, 0}})}) == "line (partition at 1 s): client 0 is in two groups");
  CHECK(fault_of({line(1, What::crash, {0}), line(2, What::restart, {0}, Origin::checkpoint)}) ==
        "line (restart at 2 s): client 0 has no checkpoint to come back with; set churn.checkpoint_every");
}

TEST_CASE("all contradictions are told at once") {
  CHECK(fault_of({line(5, What::go_on, {1}), line(6, What::join, {0, 1}), line(7, What::leave, {0})}) ==
        "line (go_on at 5 s): client 1 does not pause\nline (join at 6 s): client 1 is there already");
}

TEST_CASE("a crash is noticed later, unless the client is back before") {
  const std::vector<ChurnLine> slow{line(1, What::crash, {0}), line(9, What::restart, {0})};
  const std::vector<ChurnLine> fast{line(1, What::crash, {0}), line(2, What::restart, {0})};
  CHECK(kinds_of(ChurnPlan(4, slow, {from_seconds(3), {}})) == std::vector{EventKind::crash, EventKind::notice, EventKind::come});
  CHECK(ChurnPlan(4, slow, {from_seconds(3), {}}).events()[1].at == at_seconds(4));
  CHECK(kinds_of(ChurnPlan(4, fast, {from_seconds(3), {}})) == std::vector{EventKind::crash, EventKind::come});
  CHECK(kinds_of(ChurnPlan(4, std::vector{line(1, What::crash, {0})}, {})) == std::vector{EventKind::crash, EventKind::notice});
}

TEST_CASE("of the checkpoints only those are saved with which a client comes back") {
  const ChurnTimes times{{}, from_seconds(2)};
  const std::vector<ChurnLine> lines{line(5, What::crash, {0}),  line(6, What::restart, {0}, Origin::checkpoint),
                                     line(7, What::crash, {0}),  line(9, What::restart, {0}, Origin::checkpoint),
                                     line(15, What::crash, {0}), line(16, What::restart, {0}, Origin::start),
                                     line(17, What::crash, {0}), line(18, What::restart, {0}, Origin::checkpoint)};
  const ChurnPlan plan(4, lines, times);
  std::vector<std::pair<double, std::uint64_t>> saved, loaded;
  for (const ChurnEvent& event : plan.events()) {
    if (event.kind == EventKind::save) saved.push_back({to_seconds(event.at), event.number});
    if (event.kind == EventKind::come) loaded.push_back({to_seconds(event.at), event.number});
  }
  constexpr std::uint64_t first = first_churn_state;
  CHECK(saved == std::vector<std::pair<double, std::uint64_t>>{{4, first + 2}, {14, first + 7}});
  CHECK(loaded == std::vector<std::pair<double, std::uint64_t>>{{6, first + 2}, {9, first + 2}, {16, 0}, {18, first + 7}});
  CHECK(plan.needs_first_state({0}));
  CHECK(plan.events().back().life == 4);
}

TEST_CASE("epochs of a plan ascend and leave room between them") {
  const std::vector<ChurnLine> lines{line(1, What::leave, {0}), line(2, What::pause, {1}), line(3, What::crash, {2})};
  const ChurnPlan plan(4, lines, {});
  std::vector<std::uint32_t> epochs;
  for (const ChurnEvent& event : plan.events()) epochs.push_back(event.epoch);
  CHECK(epochs == std::vector<std::uint32_t>{256, 0, 0, 512});
}

TEST_CASE("random absences follow their laws, client by client, and end in time") {
  AbsenceLaw law;
  for (std::uint32_t i = 0; i < 50; ++i) law.clients.push_back({i});
  law.away = What::crash;
  law.up = {.kind = Law::Kind::exponential, .first = 30};
  law.down = {.kind = Law::Kind::exponential, .first = 10};
  law.until = at_seconds(2000);
  law.name = "law";
  const std::vector<ChurnLine> lines = draw_absences(law, 5, 0);
  CHECK_NOTHROW(ChurnPlan(50, lines, {}));
  std::map<ClientId, Time> gone;
  double away = 0;
  for (const ChurnLine& one : lines) {
    if (one.what == What::crash)
      gone[one.clients.front()] = one.at;
    else
      away += to_seconds(one.at - gone[one.clients.front()]);
    CHECK(one.at <= law.until);
  }
  CHECK(away / (50 * 2000) > 0.22);  // 10 / 40, and 50 * 2000 / 40 pairs of draws
  CHECK(away / (50 * 2000) < 0.28);

  law.clients = {{7}};
  const std::vector<ChurnLine> alone = draw_absences(law, 5, 0);
  std::vector<Time> of_seven, alone_at;
  for (const ChurnLine& one : lines)
    if (one.clients.front() == ClientId{7}) of_seven.push_back(one.at);
  for (const ChurnLine& one : alone) alone_at.push_back(one.at);
  CHECK(of_seven == alone_at);
  CHECK(draw_absences(law, 6, 0).front().at != alone.front().at);
  CHECK(draw_absences(law, 5, 1).front().at != alone.front().at);
}

TEST_CASE("a trace of absences is followed, and ends in time") {
  AbsenceLaw law;
  law.clients = {{1}};
  law.trace = {{}, {at_seconds(1), at_seconds(2), at_seconds(3), at_seconds(20)}};
  law.until = at_seconds(10);
  std::vector<std::pair<double, What>> seen;
  for (const ChurnLine& one : draw_absences(law, 1, 0)) seen.push_back({to_seconds(one.at), one.what});
  CHECK(seen == std::vector<std::pair<double, What>>{{1, What::pause}, {2, What::go_on}, {3, What::pause}, {10, What::go_on}});
}

TEST_CASE("attendance follows the plan") {
  const std::vector<ChurnLine> lines{line(1, What::leave, {0}), partition(2, {{1, 2}}),    line(3, What::pause, {1}),
                                     line(4, What::join, {0}),  line(5, What::crash, {2}), line(6, What::heal)};
  const ChurnPlan plan(4, lines, {});
  Attendance attendance(plan);
  while (attendance.next() <= at_seconds(4)) attendance.take();
  CHECK(attendance.here() == 4);
  CHECK(attendance.life({0}) == 1);
  CHECK(attendance.since({0}) == at_seconds(4));
  CHECK(attendance.is_paused({1}));
  CHECK(attendance.are_apart({0}, {1}));
  CHECK_FALSE(attendance.are_apart({1}, {2}));
  ChurnEvent about_first;
  about_first.client = {0};
  about_first.epoch = 512;
  CHECK(attendance.epoch_after(about_first) == Epoch{512, 2});  // client 1 begins it
  while (attendance.next() != never) attendance.take();
  CHECK(attendance.here() == 3);
  CHECK(attendance.absent() == std::vector<ClientId>{{2}});
  CHECK_FALSE(attendance.are_apart({0}, {1}));
  CHECK(attendance.counts().joins == 1);
  CHECK(attendance.counts().crashes == 1);
  CHECK(attendance.counts().partitions == 1);
}

TEST_CASE("mass is whole as long as no client has left the newest epoch and none is still in an older one") {
  const std::vector<ChurnLine> lines{line(1, What::leave, {0})};
  const ChurnPlan plan(2, lines, {});
  Attendance attendance(plan);
  CHECK(attendance.mass_is_whole());
  attendance.take();
  CHECK_FALSE(attendance.mass_is_whole());
  attendance.enter({1}, {256, 2});
  CHECK(attendance.mass_is_whole());
}
