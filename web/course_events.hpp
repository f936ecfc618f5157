// CourseEvent: what happened to all clients, to one of them or to a host in the course of a run, for events.csv, the page and the
// trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "experiment/file/resolve.hpp"
#include "results/result_text.hpp"
#include "runtime/world/churn.hpp"
#include "web/score.hpp"

namespace rubato::web {

struct CourseEvent {
  double seconds = 0;  ///< of the experiment
  std::string what;    ///< a word of docs/run-folder.md
  std::optional<std::uint32_t> client{}, other{};
  std::string host{};                  ///< a host that was lost, left or came back; empty: it is not about one
  std::optional<std::size_t> graph{};  ///< the number in its sequence of the graph that is in force from now on
};

/// No more changes of the graph are listed.
inline constexpr std::size_t most_graph_changes = 100'000;

/// The word for an event of churn; null: nothing that is told.
const char* word_of(ChurnEvent::Kind kind);

/// In the order of time, until `end` in seconds of the experiment. `score`: null where there is no record; unifications, hand-overs
/// and rounds are its. Absences of hosts are the summary's.
std::vector<CourseEvent> course_events(const ResolvedExperiment& resolved, const ResultJson& summary, const RunScore* score,
                                       double end);

/// As rows of the page: seconds, what, client, the other one or null, and a host where there is one. Changes of the graph, which
/// may be many, are left out.
ResultJson page_events(const std::vector<CourseEvent>& events);

}  // namespace rubato::web
