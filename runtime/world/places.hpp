// Places: where clients are in the plane, and how they wander.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/ids.hpp"
#include "runtime/time.hpp"
#include "runtime/world/points.hpp"

namespace rubato {

/// A disk around the origin, or the square that just holds it. Metres.
struct Area {
  bool is_square = false;
  double radius = 500;
};

/// Random waypoint: straight to a point drawn in the area, with a speed drawn for the way, then a rest. Metres a
/// second, seconds; a highest speed of 0: no client moves.
struct Wandering {
  double slowest = 0;
  double fastest = 0;
  double pause = 0;
  bool is_on() const { return fastest > 0; }
};

/// A place for each client, uniform in the area; every attempt gives others.
std::vector<Point> draw_places(const Area& area, std::size_t clients, std::uint64_t seed, std::uint32_t attempt = 0);

/// One "x y" a line, one line a client; commas are blanks, what follows # is not read. Throws std::invalid_argument
/// with the line.
std::vector<Point> read_places(const std::string& file, std::size_t clients);

/// Wanderers are asked at instants that never decrease, by one thread at a time; clients that stay may be asked for by any.
class Places {
 public:
  /// `start` has a place for each client. Ways are drawn by (seed, client, number of the way).
  Places(std::vector<Point> start, const Area& area, const Wandering& wandering, std::uint64_t seed);

  std::size_t clients() const { return start_.size(); }
  bool is_still() const { return !wandering_.is_on(); }
  double fastest() const { return wandering_.fastest; }
  Point of(ClientId client, Time at) const;
  std::span<const Point> start() const { return start_; }

 private:
  // From one point to the next, then a rest until the next leg begins.
  struct Leg {
    std::uint32_t number = 0;
    Point from, to;
    Time begins{}, arrives{}, ends{};
  };
  Leg leg_after(ClientId client, const Leg& last) const;

  std::vector<Point> start_;
  Area area_;
  Wandering wandering_;
  std::uint64_t seed_;
  mutable std::vector<Leg> legs_;  // of each client, in force when it was asked for last
};

}  // namespace rubato
