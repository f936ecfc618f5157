// The course of one run as a curve, and what several curves say together: their band, and who reaches what when.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "experiment/experiment.hpp"
#include "results/sample.hpp"

namespace rubato {

/// What a curve is drawn against. None of them ever falls in the course of a run.
enum class Axis { seconds, bits, gradients, delay, joules };
inline constexpr Axis all_axes[] = {Axis::seconds, Axis::bits, Axis::gradients, Axis::delay, Axis::joules};

/// What is measured.
enum class Measure { accuracy, accuracy_mean_model, loss, loss_mean_model, consensus };
inline constexpr Measure all_measures[] = {Measure::accuracy, Measure::accuracy_mean_model, Measure::loss, Measure::loss_mean_model,
                                           Measure::consensus};

/// "seconds", "bits", ...; "accuracy", "accuracy_mean_model", ...
std::string_view name_of(Axis axis);
std::string_view name_of(Measure measure);
std::optional<Axis> axis_named(std::string_view name);

/// A sample without what belongs to single clients.
struct CurvePoint {
  double seconds = 0;    ///< virtual
  double bits = 0;       ///< as the papers count, of the measured clients
  double gradients = 0;  ///< likewise
  double delay = 0;      ///< cumulated
  double joules = 0;     ///< of all clients; 0 where nothing costs anything
  double accuracy = 0;   ///< mean of clients; like the next NaN where nothing is classified
  double accuracy_mean_model = 0;
  double loss = 0;  ///< mean of clients
  double loss_mean_model = 0;
  double consensus = 0;

  double at(Axis axis) const;
  double value(Measure measure) const;
};

/// In ascending order of time.
using Curve = std::vector<CurvePoint>;

CurvePoint point_of(const Sample& sample);

bool is_beyond(const CurvePoint& point, const config::Budget& budget);
/// The curve up to the last point before the first that is beyond the budget.
Curve within(Curve curve, const config::Budget& budget);

/// The first point whose mean accuracy of clients is at least this.
std::optional<CurvePoint> first_reach(const Curve& curve, double accuracy);

/// What the curve says at this place of the axis: along a straight line between its points, of several points at one
/// place the last. Before its beginning the first value, behind its end the last. The curve is not empty.
double value_at(const Curve& curve, Axis axis, double place, Measure measure);

/// Mean and population standard deviation; NaN for no values.
struct Spread {
  std::size_t count = 0;
  double mean = 0;
  double deviation = 0;
};
Spread spread_of(std::span<const double> values);

/// Mean and deviation over curves at `points` places, equally far apart where all curves are known; fewer where that
/// is a single place. Empty curves do not count.
struct Band {
  std::vector<double> at;
  std::vector<double> mean;
  std::vector<double> deviation;
};
Band band_of(std::span<const Curve> curves, Axis axis, Measure measure, std::size_t points);

}  // namespace rubato
