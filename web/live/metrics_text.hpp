// The numbers of runs as Prometheus reads them: text format 0.0.4. docs/live.md lists the names.
#pragma once

#include <span>
#include <string>

#include "web/live/router.hpp"

namespace rubato::web {

/// With several runs every line says which: run="0", run="1", ...
std::string metrics_text(std::span<const RunNumbers> runs, const ServerCounts& server);

}  // namespace rubato::web
