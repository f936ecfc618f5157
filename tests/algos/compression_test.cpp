// Compressors, the adaptive quantiser, and the algorithms that send differences against dense loops with a copy of
// everything.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "algos/anq.hpp"
#include "algos/compressor.hpp"
#include "algos/entries.hpp"
#include "tests/support/quadratic_world.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

using Word = std::string;
using Whole = std::int64_t;

// Somebody who compresses; the choices are given.
struct Sender {
  explicit Sender(Index dimension) : client(entries::choco, {}, Vector<double>::Zero(dimension), pull_to_zero(dimension)) {}

  Compressed compress(const AlgorithmOptions& options, const Vector<double>& x, std::uint64_t number = 0) {
    Work<double> work = client.lend();
    return Compressor(options).compress(work, number, ClientId{0}, view(x));
  }
  // The vector as a receiver sees it.
  Vector<double> through(const AlgorithmOptions& options, const Vector<double>& x, std::uint64_t number = 0) {
    const Compressed compressed = compress(options, x, number);
    Vector<double> seen = Vector<double>::Zero(x.size());
    add_compressed<double>(compressed.values, compressed.coordinates, 1, view(seen));
    return seen;
  }
  LoneClient client;
};

AlgorithmOptions top(Whole k) { return options_of({{"compressor", Word("top")}, {"k", k}}); }
AlgorithmOptions rand(Whole k, bool unbiased) {
  return options_of({{"compressor", Word("rand")}, {"k", k}, {"unbiased", unbiased}});
}
AlgorithmOptions gsgd(Whole bits) { return options_of({{"compressor", Word("gsgd")}, {"bits", bits}}); }

// The k largest by size, ties at the lowest coordinate: found one after the other.
Vector<double> dull_top(const Vector<double>& x, int k) {
  Vector<double> kept = Vector<double>::Zero(x.size());
  std::vector<bool> taken(static_cast<std::size_t>(x.size()), false);
  for (int round = 0; round < k; ++round) {
    Index best = -1;
    for (Index l = 0; l < x.size(); ++l)
      if (!taken[static_cast<std::size_t>(l)] && (best < 0 || std::abs(x[l]) > std::abs(x[best]))) best = l;
    taken[static_cast<std::size_t>(best)] = true;
    kept[best] = x[best];
  }
  return kept;
}

Matrix<double> dull_top_rows(const Matrix<double>& x, int k) {
  Matrix<double> kept = x;
  for (Index i = 0; i < x.rows(); ++i) kept.row(i) = dull_top(x.row(i).transpose(), k).transpose();
  return kept;
}

}  // namespace

// ---- compressors

TEST_CASE("top-k keeps the k largest by size, and of equal ones those at the lowest coordinates") {
  Sender sender(5);
  const Vector<double> x = numbers({1, -3, 2, 3, -2});
  CHECK(sender.through(top(1), x) == numbers({0, -3, 0, 0, 0}));
  CHECK(sender.through(top(2), x) == numbers({0, -3, 0, 3, 0}));
  CHECK(sender.through(top(3), x) == numbers({0, -3, 2, 3, 0}));
  CHECK(sender.through(top(5), x) == x);
  CHECK(sender.through(top(2), Vector<double>::Zero(5)) == Vector<double>::Zero(5));
}

TEST_CASE("top-k agrees with picking the largest again and again, with many ties") {
  Sender sender(40);
  Stream stream(3, {0}, Purpose::noise);
  for (int trial = 0; trial < 50; ++trial) {
    Vector<double> x(40);
    for (double& value : x) value = std::round(2 * stream.normal());
    for (const int k : {1, 2, 7, 20, 39, 40}) REQUIRE(sender.through(top(k), x) == dull_top(x, k));
  }
}

TEST_CASE("numbers that are none count as the largest") {
  Sender sender(3);
  const Compressed kept = sender.compress(top(1), numbers({5, std::numeric_limits<double>::quiet_NaN(), 7}));
  CHECK(*kept.coordinates.data<std::uint32_t>() == 1);
}

TEST_CASE("rand-k keeps what is drawn, anew for each message, and every coordinate in its turn") {
  Sender sender(6);
  const Vector<double> x = Vector<double>::LinSpaced(6, 1, 6);
  Vector<double> times = Vector<double>::Zero(6);
  for (std::uint64_t number = 0; number < 3000; ++number) {
    const Vector<double> seen = sender.through(rand(2, false), x, number);
    for (Index l = 0; l < 6; ++l) {
      REQUIRE((seen[l] == 0 || seen[l] == x[l]));
      times[l] += seen[l] != 0;
    }
  }
  CHECK(times.sum() == 6000);
  for (const double count : times) CHECK(std::abs(count - 1000) < 5 * std::sqrt(1000.0));
}

