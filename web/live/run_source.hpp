// RunSource: a run that can be looked at, under way in this process or in a folder. docs/live.md says what the texts hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/result_text.hpp"
#include "results/run_event.hpp"
#include "results/sample.hpp"
#include "runtime/engine/glance.hpp"

namespace rubato::web {

/// How many of each there have been: a page is behind where it has seen fewer.
struct Revision {
  std::uint64_t ticks = 0;
  std::uint64_t samples = 0;
  std::uint64_t events = 0;
  std::uint64_t hosts = 0;
  std::uint64_t views = 0;
  std::uint64_t marks = 0;
  bool is_over = false;
};

/// A run as Prometheus sees it.
struct RunNumbers {
  std::vector<std::pair<std::string, std::string>> labels;  ///< what the run is
  double seconds = 0;                                       ///< of the experiment
  std::uint64_t events = 0;
  bool has_failed = false;
  std::optional<Sample> sample;  ///< the newest
  std::optional<Glance> glance;  ///< likewise
  std::vector<PeerStatus> peers;
  std::optional<std::pair<std::size_t, std::size_t>> compared;  ///< runs that are finished, of so many
};

/// Texts are objects in JSON. A number is `from` where what came before is known already. What a source has none of is empty. Any
/// thread.
class RunSource {
 public:
  virtual ~RunSource() = default;
  virtual Revision revision() const = 0;
  virtual ResultJson hello() const = 0;
  virtual ResultJson tick() const = 0;
  virtual std::string samples(std::uint64_t /*from*/) const {
    return R"({"type":"samples","first":0,"next":0,"more":false,"clients":[],"accuracies":[],"losses":[],"rows":[]})";
  }
  virtual std::string events(std::uint64_t /*from*/) const { return R"({"type":"events","first":0,"next":0,"rows":[]})"; }
  virtual std::string hosts() const { return R"({"type":"hosts","rows":[]})"; }
  virtual std::string views(std::uint64_t /*from*/) const { return R"({"type":"views","first":0,"next":0,"rows":[]})"; }
  virtual std::string marks(std::uint64_t /*from*/) const {
    return R"({"type":"marks","first":0,"next":0,"dropped":0,"kind":[],"at":[],"client":[],"other":[],"since":[]})";
  }
  virtual std::string end() const = 0;
  /// What report.html has as its data, safe in a script; nothing: there is no report yet.
  virtual std::optional<std::string> report() const = 0;
  /// A line of the index of runs.
  virtual ResultJson line() const = 0;
  virtual RunNumbers numbers() const = 0;

  /// Pages look at it now, and some of them at its marks: what costs something is only gathered then.
  virtual void look(bool /*is_watched*/, bool /*marks_are_watched*/) {}
};

}  // namespace rubato::web
