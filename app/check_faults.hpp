// CheckFaults: what `rubato check` finds wrong with a folder, in sentences.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "results/columns.hpp"
#include "results/result_text.hpp"

namespace rubato::app {

class CheckFaults {
 public:
  static constexpr double rounding = 1e-9;  ///< of sums that were added up in another order

  template <class... Parts>
  void require(bool holds, const Parts&... parts) {
    ++checks_;
    if (holds) return;
    std::ostringstream text;
    text.precision(17);
    (text << ... << parts);
    sentences_.push_back(text.str());
  }
  void same(const std::string& what, double one, double other, double tolerance = rounding) {
    const bool are_near = std::isfinite(one) && std::isfinite(other) &&  // infinity is within an infinite tolerance
                          std::abs(one - other) <= tolerance * std::max({1.0, std::abs(one), std::abs(other)});
    const bool holds = (std::isnan(one) && std::isnan(other)) || one == other || are_near;
    require(holds, what, ": ", one, " and ", other);
  }
  std::size_t checks() const { return checks_; }
  const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  std::size_t checks_ = 0;
  std::vector<std::string> sentences_;
};

/// NaN where there is none.
inline double number_at(const ResultJson& json, const std::string& pointer) {
  const ResultJson::json_pointer place(pointer);
  return json.contains(place) && json.at(place).is_number() ? json.at(place).get<double>() : not_known;
}

}  // namespace rubato::app