TEST_CASE("the mean of unbiased rand-k over all choices is the vector") {
  Sender sender(4);
  const Vector<double> x = numbers({1, -2, 3, 5});
  Vector<double> sum = Vector<double>::Zero(4);
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < 4; ++i)
    for (std::uint32_t j = i + 1; j < 4; ++j) {
      sender.client.choices.coordinates[{number, 0}] = {i, j};
      sum += sender.through(rand(2, true), x, number++);
    }
  CHECK(number == 6);
  CHECK(distance(sum / 6, x) < 1e-15);
}

TEST_CASE("gsgd rounds up where the uniform number says so") {
  Sender sender(2);
  const Vector<double> x = numbers({3, -4});  // |x| = 5, steps of 5/2: 1.2 and 1.6 of them
  const auto rounded = [&](double u) {
    sender.client.choices.uniforms[0] = {u, u};
    return sender.through(gsgd(2), x);
  };
  CHECK(rounded(0) == numbers({2.5, -2.5}));
  CHECK(rounded(0.5) == numbers({2.5, -5}));
  CHECK(rounded(0.9) == numbers({5, -5}));
  CHECK(sender.through(gsgd(2), Vector<double>::Zero(2)) == Vector<double>::Zero(2));
}

TEST_CASE("the mean of gsgd over all uniform numbers is the vector") {
  Sender sender(3);
  const Vector<double> x = numbers({0.3, -4, 1.7});
  Vector<double> sum = Vector<double>::Zero(3);
  constexpr int points = 1000;
  for (int i = 0; i < points; ++i) {
    const double u = (i + 0.5) / points;
    sender.client.choices.uniforms[0] = {u, u, u};
    sum += sender.through(gsgd(4), x);
  }
  CHECK(distance(sum / points, x) < 1e-3);
}

TEST_CASE("bits are counted as papers do: addresses of ceil log2 n bits, values of 64") {
  Sender sender(9);
  const Vector<double> x = Vector<double>::LinSpaced(9, 1, 9);
  CHECK(sender.compress(options_of({{"compressor", Word("identity")}}), x).paper_bits == 9 * 64);
  CHECK(sender.compress(top(3), x).paper_bits == 3 * (64 + 4));
  CHECK(sender.compress(rand(3, false), x).paper_bits == 3 * (64 + 4));
  CHECK(sender.compress(gsgd(5), x).paper_bits == 9 * 5 + 64);
  Sender of_eight(8);
  CHECK(of_eight.compress(top(1), x.head(8)).paper_bits == 64 + 3);
}

// ---- the adaptive quantiser

TEST_CASE("a quantised number is at most eta + omega |x| away, whatever its size") {
  for (const double omega : {0.0, 0.05, 0.2, 0.7})
    for (const double eta : {1e-3, 0.1, 2.0}) {
      const Anq quantiser(eta, omega);
      for (double x = -50; x <= 50; x += 0.0173) {
        const double value = quantiser.value(quantiser.level(x));
        REQUIRE(std::abs(value - x) <= (eta + omega * std::abs(x)) * (1 + 1e-12));
      }
    }
}

TEST_CASE("the level is the least that is near enough: the one below would not do") {
  for (const double omega : {0.0, 0.2}) {
    const Anq quantiser(0.1, omega);
    for (double x = 0.13; x <= 50; x += 0.0173) {
      const std::int32_t level = quantiser.level(x);
      REQUIRE(level > 0);
      REQUIRE(x - quantiser.value(level - 1) > (0.1 + omega * x) * (1 - 1e-12));
    }
    CHECK(quantiser.level(0.09) == 0);
    CHECK(quantiser.value(0) == 0);
  }
}

TEST_CASE("levels have a sign, a limit, and a place for numbers that are none") {
  const Anq even(0.5, 0);
  CHECK(even.level(-3) == -3);  // spacing 1: (3 - 0.5) / 1 rounded up
  CHECK(even.value(-3) == -3);
  CHECK(even.level(1e300) == Anq::most_level);
  CHECK(even.level(-std::numeric_limits<double>::infinity()) == -Anq::most_level);
  CHECK(even.level(std::numeric_limits<double>::quiet_NaN()) == 0);
}

