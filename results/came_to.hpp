// What a compared run came to beside its curve: the outcomes of its messages, and how its worst client differs from the others.
#pragma once

#include "results/curve.hpp"
#include "results/result_text.hpp"

namespace rubato {

/// As table.json has it; docs/run-folder.md names its keys. The worst client is that of the curve's last point.
ResultJson came_to(const config::Experiment& experiment, const RunResult& result, const Curve& curve);

}  // namespace rubato
