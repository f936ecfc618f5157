#include "experiment/own_parts.hpp"

namespace rubato {

namespace {

const OwnLearners*& known_learners() {
  static const OwnLearners* known = nullptr;
  return known;
}

}  // namespace

void extend_learners(const OwnLearners& own) {
  if (!own.of_float || !own.of_double) throw std::invalid_argument("own learners lack those of one precision");
  if (known_learners())
    throw std::invalid_argument("own learners are known already: they take the place of [data] and [model] once");
  known_learners() = &own;
}

const OwnLearners* own_learners() { return known_learners(); }

}  // namespace rubato