TEST_CASE("zigzag and Elias gamma give short codes to levels near zero") {
  for (const std::int32_t level : {0, -1, 1, -2, 2, 1000, -1000, Anq::most_level, -Anq::most_level})
    CHECK(level_of_zigzag(zigzag(level)) == level);
  CHECK(zigzag(-1) == 1);
  CHECK(zigzag(1) == 2);
  CHECK(elias_gamma_bits(0) == 1);
  CHECK(elias_gamma_bits(1) == 3);
  CHECK(elias_gamma_bits(2) == 3);
  CHECK(elias_gamma_bits(3) == 5);
  CHECK(elias_gamma_bits(6) == 5);
  CHECK(elias_gamma_bits(7) == 7);
}

// ---- CHOCO-SGD

TEST_CASE("CHOCO with everything sent and gamma = 1 is adapt then combine") {
  const QuadraticWorld world(6, 3, 21);
  LockStep run = world.lock_step(entries::choco, options_of({{"eta", 0.1}, {"gamma", 1.0}, {"compressor", Word("identity")}}));
  LockStep atc = world.lock_step(entries::dpsgd, options_of({{"eta", 0.1}}));
  run.run(15);
  atc.run(15);
  CHECK(distance(models(run, 6), models(atc, 6)) < 1e-12);
}

TEST_CASE("CHOCO's one sum of what was heard does what a copy of every neighbour would, and keeps the mean model exact") {
  const QuadraticWorld world(6, 5, 22);
  LockStep run = world.lock_step(entries::choco, options_of({{"eta", 0.1}, {"gamma", 0.4}, {"k", Whole{2}}}));
  Matrix<double> x = world.start, xhat = Matrix<double>::Zero(6, 5);
  run.run(25, [&](std::uint64_t round) {
    if (round > 0) {
      const Vector<double> mean = mean_of(x) - 0.1 * mean_of(world.gradients(x));
      x -= 0.1 * world.gradients(x);
      xhat += dull_top_rows(x - xhat, 2);
      x += 0.4 * (world.weights * xhat - xhat);
      REQUIRE(distance(mean_of(models(run, 6)), mean) < 1e-12);
    }
    REQUIRE(distance(models(run, 6), x) < 1e-12);
    REQUIRE(distance(shown(run, 6, "xhat"), xhat) < 1e-12);
  });
}

TEST_CASE("in continuous time a model moves towards the copies of those whose messages came, once each") {
  LoneClient client(entries::choco, options_of({{"gamma", 0.5}, {"k", Whole{1}}}), numbers({8, 0}), pull_to_zero(2));
  client.publish(0);  // xhat = (8, 0)
  const Payload first = client.payload(numbers({4}), {0}), second = client.payload(numbers({2}), {1}),
                other = client.payload(numbers({6}), {1});
  client.merge({{{1}, 0.5, first}});  // copy of 1: (4, 0); x += 1/4 (-4, 0)
  CHECK(client.model() == numbers({7, 0}));
  client.merge({{{1}, 0.5, second}, {{2}, 0.25, other}, {{1}, 0.5, second}});
  // copies (4, 4) and (0, 6): x += 1/4 (4 - 8, 4) + 1/8 (0 - 8, 6)
  CHECK(client.model() == numbers({5, 1.75}));
}

TEST_CASE("a resync overwrites the copy and moves nothing, and what follows is as if nothing had been lost") {
  const AlgorithmOptions options = options_of({{"gamma", 0.5}, {"k", Whole{1}}});
  LoneClient sender(entries::choco, options, numbers({4, 2}), pull_to_zero(2), false, {1});
  LoneClient careful(entries::choco, options, numbers({1, 1}), pull_to_zero(2));
  LoneClient careless(entries::choco, options, numbers({1, 1}), pull_to_zero(2));
  const Payload first = sender.publish(0), second = sender.publish(1);
  const Vector<double> xhat = sender.shown("xhat");
  const Payload whole = sender.publish(2, MessageKind::resync);
  CHECK(Vector<double>(numbers_of<double>(whole.common[0])) == xhat);
  CHECK(sender.shown("xhat") == xhat);
  sender.compute();
  const Payload third = sender.publish(3);
  careful.merge({{{1}, 0.0, first}});
  careful.merge({{{1}, 0.0, second}});
  careless.merge({{{1}, 0.5, whole}}, MessageKind::resync);
  CHECK(careless.model() == numbers({1, 1}));
  careful.merge({{{1}, 0.5, third}});
  careless.merge({{{1}, 0.5, third}});
  CHECK(careless.model() == careful.model());
}

