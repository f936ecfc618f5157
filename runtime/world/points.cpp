#include "runtime/world/points.hpp"

#include <algorithm>
#include <cmath>

namespace rubato {

// Cells are this much wider than asked for, so that rounding of a cell number cannot hide a neighbour.
constexpr double slack = 1.0001;

// Not std::hypot, whose last bit differs between libraries.
double distance(Point a, Point b) {
  const double dx = a.x - b.x, dy = a.y - b.y;
  return std::sqrt(dx * dx + dy * dy);
}

Bounds bounds_of(std::span<const Point> points) {
  Point low = points.front(), high = low;
  for (Point p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  return {low, std::max(high.x - low.x, high.y - low.y)};
}

NearbyPoints::NearbyPoints(std::span<const Point> points, double least_width) : points_{points} {
  const auto [lowest, extent] = bounds_of(points);
  lowest_ = lowest;
  const double most = std::ceil(std::sqrt(static_cast<double>(points.size())));
  side_ = static_cast<std::size_t>(std::clamp(std::floor(extent / (least_width * slack)), 1.0, most));
  width_ = extent > 0 ? extent / static_cast<double>(side_) : 1;

  const auto cell_of = [&](Point p) { return column_of(p.y, lowest_.y) * side_ + column_of(p.x, lowest_.x); };
  first_.assign(side_ * side_ + 1, 0);
  for (Point p : points) ++first_[cell_of(p) + 1];
  for (std::size_t cell = 0; cell < side_ * side_; ++cell) first_[cell + 1] += first_[cell];
  members_.resize(points.size());
  std::vector<std::size_t> next = first_;
  for (std::uint32_t i = 0; i < points.size(); ++i) members_[next[cell_of(points[i])]++] = {i};
}

std::size_t NearbyPoints::column_of(double coordinate, double lowest) const {
  return std::min(static_cast<std::size_t>((coordinate - lowest) / width_), side_ - 1);
}

std::size_t NearbyPoints::reach_of(double radius) const {
  return static_cast<std::size_t>(std::min(std::ceil(radius * slack / width_), static_cast<double>(side_)));
}

NearbyPoints::Span NearbyPoints::around(double coordinate, std::size_t reach) const {
  const double most = static_cast<double>(side_ - 1), cell = std::floor(coordinate / width_);
  const auto inside = [&](double column) { return static_cast<std::size_t>(std::clamp(column, 0.0, most)); };
  return {inside(cell - static_cast<double>(reach)), inside(cell + static_cast<double>(reach))};
}

std::vector<ClientId> NearbyPoints::around(ClientId client, std::size_t reach) const {
  const std::size_t column = column_of(points_[client.value].x, lowest_.x), row = column_of(points_[client.value].y, lowest_.y);
  const auto from = [&](std::size_t middle) { return middle - std::min(middle, reach); };
  const auto to = [&](std::size_t middle) { return std::min(middle + reach, side_ - 1); };
  std::vector<ClientId> found;
  for (std::size_t y = from(row); y <= to(row); ++y)
    for (std::size_t k = first_[y * side_ + from(column)]; k < first_[y * side_ + to(column) + 1]; ++k)
      if (members_[k] != client) found.push_back(members_[k]);
  return found;
}

std::vector<ClientId> NearbyPoints::within(double radius, ClientId client) const {
  std::vector<ClientId> near = around(client, reach_of(radius));
  std::erase_if(near, [&](ClientId other) { return distance(points_[client.value], points_[other.value]) > radius; });
  std::sort(near.begin(), near.end());
  return near;
}

std::vector<ClientId> NearbyPoints::nearest(std::size_t k, ClientId client) const {
  const auto distance_to = [&](ClientId other) { return distance(points_[client.value], points_[other.value]); };
  const auto is_nearer = [&](ClientId a, ClientId b) {
    const double to_a = distance_to(a), to_b = distance_to(b);
    return to_a != to_b ? to_a < to_b : a < b;
  };
  for (std::size_t reach = 1;; reach *= 2) {
    std::vector<ClientId> near = around(client, reach);
    const std::size_t kept = std::min(k, near.size());
    std::partial_sort(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(kept), near.end(), is_nearer);
    near.resize(kept);
    // Clients that were not looked at are more than `reach` cells away.
    const bool is_settled = kept == k && k > 0 && distance_to(near.back()) * slack < static_cast<double>(reach) * width_;
    if (reach >= side_ || is_settled) return near;
  }
}

}  // namespace rubato
