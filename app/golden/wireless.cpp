// Golden cases about radio: SINR and delays, fading and stragglers of asynchronous DSGD (docs/references.md#channel,
// docs/references.md#asynchronous-dsgd), sums over the air and their slots.
#include <cmath>
#include <set>

#include "app/golden/cases.hpp"
#include "runtime/protocols/round_client.hpp"
#include "runtime/time.hpp"
#include "runtime/world/air.hpp"
#include "runtime/world/mixing.hpp"
#include "runtime/world/points.hpp"
#include "runtime/world/radio.hpp"

namespace rubato::golden {

namespace {

// The n-th of a list, or the one number that stands for all.
double each_or_all(const Json& numbers, std::size_t n) {
  return numbers.is_array() ? numbers.at(n).get<double>() : numbers.get<double>();
}

// A cell with everything that its links need.
struct Cell {
  explicit Cell(const Json& golden_case)
      : points(golden_case.at("positions").get<std::vector<Point>>()), h(golden_case.at("h")), power(golden_case.at("tx_dbm")) {
    radio.path_loss_exponent = golden_case.at("alpha").get<double>();
    radio.bandwidth = golden_case.at("bandwidth_hz").get<double>();
    radio.noise_dbm_per_hertz = golden_case.at("n0_dbm_hz").get<double>();
    radio.least_distance = golden_case.value("min_dist_m", radio.least_distance);
    radio.interference_radius = golden_case.at("cell_radius_m").get<double>() * golden_case.at("interference_factor").get<double>();
    const bool counts_all = !golden_case.contains("active") || !golden_case.at("active").is_array();
    for (std::uint32_t n = 0; n < points.size() && counts_all; ++n) active.insert(n);
    if (!counts_all)
      for (const std::uint32_t n : numbers_below(points.size(), golden_case.at("active"))) active.insert(n);
  }

  double gain(std::size_t receiver, std::size_t sender) const {
    return watts_of_dbm(each_or_all(power, sender)) * h.at(receiver).at(sender).get<double>() *
           radio.path_gain(distance(points[receiver], points[sender]));
  }

  double sinr(std::size_t receiver, std::size_t sender) const {
    double disturbance = radio.noise_watts();
    for (const std::uint32_t n : active)
      if (n != receiver && n != sender && distance(points[n], points[receiver]) < radio.interference_radius)
        disturbance += gain(receiver, n);
    return gain(receiver, sender) / disturbance;
  }