TEST_CASE("CHOCO wants every message of a link, in order") {
  CHECK(entries::choco.needs({}).in_order);
  CHECK(entries::choco.needs({}).keep == Keep::all);
  CHECK_FALSE(entries::choco.allows_missing);
}

TEST_CASE("a compressed message holds the coordinates and their values, and says what the paper counts") {
  LoneClient client(entries::choco, options_of({{"k", Whole{2}}}), numbers({1, -5, 0, 3}), pull_to_zero(4));
  const Payload payload = client.publish(0);
  REQUIRE(payload.common[0].count() == 2);
  REQUIRE(payload.common[1].count() == 2);
  CHECK(payload.message_bytes() == 2 * 8 + 2 * 4);
  CHECK(payload.message_paper_bits() == 2 * (64 + 2));
}

// ---- BEER

TEST_CASE("BEER is what its equations say with a copy of every neighbour, and the mean tracker is the mean gradient") {
  const QuadraticWorld world(6, 5, 23);
  LockStep run = world.lock_step(entries::beer, options_of({{"eta", 0.05}, {"gamma", 0.3}, {"k", Whole{2}}}));
  Matrix<double> x = world.start, h = Matrix<double>::Zero(6, 5), gh = h, g = world.gradients(x), v = g;
  const Matrix<double> mixed = world.weights - Matrix<double>::Identity(6, 6);
  run.run(25, [&](std::uint64_t round) {
    if (round > 0) {
      x += 0.3 * mixed * h - 0.05 * v;
      h += dull_top_rows(x - h, 2);
      v += 0.3 * mixed * gh + world.gradients(x) - g;
      g = world.gradients(x);
      gh += dull_top_rows(v - gh, 2);
    }
    REQUIRE(distance(models(run, 6), x) < 1e-12);
    REQUIRE(distance(shown(run, 6, "v"), v) < 1e-12);
    REQUIRE(distance(shown(run, 6, "h"), h) < 1e-12);
    REQUIRE(distance(shown(run, 6, "g"), gh) < 1e-12);
    REQUIRE(distance(mean_of(shown(run, 6, "v")), mean_of(world.gradients(models(run, 6)))) < 1e-12);
  });
}

TEST_CASE("BEER comes to the optimum although only two of five coordinates are sent") {
  const QuadraticWorld world(6, 5, 24);
  LockStep run = world.lock_step(entries::beer, options_of({{"eta", 0.05}, {"gamma", 0.3}, {"k", Whole{2}}}));
  run.run(3000);
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(distance(run.model(i), world.optimum()) < 1e-8);
}

// ---- NIDS

TEST_CASE("NIDS is (I + W)/2 (2 x - x_before - eta (g - g_before)), and the mean model follows the mean gradient") {
  const QuadraticWorld world(6, 3, 25);
  LockStep run = world.lock_step(entries::nids, options_of({{"eta", 0.3}}));
  const Matrix<double> half = 0.5 * (Matrix<double>::Identity(6, 6) + world.weights);
  std::vector<Matrix<double>> x{world.start};
  run.run(20, [&](std::uint64_t round) {
    if (round > 0) {
      const Matrix<double>& now = x.back();
      Matrix<double> next = now - 0.3 * world.gradients(now);
      if (round > 1) {
        const Matrix<double>& before = x[x.size() - 2];
        next = half * (2 * now - before - 0.3 * (world.gradients(now) - world.gradients(before)));
      }
      REQUIRE(distance(mean_of(next), mean_of(now) - 0.3 * mean_of(world.gradients(now))) < 1e-12);
      x.push_back(next);
    }
    REQUIRE(distance(models(run, 6), x.back()) < 1e-12);
  });
}

TEST_CASE("NIDS comes to the optimum with a constant step") {
  const QuadraticWorld world(6, 3, 26);
  LockStep run = world.lock_step(entries::nids, options_of({{"eta", 0.5}}));
  run.run(400);
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(distance(run.model(i), world.optimum()) < 1e-10);
}

