#include "runtime/world/places.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "runtime/random.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

namespace {

// Uniform in the square, again and again until it lies in the area: + - x only, the same on every machine.
Point drawn_in(const Area& area, Stream& chance) {
  while (true) {
    const double x = 2 * chance.uniform() - 1;
    const double y = 2 * chance.uniform() - 1;
    if (area.is_square || x * x + y * y <= 1) return {x * area.radius, y * area.radius};
  }
}

}  // namespace

std::vector<Point> draw_places(const Area& area, std::size_t clients, std::uint64_t seed, std::uint32_t attempt) {
  std::vector<Point> places;
  places.reserve(clients);
  for (std::uint32_t i = 0; i < clients; ++i) {
    Stream chance(seed, ClientId{i}, Purpose::place, attempt);
    places.push_back(drawn_in(area, chance));
  }
  return places;
}

std::vector<Point> read_places(const std::string& file, std::size_t clients) {
  std::ifstream lines(file);
  if (!lines) refuse("cannot read the places in ", file);
  std::vector<Point> places;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    std::replace(line.begin(), line.end(), ',', ' ');
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::istringstream numbers(line);
    Point place;
    std::string more;
    if (!(numbers >> place.x >> place.y) || numbers >> more || !std::isfinite(place.x) || !std::isfinite(place.y))
      refuse(file, ": line ", number, " must hold two numbers, x and y in metres");
    places.push_back(place);
  }
  if (places.size() == clients) return places;
  refuse(file, " has ", places.size(), " places, must have one per client: ", clients);
}

Places::Places(std::vector<Point> start, const Area& area, const Wandering& wandering, std::uint64_t seed)
    : start_{std::move(start)}, area_{area}, wandering_{wandering}, seed_{seed} {
  if (is_still()) return;
  for (const Point place : start_) legs_.push_back({.from = place, .to = place});
}

Places::Leg Places::leg_after(ClientId client, const Leg& last) const {
  Leg next{.number = last.number + 1, .from = last.to, .to = {}, .begins = last.ends};
  Stream chance(seed_, client, Purpose::way, next.number);
  next.to = drawn_in(area_, chance);
  const double speed = wandering_.slowest + chance.uniform() * (wandering_.fastest - wandering_.slowest);
  next.arrives = later(next.begins, std::max(from_seconds(distance(next.from, next.to) / speed), Duration{1}));
  next.ends = later(next.arrives, from_seconds(wandering_.pause));
  return next;
}

Point Places::of(ClientId client, Time at) const {
  if (is_still()) return start_[client.value];
  Leg& leg = legs_[client.value];
  while (at >= leg.ends) leg = leg_after(client, leg);
  if (at >= leg.arrives) return leg.to;
  const double share = to_seconds(at - leg.begins) / to_seconds(leg.arrives - leg.begins);
  return {leg.from.x + share * (leg.to.x - leg.from.x), leg.from.y + share * (leg.to.y - leg.from.y)};
}

}  // namespace rubato
