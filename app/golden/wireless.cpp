// Golden cases about radio: SINR and delays, fading and stragglers of asynchronous DSGD (docs/references.md#channel,
// docs/references.md#asynchronous-dsgd), sums over the air and their slots.
#include <algorithm>
#include <cmath>
#include <optional>
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
  explicit Cell(const Json& golden_case) : h(golden_case.at("h")), power(golden_case.at("tx_dbm")) {
    for (const Json& point : golden_case.at("positions")) points.push_back({point.at(0), point.at(1)});
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
  Json row = Json::array();
  Job job;
  std::size_t next = 0, begun = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    if (!job.is_begun()) {
      job.begin(from_seconds(times.at(next++).get<double>()));
      begun = round;
    }
    row.push_back(job.work(phase) ? Json(round - begun) : Json());
  }
  return row;
}

struct Slot {
  std::vector<std::string> names;
  std::vector<AirLeaf> leaves;
};

double norm_squared(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x * x;
  return sum;
}

}  // namespace

Json answer_channel(const Json& golden_case) {
  const Cell cell(golden_case);
  const std::size_t clients = cell.points.size();
  const double bits = 8 * golden_case.at("message_bytes").get<double>();
  Json sinr(clients, Json(clients, Json())), rate = sinr, delay = sinr;
  for (std::size_t j = 0; j < clients; ++j) {
    for (std::size_t i = 0; i < clients; ++i) {
      if (i == j) continue;
      const double found = cell.sinr(j, i);
      sinr[j][i] = found;
      rate[j][i] = cell.radio.bits_per_second(found);
      delay[j][i] = cell.radio.seconds(bits, found, distance(cell.points[j], cell.points[i]));
    }
  }
  return by_formula({{"noise_w", cell.radio.noise_watts()}, {"sinr", sinr}, {"rate_bps", rate}, {"delay_s", delay}});
}

Json answer_chapter2(const Json& golden_case) {
  const double phase = golden_case.at("barrier").get<double>();
  const auto rounds = golden_case.at("rounds").get<std::size_t>();
  if (rounds > most_rounds) throw std::out_of_range("too many rounds");
  const Json& times = golden_case.at("times");
  std::vector<Json> by_client;
  for (const Json& row : times) by_client.push_back(staleness(row, from_seconds(phase), rounds));
  Json tau = Json::array();
  for (std::size_t r = 0; r < rounds; ++r) {
    tau.push_back(Json::array());
    for (const Json& row : by_client) tau.back().push_back(row.at(r));
  }
  const bool is_of_power = golden_case.contains("h_min_power");
  const FadingThreshold threshold{golden_case.at(is_of_power ? "h_min_power" : "h_min_amplitude").get<double>(), is_of_power};
  const auto gains = golden_case.at("power_gain").get<DenseMatrix>();
  std::vector<Edge> edges;
  Json links = Json::array();
  for (std::uint32_t i = 0; i < gains.size(); ++i) {
    for (std::uint32_t j = i + 1; j < gains.size(); ++j) {
      if (!threshold.is_up(gains.at(i).at(j))) continue;
      edges.push_back({ClientId{i}, ClientId{j}});
      links.push_back({i, j});
    }
  }
  const Graph up(gains.size(), false, edges);
  return {{"tau", tau},
          {"links", links},
          {"p_link", threshold.chance()},
          {"p_straggler_fresh", straggler_chance(phase, golden_case.value("t_min", 0.25), golden_case.value("rate", 1.0))},
          {"metropolis", weights::metropolis(up).dense()}};
}

Json answer_aircomp(const Json& golden_case) {
  const Json& theta = golden_case.at("theta");
  const auto model_of = [&](const std::string& name) { return theta.at(name).get<std::vector<double>>(); };
  const double cap = golden_case.at("p_tx").get<double>();
  const std::vector<double> own = model_of(std::to_string(golden_case.at("star").get<std::uint32_t>()));
  const auto numbers = static_cast<double>(own.size());
  Slot slot;
  for (const Json& neighbour : golden_case.at("neighbors")) {
    const std::string name = std::to_string(neighbour.get<std::uint32_t>());
    slot.names.push_back(name);
    slot.leaves.push_back(
        {golden_case.at("w").at(name).get<double>(), golden_case.at("h").at(name).get<double>(), norm_squared(model_of(name))});
    if (model_of(name).size() != own.size()) throw std::invalid_argument("the models are not of one size");
  }
  const double c = star_scale(slot.leaves, cap, numbers), a = broadcast_scale(norm_squared(own), cap, numbers);
  Json sent = Json::object(), power = Json::object(), heard = Json::object(), noise = Json::object();
  auto estimate = golden_case.at("z_star").get<std::vector<double>>();
  for (double& z : estimate) z /= std::sqrt(c);
  for (std::size_t k = 0; k < slot.leaves.size(); ++k) {
    const AirLeaf& leaf = slot.leaves[k];
    const std::vector<double> model = model_of(slot.names[k]);
    const auto z = golden_case.at("z_leaf").at(slot.names[k]).get<std::vector<double>>();
    std::vector<double> symbols(own.size()), received(own.size());
    for (std::size_t n = 0; n < own.size(); ++n) {
      symbols[n] = leaf_gain(leaf, c) * model[n];
      estimate.at(n) += leaf.weight * model[n];
      received[n] = leaf.weight * (own[n] + z.at(n) / (std::sqrt(a) * leaf.amplitude));
    }
    sent[slot.names[k]] = symbols;
    power[slot.names[k]] = norm_squared(symbols) / numbers;
    heard[slot.names[k]] = received;
    noise[slot.names[k]] = broadcast_noise(leaf, a);
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
  for (const auto& [name, graph] : golden_case.at("graphs").items()) {
    answer[name] = Json::array();
    for (const std::vector<Star>& pair : schedule_slots(to_graph(graph))) {
      Json stars = Json::array();
      for (const Star& star : pair) {
        Json leaves = Json::array();
        for (const ClientId leaf : star.leaves) leaves.push_back(leaf.value);
        stars.push_back({{"center", star.centre.value}, {"leaves", leaves}});
      }
      answer[name].push_back(stars);
    }
  }
  return answer;
}

}  // namespace rubato::golden
