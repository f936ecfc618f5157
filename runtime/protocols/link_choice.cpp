#include "runtime/protocols/link_choice.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>

#include "runtime/random.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

namespace {

constexpr std::uint32_t picking = 1, star = 3, meeting = 4;  // details of Purpose::neighbours, meeting the first of many

std::atomic<std::uint64_t> choices{0};

bool takes_some(const Fanout& fanout) {
  return fanout.share < 1 || !fanout.shares.empty() || fanout.chosen_by_receiver || fanout.stars != Stars::none;
}

}  // namespace

std::size_t share_of(double share, std::size_t all) {
  const auto wanted = static_cast<std::size_t>(std::ceil(share * static_cast<double>(all) - 1e-9));
  return std::min(all, std::max<std::size_t>(wanted, 1));
}

struct LinkChoice::Memory {
  struct Picked {
    std::uint64_t turn = ~std::uint64_t{0};
    std::vector<ClientId> neighbours;  // ascending
  };
  std::uint64_t number = ~std::uint64_t{0};
  std::vector<Picked> picked;
  std::vector<std::uint32_t> places;
};

LinkChoice::Memory& LinkChoice::memory(const Graph& graph) const {
  thread_local Memory memory;
  if (memory.number == number_) return memory;
  memory.number = number_;
  memory.picked.assign(picks_ ? graph.clients() : 0, {});
  return memory;
}

LinkChoice::LinkChoice(const Graph&, std::uint64_t seed, const Fanout& fanout, std::vector<std::uint32_t> every,
                       std::vector<double> chances)
    : seed_{seed},
      fanout_{fanout},
      chances_{std::move(chances)},
      every_{std::move(every)},
      picks_{takes_some(fanout)},
      number_{++choices} {}

bool LinkChoice::is_star(const Graph& graph, ClientId client, std::uint64_t turn) const {
  if (fanout_.stars != Stars::one) return true;
  const double u = uniform01(draw(seed_, ClientId{0}, Purpose::neighbours, turn, star).first);
  return client.value == static_cast<std::uint32_t>(u * static_cast<double>(graph.clients()));
}

// The neighbours that a client picks at a turn: the first few of a shuffle.
const std::vector<ClientId>& LinkChoice::picked_by(const Graph& graph, ClientId client, std::uint64_t turn, Memory& memory) const {
  Memory::Picked& picked = memory.picked[client.value];
  if (picked.turn == turn) return picked.neighbours;
  picked.turn = turn;
  const auto all = fanout_.chosen_by_receiver ? graph.senders_to(client) : graph.receivers_of(client);
  picked.neighbours.assign(all.begin(), all.end());
  if ((!every_.empty() && (turn + fanout_.late) % every_[client.value] != 0) || !is_star(graph, client, turn)) {
    picked.neighbours.clear();
    return picked.neighbours;
  }
  const std::size_t count = share_of(fanout_.share_for(client.value), all.size());
  if (count < all.size()) {
    Stream stream(seed_, client, Purpose::neighbours, picking);
    stream.seek(turn * 2 * count);
    for (std::size_t i = 0; i < count; ++i) {
      const double u = stream.uniform();
      std::swap(picked.neighbours[i], picked.neighbours[i + static_cast<std::size_t>(u * static_cast<double>(all.size() - i))]);
    }
    picked.neighbours.resize(count);
    std::sort(picked.neighbours.begin(), picked.neighbours.end());
  }
  return picked.neighbours;
}

bool LinkChoice::is_up(ClientId sender, ClientId receiver, LinkIndex link, std::uint64_t turn) const {
  if (chances_.empty() || chances_[link] >= 1) return true;
  return uniform01(draw(seed_, sender, Purpose::indicator, turn, receiver.value + 2).first) < chances_[link];
}

bool LinkChoice::meet(ClientId a, ClientId b, std::uint64_t turn) const {
  const auto [low, high] = std::minmax(a, b);
  const double chance = (fanout_.share_for(a.value) + fanout_.share_for(b.value)) / 2;
  return uniform01(draw(seed_, low, Purpose::neighbours, turn, meeting + high.value).first) < chance;
}

const std::vector<std::uint32_t>& LinkChoice::choose(const Graph& graph, ClientId sender, std::uint64_t turn) const {
  Memory& mine = memory(graph);
  std::vector<std::uint32_t>& places = mine.places;
  places.clear();
  const auto receivers = graph.receivers_of(sender);
  const LinkIndex first = graph.first_link(sender);
  if (!table_.empty()) {
    const auto& turns = table_[sender.value];
    if (turn >= turns.size()) return places;
    for (const ClientId receiver : turns[turn]) {
      const std::optional<LinkIndex> link = graph.find_link(sender, receiver);
      if (!link)
        refuse("the table of links lets client ", sender.value, " send to ", receiver.value, ", and the graph has no such link");
      places.push_back(*link - first);
    }
    return places;
  }
  const auto holds = [](const std::vector<ClientId>& some, ClientId client) {
    return std::binary_search(some.begin(), some.end(), client);
  };
  const bool tells = fanout_.stars != Stars::none && turn % 2 == 1;
  const bool receiver_picks = fanout_.chosen_by_receiver && !tells;
  const std::uint64_t picked_at = tells ? turn - 1 : turn;
  for (std::uint32_t place = 0; place < receivers.size(); ++place) {
    const ClientId receiver = receivers[place];
    if (picks_ && fanout_.in_pairs) {
      if (!meet(sender, receiver, turn)) continue;
    } else if (picks_) {
      const bool is_picked = receiver_picks ? holds(picked_by(graph, receiver, picked_at, mine), sender)
                                            : holds(picked_by(graph, sender, picked_at, mine), receiver);
      if (!is_picked) continue;
    }
    if (is_up(sender, receiver, first + place, turn)) places.push_back(place);
  }
  return places;
}

}  // namespace rubato
