// A golden case of somebody else: whatever it says, it gets a verdict.
#include "app/golden/golden.hpp"
#include "tests/fuzz/input_file.hpp"

using namespace rubato;
using namespace rubato::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const InputFile file(std::as_bytes(std::span{data, size}));
  const GoldenVerdict verdict = check_golden(file.path());
  insist(verdict.outcome != GoldenOutcome::failed || !verdict.detail.empty());
  return 0;
}
