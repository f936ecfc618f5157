// ThreadMemory: what a thread needs to perform steps and to score models, whichever client it runs.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "algos/algorithm.hpp"
#include "learning/scratch.hpp"
#include "runtime/payload.hpp"

namespace rubato {

class Client;

/// Memory of a worker thread; lent to whichever client it runs.
struct ThreadMemory {
  std::tuple<Scratch<float>, Scratch<double>> scratches;
  std::tuple<std::vector<Received<float>>, std::vector<Received<double>>> windows;
  std::vector<const Payload*> payloads;     ///< of the merge step that is performed
  std::vector<Client*> woken;               ///< clients that this thread is about to run
  std::int64_t math_nanoseconds = 0;        ///< spent in steps, samples left out
  std::int64_t evaluation_nanoseconds = 0;  ///< spent in copying and scoring samples
  std::int64_t message_nanoseconds = 0;     ///< of math_nanoseconds: in steps that make messages or take them in
  bool times_messages = false;              ///< where a step is long enough for that

  template <class Real>
  Scratch<Real>& scratch() {
    return std::get<Scratch<Real>>(scratches);
  }
  template <class Real>
  std::vector<Received<Real>>& window() {
    return std::get<std::vector<Received<Real>>>(windows);
  }
};

}  // namespace rubato
