#include "runtime/protocols/tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "runtime/protocols/server.hpp"
#include "runtime/sentence.hpp"

namespace rubato {

namespace {

constexpr double unheard = std::numeric_limits<double>::infinity();  // of a child
constexpr std::uint32_t counter_up = 0, collect_down = 1;            // tags of control messages
constexpr double slack = 1 - 1e-12;

std::uint32_t tree_tag(std::uint64_t k, std::uint8_t phase) { return static_cast<std::uint32_t>(2 * k + phase); }

}  // namespace

std::vector<ClientId> shortest_path_tree(const Graph& graph, ClientId pivot) {
  std::vector<ClientId> parent(graph.clients(), no_client), reached{pivot};
  std::vector<bool> is_reached(graph.clients());
  is_reached[pivot.value] = true;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const ClientId here = reached[i];
    for (const ClientId next : graph.receivers_of(here)) {
      if (is_reached[next.value]) continue;
      if (!graph.find_link(next, here))
        refuse("a tree needs every link with its reverse: there is none from client ", next.value, " to client ", here.value);
      is_reached[next.value] = true;
      parent[next.value] = here;
      reached.push_back(next);
    }
  }
  if (reached.size() < graph.clients()) throw std::invalid_argument("a tree needs a connected graph");
  return parent;
}

Tree::Tree(TreeBoard& board, ClientId self) : ClientProtocol(*board.push, self), board_{board} {
  const Graph& graph = *board.push->graph;
  for (const ClientId child : graph.senders_to(self))
    if (child != board.pivot && board.parent[child.value] == self) children_.push_back(child);
  for (const ClientId child : graph.receivers_of(self))
    if (child != board.pivot && board.point_parent[child.value] == self) point_children_.push_back(child);
  counters_.assign(children_.size(), unheard);
}

void Tree::start(Effects& effects) {
  if (is_pivot()) take_point(0, nullptr, {}, effects);
}

void Tree::archive(Archive& archive) {
  Protocol::archive(archive);
  archive(sequence_);
}

Step& Tree::merge_step(std::uint8_t phase, const Arrival* message, Time now, Effects& effects) {
  taken_.clear();
  if (message) taken_.push_back(*message);
  return merge(taken_, phase, 0, now, effects);
}

// `point`: null at the pivot, which has made it. What this node worked at is dropped, and its sum with it.
void Tree::take_point(std::uint64_t k, const Arrival* point, Time now, Effects& effects) {
  const bool is_news = k > newest_;
  if (point) merge_step(in_tree::takes_point | (is_news ? in_tree::forgets : 0), point, now, effects);
  if (is_news) count_ = 0, newest_ = k;
  point_ = k;
  sums_ = 0;
  has_computed_ = is_frozen_ = false;
  std::ranges::fill(counters_, unheard);
  told_ = 0;
  if (board_.watch) board_.watch->on_point(now, self_, k);
  if (!point_children_.empty()) publish(point_down, point_children_, tree_tag(k, point_down), now, effects);
  begin_gradient(now, effects);
}

void Tree::begin_gradient(Time now, Effects& effects) {
  const Duration length = length_of_job(board_.jobs, settings_, self_, jobs_drawn_++);
  effects.wake({later(now, length), Priority::compute, self_, ++job_});
}

void Tree::on_compute(Time now, std::uint32_t job, Effects& effects) {
  if (job == job_) on_gradient(now, effects);  // else it was dropped
}

void Tree::on_gradient(Time now, Effects& effects) {
  const bool is_used = point_ == newest_;
  Step& step = compute(now, effects);
  if (!is_used) step.phase = in_tree::in_vain;
  has_computed_ = true;
  count_ += is_used;
  if (board_.watch) board_.watch->on_gradient(now, self_, *point_, count_, is_used);
  const std::uint32_t before = job_;
  on_more(now, effects);
  const bool goes_on = rule().kind != TreeKind::minibatch && !is_frozen_ && job_ == before;
  if (goes_on) begin_gradient(now, effects);
}

bool Tree::are_all_here() const { return has_computed_ && sums_ == children_.size(); }

double Tree::counter() const {
  double b = 1 / static_cast<double>(count_);
  for (const double of_child : counters_) b += of_child;
  return b;
}

// A gradient, a sum or a counter has come in.
void Tree::on_more(Time now, Effects& effects) {
  switch (rule().kind) {
    case TreeKind::minibatch:
      if (!are_all_here()) return;
      if (is_pivot()) return move(count_, now, effects);
      return send_sum(count_, now, effects);
    case TreeKind::fragile:
      if (!is_pivot()) return effects.wake({now, Priority::transmit, self_});
      if (static_cast<double>(count_) >= rule().gradients) move(count_, now, effects);
      return;
    case TreeKind::amelie: {
      if (!is_pivot()) return effects.wake({now, Priority::transmit, self_});
      const auto m = static_cast<double>(clients());
      if (m / counter() >= slack * rule().gradients / m) collect(now, effects);
    }
  }
}

