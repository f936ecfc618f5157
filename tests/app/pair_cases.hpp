// Cases of clients that meet in pairs, for tests that play them through the golden harness.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "app/golden/cases.hpp"
#include "app/golden/golden.hpp"
#include "tests/actors/support.hpp"

namespace rubato::test {

using nlohmann::json;

constexpr double exactly = 1e-12;

inline json problem_of(std::size_t clients) {
  json problem = {{"kind", "quadratic"}, {"A", json::array()}, {"c", json::array()}};
  for (std::size_t i = 0; i < clients; ++i) {
    const double k = static_cast<double>(i);
    problem["A"].push_back({{1 + 0.2 * k, 0.1}, {0.1, 1.5 - 0.1 * k}});
    problem["c"].push_back({k - 1, 2 - 0.5 * k});
  }
  return problem;
}

inline json starts_of(std::size_t clients) {
  json starts = json::array();
  for (std::size_t i = 0; i < clients; ++i)
    starts.push_back({0.3 - 0.2 * static_cast<double>(i), 0.1 + 0.4 * static_cast<double>(i)});
  return starts;
}

// What the engine answers to a case when it expects nothing.
inline json answer_to(json asked) {
  const Folder folder;
  asked["id"] = "asked";
  asked["tolerance"] = {{"abs", 0}, {"rel", 0}};
  asked["expect"] = json::object();
  write_text(folder / "case.json", asked.dump());
  const GoldenVerdict verdict = check_golden(folder / "case.json");
  CAPTURE(verdict.detail);
  REQUIRE(verdict.outcome == GoldenOutcome::passed);
  return json::parse(verdict.answer).at("expect");
}

}  // namespace rubato::test