TEST_CASE("a NIDS client that adopts a model takes a first step again") {
  LoneClient client(entries::nids, options_of({{"eta", 0.5}}), numbers({8}), pull_to_zero(1), true);
  client.compute(0);
  client.compute(1);
  const Vector<double> given = numbers({2});
  client.algorithm().adopt(view(given));
  CHECK(client.model() == given);
  client.compute(2);
  CHECK(client.model() == numbers({1}));
}

// ---- ANQ-NIDS

TEST_CASE("ANQ-NIDS does what copies of everybody's levels would, the quantiser ever finer, and keeps the mean exact") {
  const QuadraticWorld world(6, 3, 27);
  LockStep run =
      world.lock_step(entries::anq_nids, options_of({{"eta", 0.3}, {"q_eta0", 0.2}, {"q_decay", 0.9}, {"q_omega", 0.2}}));
  Matrix<double> x = world.start, s, chat = Matrix<double>::Zero(6, 3);
  run.run(20, [&](std::uint64_t round) {
    if (round > 0) {
      const Vector<double> mean = mean_of(x) - 0.3 * mean_of(world.gradients(x));
      const Matrix<double> stepped = x - 0.3 * world.gradients(x);
      x = round == 1 ? stepped : Matrix<double>(x + stepped - s);
      s = stepped;
      if (round > 1) {
        const Anq quantiser(0.2 * std::pow(0.9, static_cast<double>(round) - 2), 0.2);
        for (Index i = 0; i < 6; ++i)
          for (Index l = 0; l < 3; ++l) chat(i, l) += quantiser.value(quantiser.level(x(i, l) - chat(i, l)));
        x += 0.5 * (world.weights * chat - chat);
      }
      REQUIRE(distance(mean_of(models(run, 6)), mean) < 1e-12);
    }
    REQUIRE(distance(models(run, 6), x) < 1e-11);
    REQUIRE(distance(shown(run, 6, "chat"), chat) < 1e-11);
  });
}

TEST_CASE("ANQ-NIDS comes to the optimum, and goes on when its quantiser is finer than any number") {
  const QuadraticWorld world(6, 3, 28);
  LockStep run =
      world.lock_step(entries::anq_nids, options_of({{"eta", 0.3}, {"q_eta0", 0.2}, {"q_decay", 0.7}, {"q_omega", 0.1}}));
  run.run(3000);
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(distance(run.model(i), world.optimum()) < 1e-9);
}

TEST_CASE("a message of ANQ-NIDS costs the Elias gamma codes of its levels") {
  LoneClient client(entries::anq_nids, options_of({{"q_eta0", 0.5}, {"q_omega", 0.0}}), numbers({0.2, -1, 3}), pull_to_zero(3),
                    true);
  const Payload payload = client.publish(1);  // levels 0, -1, 3: codes 0, 1, 6
  CHECK(client.shown("levels") == numbers({0, -1, 3}));
  CHECK(payload.message_paper_bits() == 1 + 3 + 5);
}

// ---- rounds without exchanges, and exchanges in which not all tell ([protocol] exchange_every, participation)

namespace {

constexpr std::uint32_t period = 3;

// Exchanges in the last of every three rounds; in the first of them all tell, later some.
bool exchanges_in(std::uint64_t round) { return (round + 1) % period == 0; }
bool tells(std::uint64_t round, std::uint32_t client) { return round < period || (round / period + client) % 2 == 0; }

LockStep sparse(const QuadraticWorld& world, const CatalogueEntry& entry, const AlgorithmOptions& options) {
  RoundProgram program = entry.needs(options).program;
  program.round = with_period(program.round, period);
  return world.lock_step(
      entry, options,
      {.graph = world.graph, .program = program, .merge = {world.weights}, .tells = [](std::uint64_t round, ClientId client) {
         return tells(round, client.value);
       }});
}

// believed <- believed + C(x - believed) in the rows of those who tell.
void tell(Matrix<double>& believed, const Matrix<double>& x, std::uint64_t round, int k) {
  const Matrix<double> news = dull_top_rows(x - believed, k);
  for (Index i = 0; i < x.rows(); ++i)
    if (tells(round, static_cast<std::uint32_t>(i))) believed.row(i) += news.row(i);
}

}  // namespace

