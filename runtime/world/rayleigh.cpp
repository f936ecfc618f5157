#include "runtime/world/rayleigh.hpp"

#include "runtime/elementary.hpp"

namespace rubato {

double FadingThreshold::chance() const { return elementary::exp(-least_power()); }

}  // namespace rubato
