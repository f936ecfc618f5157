#include "runtime/world/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "runtime/world/spectrum.hpp"
#include "runtime/world/topology.hpp"

namespace rubato {
namespace {

constexpr std::size_t most_drawn = 30;
constexpr std::size_t most_links_for_spectra = 100'000;

// Of two names for the same weights one; nothing is known of the explicit ones.
constexpr std::array shown_kinds{"metropolis", "laplacian", "uniform_row", "uniform_col", "draco_row", "averaging"};

std::string yes_or_no(bool claim) { return claim ? "yes" : "no"; }

std::string number(double value, int digits = 6) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

// Rounding is not a defect worth a line of digits.
std::string defect(double value) { return value <= 1e-12 ? "0" : number(value, 2); }

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

std::string line(const std::string& name, const std::string& value) { return padded(name, 20) + value + "\n"; }

template <class Degree>
std::string degrees(const Graph& graph, const Degree& degree) {
  std::size_t least = degree(ClientId{0}), most = least;
  for (ClientId i; i.value < graph.clients(); ++i.value) {
    least = std::min(least, degree(i));
    most = std::max(most, degree(i));
  }
  const double mean = static_cast<double>(graph.links()) / static_cast<double>(graph.clients());
  return "min " + std::to_string(least) + ", mean " + number(mean, 4) + ", max " + std::to_string(most);
}

struct Rate {
  std::string lambda, gap;
};

// The gap means something where repeated mixing leads to the mean: rows and columns sum to 1.
Rate rate_of(const MixingMatrix& matrix) {
  if (matrix.graph().links() > most_links_for_spectra) return {"not computed", "-"};
  const SpectralValue rate = find_consensus_rate(matrix);
  const bool leads_to_mean = is_row_stochastic(matrix) && is_column_stochastic(matrix);
  return {(rate.is_settled ? "" : ">= ") + number(rate.value < 1e-12 ? 0 : rate.value, 9),
          leads_to_mean ? (rate.is_settled ? "" : "<= ") + number(rate.value < 1e-12 ? 1 : std::max(0.0, 1 - rate.value)) : "-"};
}

std::string row(const std::string& kind, const MixingMatrix& matrix) {
  const Rate rate = rate_of(matrix);
  return padded(kind, 20) + padded(defect(row_defect(matrix)), 12) + padded(defect(column_defect(matrix)), 12) +
         padded(yes_or_no(is_symmetric(matrix)), 12) + padded(rate.lambda, 16) + rate.gap + "\n";
}

std::string matrices(const Graph& graph) {
  std::string text = padded("mixing", 20) + padded("rows off", 12) + padded("columns off", 12) + padded("symmetric", 12) +
                     padded("lambda", 16) + "gap\n";
  for (const std::string name : shown_kinds) {
    try {
      text += row(name, make_mixing({.kind = name, .tau = {}, .weights = {}}, graph));
    } catch (const std::invalid_argument& reason) {
      text += line(name, reason.what());
    }
  }
  return text;
}

class Canvas {
 public:
  Canvas(int width, int height) : rows_(static_cast<std::size_t>(height), std::string(static_cast<std::size_t>(width), ' ')) {}

  void put(double x, double y, const std::string& text) {
    std::string& row = rows_[static_cast<std::size_t>(std::lround(y))];
    std::copy(text.begin(), text.end(), row.begin() + std::lround(x));
  }

  std::string text() const {
    std::string all;
    for (const std::string& row : rows_) all += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
    return all;
  }

 private:
  std::vector<std::string> rows_;
};

// Client 0 on top, then clockwise. Directed links are drawn ':' near their receiver.
std::string circle(const Graph& graph) {
  constexpr int radius = 11, steps = 120;
  Canvas canvas(4 * radius + 4, 2 * radius + 1);
  const auto place = [&](ClientId i) {
    const double angle = 2 * std::numbers::pi * i.value / static_cast<double>(graph.clients());
    return Point{2 * radius * (1 + std::sin(angle)), radius * (1 - std::cos(angle))};
  };
  for (const Edge& edge : graph.edges()) {
    const Point from = place(edge.source), to = place(edge.target);
    for (int k = 1; k < steps; ++k) {
      const double way = static_cast<double>(k) / steps;
      const bool is_near_receiver = graph.is_directed() && way > 0.7;
      canvas.put(from.x + way * (to.x - from.x), from.y + way * (to.y - from.y), is_near_receiver ? ":" : ".");
    }
  }
  for (ClientId i; i.value < graph.clients(); ++i.value) canvas.put(place(i).x, place(i).y, std::to_string(i.value));
  return canvas.text();
}

std::string table(const Graph& graph) {
  std::string text = "receivers (rows) and senders (columns)\n     ";
  for (std::size_t j = 0; j < graph.clients(); ++j) text += padded(std::to_string(j), 3);
  text.back() = '\n';
  for (ClientId i; i.value < graph.clients(); ++i.value) {
    std::string row = padded(std::to_string(i.value), 5);
    for (ClientId j; j.value < graph.clients(); ++j.value) row += i == j ? "\\  " : graph.find_link(j, i) ? "#  " : ".  ";
    text += row.substr(0, row.size() - 2) + "\n";
  }
  return text;
}

}  // namespace

std::string picture(const Graph& graph) {
  if (graph.clients() > most_drawn) return "";
  return graph.edges().size() <= 3 * graph.clients() ? circle(graph) : table(graph);
}

std::string describe(const Graph& graph) {
  const auto fault = connection_fault(graph);
  const std::string drawn = picture(graph);
  return line("clients", std::to_string(graph.clients())) +
         line("links", std::to_string(graph.links()) + (graph.is_directed() ? ", directed" : ", both ways: undirected")) +
         line("strongly connected", fault ? "no: " + *fault : "yes") + line("bipartite", yes_or_no(graph.is_bipartite())) +
         line("senders", degrees(graph, [&](ClientId i) { return graph.in_degree(i); })) +
         line("receivers", degrees(graph, [&](ClientId i) { return graph.out_degree(i); })) + "\n" + matrices(graph) +
         (drawn.empty() ? "" : "\n" + drawn);
}

std::string describe(const MixingMatrix& matrix) {
  const Rate rate = rate_of(matrix);
  return line("rows off 1 by", defect(row_defect(matrix))) + line("columns off 1 by", defect(column_defect(matrix))) +
         line("symmetric", is_symmetric(matrix) ? "yes" : "no, off by " + number(symmetry_defect(matrix), 2)) +
         line("smallest weight", number(smallest_weight(matrix))) + line("lambda", rate.lambda) + line("spectral gap", rate.gap);
}

}  // namespace rubato