TEST_CASE("BEER with a period and silent clients: W is the identity in between, the mean tracker stays the mean gradient") {
  const QuadraticWorld world(6, 5, 33);
  LockStep run = sparse(world, entries::beer, options_of({{"eta", 0.05}, {"gamma", 0.3}, {"k", Whole{2}}}));
  Matrix<double> x = world.start, h = Matrix<double>::Zero(6, 5), gh = h, g = world.gradients(x), v = g;
  const Matrix<double> mixed = world.weights - Matrix<double>::Identity(6, 6);
  run.run(24, [&](std::uint64_t done) {
    if (done > 0) {
      const std::uint64_t round = done - 1;
      const bool was_exchange = round > 0 && exchanges_in(round - 1);
      if (was_exchange) x += 0.3 * mixed * h;
      x -= 0.05 * v;
      if (exchanges_in(round)) tell(h, x, round, 2);
      if (was_exchange) v += 0.3 * mixed * gh;
      v += world.gradients(x) - g;
      g = world.gradients(x);
      if (exchanges_in(round)) tell(gh, v, round, 2);
    }
    REQUIRE(distance(models(run, 6), x) < 1e-12);
    REQUIRE(distance(shown(run, 6, "v"), v) < 1e-12);
    REQUIRE(distance(shown(run, 6, "h"), h) < 1e-12);
    REQUIRE(distance(mean_of(shown(run, 6, "v")), mean_of(world.gradients(models(run, 6)))) < 1e-12);
  });
  run.run(3000);
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(distance(run.model(i), world.optimum()) < 1e-8);
}

TEST_CASE("CHOCO with a period and silent clients moves no mean but by gradients") {
  const QuadraticWorld world(6, 5, 34);
  LockStep run = sparse(world, entries::choco, options_of({{"eta", 0.05}, {"gamma", 0.3}, {"k", Whole{2}}}));
  Matrix<double> x = world.start, xhat = Matrix<double>::Zero(6, 5);
  run.run(24, [&](std::uint64_t done) {
    if (done > 0) {
      const std::uint64_t round = done - 1;
      const Vector<double> mean = mean_of(x) - 0.05 * mean_of(world.gradients(x));
      x -= 0.05 * world.gradients(x);
      if (exchanges_in(round)) {
        tell(xhat, x, round, 2);
        x += 0.3 * (world.weights * xhat - xhat);
      }
      REQUIRE(distance(mean_of(models(run, 6)), mean) < 1e-12);
    }
    REQUIRE(distance(models(run, 6), x) < 1e-12);
    REQUIRE(distance(shown(run, 6, "xhat"), xhat) < 1e-12);
  });
}

TEST_CASE("ANQ-NIDS with a period and silent clients keeps the mean exact, and its quantiser is that of the exchange") {
  const QuadraticWorld world(6, 3, 37);
  LockStep run = sparse(world, entries::anq_nids, options_of({{"eta", 0.3}, {"q_eta0", 0.2}, {"q_decay", 0.9}, {"q_omega", 0.2}}));
  Matrix<double> x = world.start, s, chat = Matrix<double>::Zero(6, 3);
  int exchange = 0;
  run.run(24, [&](std::uint64_t done) {
    if (done > 0) {
      const std::uint64_t round = done - 1;
      const Vector<double> mean = mean_of(x) - 0.3 * mean_of(world.gradients(x));
      const Matrix<double> stepped = x - 0.3 * world.gradients(x);
      x = round == 0 ? stepped : Matrix<double>(x + stepped - s);
      s = stepped;
      if (exchanges_in(round)) {
        const Anq quantiser(0.2 * std::pow(0.9, exchange++), 0.2);
        for (Index i = 0; i < 6; ++i)
          for (Index l = 0; l < 3 && tells(round, static_cast<std::uint32_t>(i)); ++l)
            chat(i, l) += quantiser.value(quantiser.level(x(i, l) - chat(i, l)));
        x += 0.5 * (world.weights * chat - chat);
      }
      REQUIRE(distance(mean_of(models(run, 6)), mean) < 1e-12);
    }
    REQUIRE(distance(models(run, 6), x) < 1e-11);
    REQUIRE(distance(shown(run, 6, "chat"), chat) < 1e-11);
  });
}

