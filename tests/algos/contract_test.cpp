// Every algorithm of the catalogue that runs in continuous time keeps the contract of algorithms.
#include <doctest/doctest.h>

#include "tests/support/algorithm_contract.hpp"

using namespace rubato;
using namespace rubato::test;

TEST_CASE("every algorithm that runs under push keeps the contract of algorithms") {
  std::size_t held = 0;
  for (const CatalogueEntry* entry : catalogue()) {
    if (!entry->runs.has(ProtocolKind::push)) continue;
    ++held;
    SUBCASE(std::string(entry->name).c_str()) { algorithm_contract(entry->name); }
  }
  CHECK(held > 15);
}
