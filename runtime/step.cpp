#include "runtime/step.hpp"

#include <array>

namespace rubato {

std::string_view name_of(StepKind kind) {
  static constexpr std::array<std::string_view, 12> names{"begin",   "compute", "publish", "merge", "adopt", "reclaim",
                                                          "discard", "reset",   "measure", "save",  "load",  "decide"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace rubato