  Radio radio;
  std::vector<Point> points;
  Json h, power;
  std::set<std::uint32_t> active;
};

// The first `rounds` rounds of a client: in how many earlier ones its gradient began, null for a straggler.
Json staleness(const Json& times, Duration phase, std::size_t rounds) {
  Job job;
  std::size_t next = 0, begun = 0;
  return list_of(rounds, [&](std::size_t round) {
    if (!job.is_begun()) {
      job.begin(from_seconds(times.at(next++).get<double>()));
      begun = round;
    }
    return job.work(phase) ? Json(round - begun) : Json();
  });
}

Json answer_channel(const Json& golden_case) {
  const Cell cell(golden_case);
  const std::size_t clients = cell.points.size();
  const double bits = 8 * golden_case.at("message_bytes").get<double>();
  const auto of_links = [&](auto value) {
    return list_of(clients, [&](std::size_t j) {
      return list_of(clients, [&](std::size_t i) { return i == j ? Json() : Json(value(j, i, cell.sinr(j, i))); });
    });
  };
  return {{"noise_w", cell.radio.noise_watts()},
          {"sinr", of_links([](auto, auto, double sinr) { return sinr; })},
          {"rate_bps", of_links([&](auto, auto, double sinr) { return cell.radio.bits_per_second(sinr); })},
          {"delay_s", of_links([&](std::size_t j, std::size_t i, double sinr) {
             return cell.radio.seconds(bits, sinr, distance(cell.points[j], cell.points[i]));
           })}};
}

Json answer_chapter2(const Json& golden_case) {
  const double phase = golden_case.at("barrier").get<double>();
  const auto rounds = golden_case.at("rounds").get<std::size_t>();
  if (rounds > most_rounds) throw std::out_of_range("too many rounds");
  const Json& times = golden_case.at("times");
  const Json by_client = list_from(times, [&](const Json& row) { return staleness(row, from_seconds(phase), rounds); });
  const Json tau = list_of(rounds, [&](std::size_t r) { return list_from(by_client, [&](const Json& row) { return row.at(r); }); });
  const bool is_of_power = golden_case.contains("h_min_power");
  const FadingThreshold threshold{golden_case.at(is_of_power ? "h_min_power" : "h_min_amplitude").get<double>(), is_of_power};
  const auto gains = golden_case.at("power_gain").get<DenseMatrix>();
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < gains.size(); ++i)
    for (std::uint32_t j = i + 1; j < gains.size(); ++j)
      if (threshold.is_up(gains.at(i).at(j))) edges.push_back({ClientId{i}, ClientId{j}});
  const Graph up(gains.size(), false, edges);
  return {{"tau", tau},
          {"links", edges},
          {"p_link", threshold.chance()},
          {"p_straggler_fresh", straggler_chance(phase, golden_case.value("t_min", 0.25), golden_case.value("rate", 1.0))},
          {"metropolis", weights::metropolis(up).dense()}};
}

Json answer_aircomp(const Json& golden_case) {
  const auto model_of = [&](const std::string& name) { return golden_case.at("theta").at(name).get<Vector<double>>(); };
  const double cap = golden_case.at("p_tx").get<double>();
  const Vector<double> own = model_of(std::to_string(golden_case.at("star").get<std::uint32_t>()));
  const auto numbers = static_cast<double>(own.size());
  const auto noise_of = [&](const Json& noise) {
    const auto z = noise.get<Vector<double>>();
    if (z.size() != own.size()) throw std::invalid_argument("the noise is not of the size of a model");
    return z;
  };
  std::vector<std::string> names;
  std::vector<AirLeaf> leaves;
  for (const Json& neighbour : golden_case.at("neighbors")) {
    const std::string& name = names.emplace_back(std::to_string(neighbour.get<std::uint32_t>()));
    const Vector<double> model = model_of(name);
    leaves.push_back({golden_case.at("w").at(name).get<double>(), golden_case.at("h").at(name).get<double>(), model.squaredNorm()});
    if (model.size() != own.size()) throw std::invalid_argument("the models are not of one size");
  }
  const double c = star_scale(leaves, cap, numbers), a = broadcast_scale(own.squaredNorm(), cap, numbers);
  Json sent = Json::object(), power = Json::object(), heard = Json::object(), noise = Json::object();
  Vector<double> estimate = noise_of(golden_case.at("z_star")) / std::sqrt(c);
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const AirLeaf& leaf = leaves[k];
    const Vector<double> model = model_of(names[k]), symbols = leaf_gain(leaf, c) * model;
    const Vector<double> z = noise_of(golden_case.at("z_leaf").at(names[k]));
    estimate += leaf.weight * model;
    sent[names[k]] = symbols;
    power[names[k]] = symbols.squaredNorm() / numbers;
    heard[names[k]] = Vector<double>(leaf.weight * (own + z / (std::sqrt(a) * leaf.amplitude)));
    noise[names[k]] = broadcast_noise(leaf, a);
  }
  return {{"c", c},
          {"a", a},
          {"tx", sent},
          {"tx_power_per_symbol", power},
          {"star_estimate", estimate},
          {"leaf_estimate", heard},
          {"star_noise_var_per_unit", 1 / c},
          {"leaf_noise_var_per_unit", noise}};
}

Json answer_slot_schedule(const Json& golden_case) {
  Json answer = Json::object();
  for (const auto& [name, graph] : golden_case.at("graphs").items())
    answer[name] = list_from(schedule_slots(to_graph(graph)), [](const std::vector<Star>& pair) {
      return list_from(pair, [](const Star& star) -> Json { return {{"center", star.centre}, {"leaves", star.leaves}}; });
    });
  return answer;
}

}  // namespace

std::vector<CaseKind> wireless_kinds() {
  return {{"channel", "", answer_channel, true},
          {"chapter2", "", answer_chapter2},
          {"aircomp", "", answer_aircomp},
          {"slot_schedule", "", answer_slot_schedule}};
}

}  // namespace rubato::golden