// The pivot steps: the next point.
void Tree::move(std::uint64_t count, Time now, Effects& effects) {
  merge_step(in_tree::moves, nullptr, now, effects);
  if (board_.watch) board_.watch->on_step(now, self_, *point_, count);
  take_point(*point_ + 1, nullptr, now, effects);
}

void Tree::collect(Time now, Effects& effects) {
  is_frozen_ = true;
  ++job_;  // what is worked at is dropped
  merge_step(in_tree::freezes, nullptr, now, effects);
  if (board_.watch) board_.watch->on_collect(now, self_, *point_, count_);
  for (const ClientId child : point_children_) effects.request(self_, child, collect_down);
  on_collected(now, effects);
}

// Its own mean is there, and perhaps the sums of all children.
void Tree::on_collected(Time now, Effects& effects) {
  if (sums_ < children_.size()) return;
  if (is_pivot()) return move(clients(), now, effects);
  effects.wake({now, Priority::transmit, self_});
}

void Tree::on_request(Time now, ClientId from, std::uint32_t tag, Effects& effects) {
  if (tag == collect_down) {
    if (from == board_.point_parent[self_.value] && point_ && !is_frozen_) collect(now, effects);
    return;
  }
  const auto child = std::ranges::find(children_, from);
  if (child == children_.end()) return;
  TreeBoard::Uplink& link = board_.up[from.value];
  const bool is_used = point_ == link.point && !is_frozen_;
  link.is_busy = false;
  if (board_.watch) board_.watch->on_counter(now, self_, from, link.point, link.counter, is_used);
  if (is_used) {
    counters_[static_cast<std::size_t>(child - children_.begin())] = link.counter;
    on_more(now, effects);
  }
  effects.wake({now, Priority::transmit, from});
}

Offer Tree::on_arrival(const Arrival& arrival, Effects& effects) {
  const bool is_point = arrival.tag % 2 == point_down;
  const std::uint64_t k = arrival.tag / 2;
  const bool is_expected = is_point ? arrival.id.sender == board_.point_parent[self_.value] && (!point_ || k > *point_)
                                    : std::ranges::find(children_, arrival.id.sender) != children_.end();
  if (!is_expected) return conclude(Offer::late, arrival, effects);
  if (!is_point) {
    const std::uint64_t before = counts_.superseded;
    on_vector(arrival, effects);
    return counts_.superseded == before ? Offer::kept : Offer::superseded;
  }
  (void)admit(Offer::kept, arrival, effects);
  take_point(k, &arrival, arrival.arrived, effects);
  return Offer::kept;
}

void Tree::on_vector(const Arrival& vector, Effects& effects) {
  const Time now = vector.arrived;
  TreeBoard::Uplink& link = board_.up[vector.id.sender.value];
  link.is_busy = false;
  const bool is_newer = link.point > newest_, is_used = link.point >= newest_;
  if (admit(is_used ? Offer::kept : Offer::superseded, vector, effects)) {
    merge_step(in_tree::adds | (is_newer ? in_tree::forgets : 0), &vector, now, effects);
    effects.entries().back().weight = static_cast<double>(link.count);
    if (is_newer) count_ = 0, newest_ = link.point;
    ++sums_;
    if (rule().kind != TreeKind::amelie) count_ += link.count;
  }
  if (board_.watch) board_.watch->on_vector(now, self_, vector.id.sender, link.point, link.count, is_used);
  if (is_used && rule().kind == TreeKind::amelie)
    on_collected(now, effects);
  else if (is_used)
    on_more(now, effects);
  effects.wake({now, Priority::transmit, vector.id.sender});
}

void Tree::on_transmit(Time now, std::uint32_t, Effects& effects) { send_up(now, effects); }

void Tree::send_up(Time now, Effects& effects) {
  if (is_pivot() || uplink().is_busy) return;
  switch (rule().kind) {
    case TreeKind::minibatch:
      return;
    case TreeKind::fragile:
      if (count_ > 0) send_sum(count_, now, effects);
      return;
    case TreeKind::amelie:
      if (!is_frozen_) return send_counter(effects);
      if (sums_ == children_.size() && has_computed_) send_sum(1, now, effects);
  }
}

void Tree::send_sum(std::uint64_t count, Time now, Effects& effects) {
  publish(sum_up, {&board_.parent[self_.value], 1}, tree_tag(*newest_, sum_up), now, effects);
  uplink() = {true, ++sent_, *newest_, count, 0};
  count_ = 0;
  has_computed_ = false;  // it has sent what it had
}

void Tree::send_counter(Effects& effects) {
  if (count_ == 0) return;
  const double value = counter();
  if (std::isinf(value) || value == told_) return;
  told_ = value;
  uplink() = {true, ++sent_, *point_, 0, value};
  effects.request(self_, board_.parent[self_.value], counter_up);
}

}  // namespace rubato