TEST_CASE("NIDS with a period and pairs that meet keeps the mean exact and comes to the optimum") {
  const QuadraticWorld world(6, 3, 35);
  const AlgorithmOptions options = options_of({{"eta", 0.3}});
  RoundProgram program = entries::nids.needs(options).program;
  program.round = with_period(program.round, period);
  const auto meet = [](std::uint64_t round, std::uint32_t i, std::uint32_t j) { return (round / period + i + j) % 3 != 0; };
  LockStep run = world.lock_step(
      entries::nids, options,
      {.graph = world.graph,
       .program = program,
       .merge = {world.weights},
       .uses_link = [&](std::uint64_t round, std::uint8_t, ClientId i, ClientId j) { return meet(round, i.value, j.value); }});
  Matrix<double> x = world.start, s;
  run.run(24, [&](std::uint64_t done) {
    if (done > 0) {
      const std::uint64_t round = done - 1;
      const Vector<double> mean = mean_of(x) - 0.3 * mean_of(world.gradients(x));
      const Matrix<double> stepped = x - 0.3 * world.gradients(x);
      x = round == 0 ? stepped : Matrix<double>(x + stepped - s);
      s = stepped;
      if (exchanges_in(round)) {
        Matrix<double> w = world.weights;
        for (std::uint32_t i = 0; i < 6; ++i)
          for (std::uint32_t j = 0; j < 6; ++j)
            if (i != j && !meet(round, i, j)) w(i, i) += w(i, j), w(i, j) = 0;
        x = (0.5 * (x + w * x)).eval();
      }
      REQUIRE(distance(mean_of(models(run, 6)), mean) < 1e-12);
    }
    REQUIRE(distance(models(run, 6), x) < 1e-12);
  });
  run.run(3000);
  for (std::uint32_t i = 0; i < 6; ++i) CHECK(distance(run.model(i), world.optimum()) < 1e-9);
}

// ---- floats and options

TEST_CASE("sender and receiver of floats agree on every copy, bit for bit") {
  TensorPool pool;
  Scratch<float> scratch;
  const auto learner = make_quadratic<float>(Matrix<float>::Identity(4, 4), Vector<float>::Zero(4));
  const Vector<float> start = (Vector<float>(4) << 0.1f, -5.3f, 0.7f, 3.9f).finished();
  const BatchPlan plan;
  Work<float> work(*learner, plan, scratch, pool);
  for (const char* kind : {"identity", "top", "rand", "gsgd"}) {
    CAPTURE(kind);
    const auto algorithm =
        make_algorithm<float>(entries::choco, options_of({{"compressor", Word(kind)}, {"k", Whole{2}}}))({}, view(start), pool);
    Vector<float> copy = Vector<float>::Zero(4);
    for (std::uint64_t number = 0; number < 20; ++number) {
      algorithm->compute(work, {.index = number});
      const Payload payload = algorithm->publish(work, {.kind = StepKind::publish, .index = number});
      add_compressed<float>(payload.common[0], payload.common[1], 1, view(copy));
      NamedVectors probe;
      algorithm->inspect(probe);
      REQUIRE(probe.seen.at("xhat") == Vector<double>(copy.cast<double>()));
    }
  }
}

TEST_CASE("options of the compressed family that cannot be are refused with the condition that fails") {
  const auto complaint = [](const CatalogueEntry& entry, const char* name, AlgorithmOptions::Value value) {
    return complaint_about(entry, options_of({{name, std::move(value)}}));
  };
  CHECK(complaint(entries::choco, "compressor", Word("zip")) ==
        "algorithm.compressor = \"zip\": must be \"identity\", \"top\", \"rand\" or \"gsgd\"");
  CHECK(complaint(entries::choco, "k", Whole{0}) == "algorithm.k = 0: must be at least 1");
  CHECK(complaint(entries::beer, "bits", Whole{33}) == "algorithm.bits = 33: must be at least 1 and at most 32");
  CHECK(complaint(entries::beer, "gamma", 1.5) == "algorithm.gamma = 1.5: must be greater than 0 and at most 1");
  CHECK(complaint(entries::nids, "eta", -1.0) == "algorithm.eta = -1: must be greater than 0");
  CHECK(complaint(entries::anq_nids, "q_omega", 1.0) == "algorithm.q_omega = 1: must be at least 0 and less than 1");
  CHECK(complaint(entries::anq_nids, "q_decay", 1.5) == "algorithm.q_decay = 1.5: must be greater than 0 and at most 1");
}

TEST_CASE("a compressor that would keep more than there is refuses to start") {
  for (const CatalogueEntry* entry : {&entries::choco, &entries::beer})
    CHECK_THROWS_WITH_AS(LoneClient(*entry, top(4), numbers({1, 2, 3}), pull_to_zero(3)),
                         "algorithm.k = 4: the model has only 3 numbers", std::invalid_argument);
}
