// Points in the plane: clients that have a place, and which of them are near each other.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/ids.hpp"

namespace rubato {

struct Point {
  double x = 0, y = 0;
};

double distance(Point a, Point b);

/// The smallest upright square around some points, at least one.
struct Bounds {
  Point lowest;
  double extent;
};
Bounds bounds_of(std::span<const Point> points);

/// Clients sorted into square cells, so that asking for near ones does not look at all. Borrows the points, which must
/// be finite and at least one.
class NearbyPoints {
 public:
  /// Cells are at least `least_width` wide (> 0) and never many more than points.
  NearbyPoints(std::span<const Point> points, double least_width);

  /// Calls see(client) for all clients that may be within the radius of a point, itself included, and for some that are
  /// not; in an order of its own.
  template <class See>
  void see_around(Point point, double radius, See see) const {
    const std::size_t reach = reach_of(radius);
    const Span columns = around(point.x - lowest_.x, reach), rows = around(point.y - lowest_.y, reach);
    for (std::size_t y = rows.first; y <= rows.last; ++y)
      for (std::size_t k = first_[y * side_ + columns.first]; k < first_[y * side_ + columns.last + 1]; ++k) see(members_[k]);
  }
  /// Ascending, without the client itself.
  std::vector<ClientId> within(double radius, ClientId client) const;
  /// The nearest k, nearest first, ties by lower number; all others if k is larger.
  std::vector<ClientId> nearest(std::size_t k, ClientId client) const;

 private:
  struct Span {
    std::size_t first, last;
  };

  std::size_t column_of(double coordinate, double lowest) const;
  /// How many cells away the radius leads.
  std::size_t reach_of(double radius) const;
  /// The columns, or rows, at most `reach` cells from a coordinate that is counted from the lowest and may lie outside.
  Span around(double coordinate, std::size_t reach) const;
  /// All other clients at most `reach` cells away.
  std::vector<ClientId> around(ClientId client, std::size_t reach) const;

  std::span<const Point> points_;
  Point lowest_;
  double width_ = 1;
  std::size_t side_ = 1;
  std::vector<std::size_t> first_;  // a row a cell, and the end
  std::vector<ClientId> members_;   // ascending within a cell
};

}  // namespace rubato
