#include "learning/scratch.hpp"

#include <doctest/doctest.h>

using namespace rubato;

TEST_CASE("scratch buffers are aligned, apart from each other and stay where they are while the frame lives") {
  Scratch<float> scratch;
  Scratch<float>::Frame frame(scratch);
  std::vector<float*> starts;
  for (Index size : {1, 3, 17, 100'000, 1, 500'000}) {
    VectorRef<float> numbers = scratch.vector(size);
    REQUIRE(reinterpret_cast<std::uintptr_t>(numbers.data()) % buffer_alignment == 0);
    numbers.setConstant(static_cast<float>(size));
    starts.push_back(numbers.data());
  }
  CHECK(*starts[0] == 1);
  CHECK(*starts[1] == 3);
  CHECK(starts[2][16] == 17);
  CHECK(starts[3][99'999] == 100'000);
  CHECK(starts[5][499'999] == 500'000);
}

TEST_CASE("scratch memory is given back at the end of a frame, and the second use allocates nothing") {
  Scratch<double> scratch;
  const auto use = [&scratch](Index size) {
    Scratch<double>::Frame frame(scratch);
    double* const outer = scratch.vector(size).data();
    Scratch<double>::Frame inner(scratch);
    scratch.matrix(size, 3);
    scratch.indices(size);
    return outer;
  };
  use(50'000);
  const std::size_t capacity = scratch.capacity();
  double* const second = use(50'000);
  CHECK(scratch.capacity() == capacity);
  CHECK(use(50'000) == second);
  CHECK(use(10) == second);
  CHECK(scratch.capacity() == capacity);
}

TEST_CASE("an inner frame gives back only its own buffers") {
  Scratch<float> scratch;
  Scratch<float>::Frame outer(scratch);
  VectorRef<float> kept = scratch.vector(10);
  kept.setOnes();
  for (int round = 0; round < 3; ++round) {
    Scratch<float>::Frame inner(scratch);
    scratch.vector(1'000'000).setZero();
  }
  scratch.vector(10).setZero();
  CHECK(kept.sum() == 10);
}

TEST_CASE("repeated inner frames that need a second block do not grow the scratch memory") {
  Scratch<float> scratch;
  Scratch<float>::Frame outer(scratch);
  scratch.vector(10);
  std::size_t capacity = 0;
  for (int round = 0; round < 5; ++round) {
    Scratch<float>::Frame inner(scratch);
    scratch.vector(1'000'000);
    if (round == 0) capacity = scratch.capacity();
    CHECK(scratch.capacity() == capacity);
  }
}
