// An experiment file of somebody else: reading it breaks nothing; it is refused with faults, or written again it is the
// same experiment.
#include <sstream>
#include <string_view>

#include "experiment/file/experiment_file.hpp"
#include "tests/fuzz/insist.hpp"

using namespace rubato;
using namespace rubato::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::ostringstream notes;
  std::string written;
  try {
    written = write_experiment(parse_experiment(text, "fuzz.toml", {}, notes));
  } catch (const config::BadExperiment&) {
    return 0;
  }
  insist(write_experiment(parse_experiment(written, "fuzz.toml", {}, notes)) == written);
  return 0;
}
