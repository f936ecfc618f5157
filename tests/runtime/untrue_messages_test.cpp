// What others say need not be true: protocols take nothing from who has nothing to say, and keep a bounded part of the
// rest.
#include <doctest/doctest.h>

#include "runtime/protocols/gather_by_message.hpp"
#include "runtime/protocols/pull.hpp"
#include "runtime/protocols/push.hpp"
#include "runtime/protocols/server.hpp"
#include "runtime/world/topology.hpp"
#include "tests/support/protocol_world.hpp"

using namespace rubato;
using namespace rubato::test;
using namespace std::chrono_literals;

namespace {

// What protocols need, on a graph; they are asked one by one, without links or clocks.
struct Setting {
  explicit Setting(Graph of) : world{std::move(of)} { world.push.graph = &world.graph; }

  ProtocolWorld world;
  Effects effects;
};

Arrival message(std::uint32_t sender, Sequence sequence, std::uint32_t tag) {
  return {{.id = {{sender}, 0, sequence}, .tag = tag, .sent = Time{1s}}, 0, Time{1s}};
}

}  // namespace

TEST_CASE("who is no receiver of a client gets no answer to its question") {
  Setting setting(topologies::path(3));
  const PullSettings pull{.push = &setting.world.push, .asked = {}};
  Pull client(pull, {0});
  client.on_request(Time{1s}, {2}, 0, setting.effects);
  CHECK(setting.effects.drafts().empty());
  client.on_request(Time{1s}, {1}, 0, setting.effects);
  CHECK(setting.effects.drafts().size() == 1);
}

TEST_CASE("answers count of those who were asked, and once of each") {
  Setting setting(topologies::star(5, {0}));
  const PullSettings pull{.push = &setting.world.push, .asked = {{{{1}, {2}, {4}}}}};
  Pull client(pull, {0});
  client.on_transmit(Time{1s}, 0, setting.effects);
  CHECK(client.on_arrival(message(3, 0, 0), setting.effects) == Offer::late);
  CHECK(client.on_arrival(message(1, 0, 0), setting.effects) == Offer::kept);
  CHECK(client.on_arrival(message(1, 1, 0), setting.effects) == Offer::duplicate);
  CHECK(client.on_arrival(message(2, 0, 0), setting.effects) == Offer::kept);
}

TEST_CASE("only the centre hands out the model of all") {
  Setting setting(topologies::complete(3));
  const ServerSettings server{.push = &setting.world.push, .selected = {}};
  Server client(server, {1});
  CHECK(client.on_arrival(message(2, 0, 2 * 1000), setting.effects) == Offer::late);
  CHECK(client.on_arrival(message(0, 0, 0), setting.effects) == Offer::kept);
}

TEST_CASE("a centre does not wait for who is here again and has forgotten what it was asked for") {
  Setting setting(topologies::star(2, {0}));
  const ServerSettings server{.push = &setting.world.push, .selected = {{{1}}}};
  Server centre(server, {0});
  centre.on_transmit({}, 0, setting.effects);
  CHECK(setting.effects.closings().empty());
  centre.on_presence({1}, true, Time{1s}, setting.effects);
  CHECK(setting.effects.closings().size() == 1);
}

TEST_CASE("of models for later turns a leader keeps the newest of each client, and none for a turn that never comes") {
  Setting setting(topologies::complete(3));
  const GatherSettings gather{.push = &setting.world.push, .leaders = {}};
  GatherByMessage leader(gather, {0});
  leader.start(setting.effects);
  const auto hands_in = [&](std::uint32_t turn) { return leader.on_arrival(message(1, turn, 2 * turn), setting.effects); };
  CHECK(hands_in(300) == Offer::kept);
  CHECK(hands_in(0) == Offer::kept);
  CHECK(hands_in(600) == Offer::kept);  // in the place of the one for 300
  CHECK(hands_in(300) == Offer::late);
  CHECK(hands_in(0) == Offer::duplicate);
  CHECK(hands_in(2'147'483'646) == Offer::late);
  CHECK(leader.counts().kept - leader.counts().superseded == 2);
}

TEST_CASE("a whole state is handed out only where messages are in order, and to receivers alone") {
  for (const bool in_order : {false, true}) {
    Setting setting(topologies::path(3));
    setting.world.push.needs.in_order = in_order;
    Push client(setting.world.push, {0});
    client.on_request(Time{1s}, {2}, 0, setting.effects);
    CHECK(setting.effects.drafts().empty());
    client.on_request(Time{1s}, {1}, 0, setting.effects);
    CHECK(setting.effects.drafts().size() == (in_order ? 1 : 0));
  }
}

TEST_CASE("only a client that a message was sent to can say that it is there") {
  Setting setting(topologies::path(3));
  setting.world.push.needs.acknowledgements = true;
  setting.world.push.limits.deadline = 1s;
  Push client(setting.world.push, {0});
  const auto outcome = [&](Sequence message, ClientId by) {
    setting.effects.clear();
    client.on_compute(Time{1s}, 0, setting.effects);
    client.on_transmit(Time{1s}, 0, setting.effects);
    client.on_retained(message, 0);
    const bool is_believed = client.on_acknowledged(message, by);
    setting.effects.clear();
    client.on_deadline(Time{2s}, message, setting.effects);
    CHECK(is_believed == (setting.effects.drafts().front().step.kind == StepKind::discard));
    return is_believed;
  };
  CHECK_FALSE(outcome(0, {2}));
  CHECK(outcome(1, {1}));
}
