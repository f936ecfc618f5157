// Frames: what is written is read again; whatever else arrives is refused, and no length is believed.
#include "transports/frame.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "runtime/checksum.hpp"
#include "tests/support/limited_allocations.hpp"
#include "tests/support/property.hpp"
#include "tests/transports/collector.hpp"
#include "transports/reception.hpp"

using namespace rubato;
using namespace rubato::test;

namespace {

constexpr FrameLimits small{.parcel_bytes = 10'000, .piece_bytes = 3'000};

using Message = std::vector<std::vector<std::byte>>;  // the parts of a frame

Message message_of(const Envelope& envelope, const Parcel& parcel, std::size_t first, std::size_t bytes, bool is_summed = true) {
  KnownSums sums;
  WrittenFrame frame;
  write_frame(envelope, parcel, first, bytes, is_summed ? &sums : nullptr, frame);
  Message message{frame.first_part};
  for (const TensorSlice& slice : frame.slices) {
    const std::byte* const data = parcel.tensors[slice.tensor].data<std::byte>() + slice.first;
    message.emplace_back(data, data + slice.bytes);
  }
  return message;
}

/// All frames of a parcel, from host 0 to host 1; the sequence goes on from `sequence`.
std::vector<Message> frames_of(const Parcel& parcel, const FrameLimits& limits, std::uint64_t& sequence, std::uint64_t life = 1) {
  std::vector<Message> frames;
  std::size_t first = 0;
  do {
    const std::size_t bytes = std::min(limits.piece_bytes, parcel.bytes() - first);
    frames.push_back(message_of({a, b, life, ++sequence}, parcel, first, bytes));
    first += bytes;
  } while (first < parcel.bytes());
  return frames;
}

std::vector<FramePart> parts_of(const Message& message) { return {message.begin(), message.end()}; }

std::optional<FrameFault> fault_of(const Message& message, const FrameLimits& limits = small) {
  const auto parts = parts_of(message);
  const auto read = read_frame(parts, limits);
  const auto* const fault = std::get_if<FrameFault>(&read);
  return fault ? std::optional(*fault) : std::nullopt;
}

template <class Number>
void overwrite(Message& message, std::size_t at, Number number) {
  std::memcpy(message[0].data() + at, &number, sizeof number);
}

/// So that what was overwritten is not refused for its checksum.
void seal(Message& message, std::size_t tensors) {
  const std::size_t end = 64 + 16 * tensors;
  overwrite(message, end, checksum(FramePart(message[0]).first(end)));
}

struct Desk {
  TensorPool pool;
  Reception reception;
  explicit Desk(const FrameLimits& limits = small, std::size_t receive_bytes = 1 << 20)
      : reception{b, 2, limits, receive_bytes, pool} {}

  std::optional<Parcel> take(const Message& message, std::optional<HostId> who = a) {
    const auto parts = parts_of(message);
    auto arrived = reception.take(parts, who);
    if (!arrived) return {};
    return std::move(arrived->parcel);
  }
  const TransportCounts& counts() const { return reception.counts(); }
};

Parcel some_parcel(TensorPool& pool) {
  Parcel parcel = numbered(77);
  parcel.tensors = {tensor_of(pool, Scalar::float32, 1000), tensor_of(pool, Scalar::float64, 5), Tensor{},
                    tensor_of(pool, Scalar::uint32, 0), tensor_of(pool, Scalar::uint32, 700)};
  return parcel;
}

bool same(const Parcel& one, const Parcel& other) {
  if (one.kind != other.kind || one.head != other.head || one.tensors.size() != other.tensors.size()) return false;
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    const Tensor &first = one.tensors[i], &second = other.tensors[i];
    if (static_cast<bool>(first) != static_cast<bool>(second) || (first && !are_equal(first, second))) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a checksum changes with every bit, with the order of the words and with the length") {
  std::vector<std::byte> bytes(200);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
  const std::uint64_t sum = checksum(bytes);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    CHECK(checksum(bytes) != sum);
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  std::swap_ranges(bytes.begin(), bytes.begin() + 64, bytes.begin() + 64);
  CHECK(checksum(bytes) != sum);
  const std::vector<std::byte> zeros(130);
  for (std::size_t size = 1; size < zeros.size(); ++size)
    CHECK(checksum(FramePart(zeros).first(size)) != checksum(FramePart(zeros).first(size - 1)));
}

TEST_CASE("the checksum is the one that is written down, on every machine") {
  std::vector<std::byte> bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  const auto mixed = [](std::uint64_t state, std::uint64_t word) {
    state = ((state << 27 | state >> 37) ^ word) * 0x9E37'79B9'7F4A'7C15;
    return state ^ state >> 31;
  };
  std::uint64_t sums[8]{}, products[8]{};
  for (std::size_t k = 0; k < 1024 / 8; ++k) {
    std::uint64_t word = 0;
    if (8 * k < bytes.size()) std::memcpy(&word, bytes.data() + 8 * k, 8);
    const std::uint64_t mix = word ^ (k + 1) * 0x9E37'79B9'7F4A'7C15;
    sums[k % 8] += word;
    products[k % 8] += (mix & 0xFFFF'FFFF) * (mix >> 32);
  }
  std::uint64_t expected = mixed(0, 1000);
  for (int i = 0; i < 8; ++i) expected = mixed(mixed(expected, sums[i]), products[i]);
  expected = mixed(expected, 0x9E37'79B9'7F4A'7C15);
  CHECK(checksum(bytes) == expected);
  std::vector<std::byte> copy(bytes.size());
  CHECK(copy_with_checksum(copy.data(), bytes) == expected);
  CHECK(copy == bytes);
}

TEST_CASE("a frame lies on the wire as docs/wire-format.md says") {
  TensorPool pool;
  Parcel parcel{ParcelKind::message, WhenFull::wait, false, {std::byte{0xAA}, std::byte{0xBB}}, {}};
  parcel.tensors = {tensor_of(pool, Scalar::float64, 3)};
  const Message message = message_of({HostId{3}, HostId{4}, 0x0102030405060708, 9}, parcel, 0, parcel.bytes());
  REQUIRE(message.size() == 2);
  const std::vector<std::byte>& first = message[0];
  REQUIRE(first.size() == 64 + 16 + 8 + 2);
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(first[at + i]);
    return value;
  };
  CHECK(number(0, 4) == 0x46544252);  // "RBTF"
  CHECK(number(4, 2) == 2);
  CHECK(number(6, 1) == 4);
  CHECK(number(7, 1) == 0);
  CHECK(number(8, 4) == 3);
  CHECK(number(12, 4) == 4);
  CHECK(number(16, 8) == 0x0102030405060708);
  CHECK(number(24, 8) == 9);
  CHECK(number(32, 4) == 2);
  CHECK(number(36, 4) == 1);
  CHECK(number(40, 8) == 0);
  CHECK(number(48, 8) == 26);
  const std::uint64_t head_sum = joined_checksum(0, checksum(FramePart(first).last(2)));
  CHECK(number(56, 8) == joined_checksum(head_sum, checksum(message[1])));
  CHECK(number(64, 8) == 3);
  CHECK(number(72, 8) == 1);
  CHECK(number(80, 8) == checksum(FramePart(first).first(80)));
  CHECK(number(88, 2) == 0xBBAA);
}

TEST_CASE("what is written is read again, in one piece or in many") {
  TensorPool pool;
  const std::string counterexample = broken([&] {
    Parcel parcel;
    parcel.kind = ParcelKind{*rc::gen::inRange<std::uint8_t>(1, last_parcel_kind + 1)};
    parcel.head.resize(*rc::gen::inRange<std::size_t>(0, 200));
    for (int i = *rc::gen::inRange(0, 6); i > 0; --i)
      parcel.tensors.push_back(tensor_of(pool, *rc::gen::element(Scalar::float32, Scalar::float64, Scalar::uint32),
                                         *rc::gen::inRange<std::size_t>(0, 100)));
    const FrameLimits limits{
        .parcel_bytes = 1 << 20, .piece_bytes = *rc::gen::inRange<std::size_t>(1, 500), .least_piece_bytes = 1};
    Desk dispatcher(limits);
    std::uint64_t sequence = 0;
    const auto frames = frames_of(parcel, limits, sequence);
    for (std::size_t i = 0; i + 1 < frames.size(); ++i) RC_ASSERT_FALSE(dispatcher.take(frames[i]));
    const auto received = dispatcher.take(frames.back());
    RC_ASSERT(received.has_value());
    RC_ASSERT(same(*received, parcel));
    RC_ASSERT(dispatcher.counts().malformed == 0u);
  });
  CHECK(counterexample == "");
}

TEST_CASE("a frame that was cut anywhere, or has a part too many, is malformed") {
  TensorPool pool;
  Parcel parcel = numbered(1);
  parcel.tensors = {tensor_of(pool, Scalar::float32, 10), tensor_of(pool, Scalar::uint32, 3)};
  const Message whole = message_of({a, b, 1, 1}, parcel, 0, parcel.bytes());
  REQUIRE_FALSE(fault_of(whole));
  for (std::size_t part = 0; part < whole.size(); ++part)
    for (std::size_t size = 0; size < whole[part].size(); ++size) {
      Message cut = whole;
      cut[part].resize(size);
      CHECK(fault_of(cut) == FrameFault::malformed);
    }
  for (std::size_t parts = 0; parts < whole.size(); ++parts)
    CHECK(fault_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(parts)}) == FrameFault::malformed);
  Message longer = whole;
  longer.emplace_back();
  CHECK(fault_of(longer) == FrameFault::malformed);
  longer = whole;
  longer[2].emplace_back();
  CHECK(fault_of(longer) == FrameFault::malformed);
}

TEST_CASE("no flipped bit gets through") {
  TensorPool pool;
  Parcel parcel = numbered(1);
  parcel.tensors = {tensor_of(pool, Scalar::float32, 10), tensor_of(pool, Scalar::uint32, 3)};
  const Message whole = message_of({a, b, 1, 1}, parcel, 0, parcel.bytes());
  for (std::size_t part = 0; part < whole.size(); ++part)
    for (std::size_t bit = 0; bit < 8 * whole[part].size(); ++bit) {
      Message flipped = whole;
      flipped[part][bit / 8] ^= std::byte{1} << (bit % 8);
      Desk dispatcher;
      CHECK_FALSE(dispatcher.take(flipped));
      CHECK(dispatcher.counts().malformed + dispatcher.counts().unknown + dispatcher.counts().oversized == 1);
    }
}

TEST_CASE("a piece without a checksum is taken as it comes, unless it was spoilt; its header is still sealed") {
  TensorPool pool;
  Parcel parcel = numbered(1);
  parcel.tensors = {tensor_of(pool, Scalar::float32, 10)};
  const Message whole = message_of({a, b, 1, 1}, parcel, 0, parcel.bytes(), false);
  CHECK(whole[0][7] == std::byte{1});
  Desk dispatcher;
  const auto received = dispatcher.take(whole);
  REQUIRE(received);
  CHECK(same(*received, parcel));
  Message flipped = message_of({a, b, 1, 2}, parcel, 0, parcel.bytes(), false);
  flipped[0][20] ^= std::byte{1};
  CHECK_FALSE(dispatcher.take(flipped));
  parcel.is_spoilt = true;
  CHECK_FALSE(dispatcher.take(message_of({a, b, 1, 3}, parcel, 0, parcel.bytes(), false)));
  CHECK(dispatcher.counts().malformed == 2);
}

TEST_CASE("noise never gets through and never throws") {
  const std::string counterexample = broken(
      [&] {
        Message noise(*rc::gen::inRange<std::size_t>(0, 4));
        for (auto& part : noise) {
          const auto bytes = *rc::gen::container<std::vector<std::uint8_t>>(rc::gen::arbitrary<std::uint8_t>());
          for (const std::uint8_t byte : bytes) part.push_back(std::byte{byte});
        }
        RC_ASSERT(fault_of(noise).has_value());
      },
      500);
  CHECK(counterexample == "");
}

TEST_CASE("a header that lies is refused before memory is taken, however well it is sealed") {
  TensorPool pool;
  Parcel parcel = numbered(1);
  parcel.tensors = {tensor_of(pool, Scalar::float32, 10)};
  const Message whole = message_of({a, b, 1, 1}, parcel, 0, parcel.bytes());
  const auto changed = [&](std::size_t at, auto number) {
    Message message = whole;
    overwrite(message, at, number);
    seal(message, 1);
    return fault_of(message);
  };
  CHECK(changed(4, std::uint16_t{1}) == FrameFault::unknown);
  CHECK(changed(4, std::uint16_t{3}) == FrameFault::unknown);
  CHECK(changed(6, std::uint8_t{0}) == FrameFault::unknown);
  CHECK(changed(6, std::uint8_t{last_parcel_kind + 1}) == FrameFault::unknown);
  CHECK(changed(7, std::uint8_t{1}) == FrameFault::malformed);  // it has a checksum and says that it has none
  CHECK(changed(7, std::uint8_t{2}) == FrameFault::unknown);
  CHECK(changed(7, std::uint8_t{129}) == FrameFault::unknown);
  CHECK(changed(32, std::uint32_t{0xFFFF'FFFF}) == FrameFault::oversized);
  CHECK(changed(32, std::uint32_t{most_head_bytes + 1}) == FrameFault::oversized);
  CHECK(changed(36, std::uint32_t{most_frame_tensors + 1}) == FrameFault::oversized);
  CHECK(changed(36, std::uint32_t{0xFFFF'FFFF}) == FrameFault::oversized);
  CHECK(changed(36, std::uint32_t{0}) == FrameFault::malformed);
  for (const std::uint64_t count : {std::uint64_t{2500}, std::uint64_t{1} << 32, std::uint64_t{1} << 62, ~std::uint64_t{0}})
    CHECK(changed(64, count) == FrameFault::oversized);
  CHECK(changed(64, std::uint64_t{9}) == FrameFault::malformed);
  CHECK(changed(72, std::uint8_t{3}) == FrameFault::malformed);
  CHECK(changed(72, std::uint8_t{0xFF}) == FrameFault::malformed);
  CHECK(changed(73, std::uint8_t{1}) == FrameFault::malformed);
  CHECK(changed(40, std::uint64_t{1}) == FrameFault::malformed);
  CHECK(changed(40, ~std::uint64_t{0}) == FrameFault::malformed);
  CHECK(changed(48, std::uint64_t{3001}) == FrameFault::oversized);
  CHECK(changed(48, ~std::uint64_t{0}) == FrameFault::oversized);
  CHECK(changed(48, std::uint64_t{0}) == FrameFault::malformed);
  CHECK(changed(48, std::uint64_t{47}) == FrameFault::malformed);
  CHECK_FALSE(changed(48, std::uint64_t{48}));
}

TEST_CASE("a frame that came before, or was sent in an earlier life, is dropped and counted") {
  Desk dispatcher;
  std::uint64_t sequence = 0;
  const auto one = frames_of(numbered(1), small, sequence), two = frames_of(numbered(2), small, sequence);
  CHECK(dispatcher.take(one[0]));
  CHECK(dispatcher.take(two[0]));
  CHECK_FALSE(dispatcher.take(two[0]));
  CHECK_FALSE(dispatcher.take(one[0]));
  CHECK(dispatcher.counts().replayed == 2);
  std::uint64_t restarted = 0;
  CHECK(dispatcher.take(frames_of(numbered(3), small, restarted, 2)[0]));
  CHECK_FALSE(dispatcher.take(frames_of(numbered(4), small, sequence, 1)[0]));
  CHECK(dispatcher.counts().stale == 1);
  CHECK(dispatcher.counts().received == 3);
}

TEST_CASE("a frame is believed only from the host whose connection brought it") {
  Desk dispatcher;
  std::uint64_t sequence = 0;
  const auto frames = frames_of(numbered(1), small, sequence);
  CHECK_FALSE(dispatcher.take(frames[0], b));
  CHECK_FALSE(dispatcher.take(message_of({HostId{2}, b, 1, 1}, numbered(1), 0, 8), std::nullopt));
  CHECK_FALSE(dispatcher.take(message_of({b, b, 1, 1}, numbered(1), 0, 8), std::nullopt));
  CHECK(dispatcher.counts().unauthenticated == 3);
  CHECK_FALSE(dispatcher.take(message_of({a, HostId{0}, 1, 1}, numbered(1), 0, 8)));
  CHECK(dispatcher.counts().malformed == 1);
  CHECK(dispatcher.take(frames[0], std::nullopt));
}

TEST_CASE("a parcel that lost a piece is given up once, and the next one arrives") {
  Desk dispatcher;
  const Parcel parcel = some_parcel(dispatcher.pool);
  for (std::size_t lost = 0; lost < 3; ++lost) {
    CAPTURE(lost);
    Desk other;
    std::uint64_t sequence = 0;
    const auto frames = frames_of(parcel, small, sequence);
    REQUIRE(frames.size() == 3);
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (i != lost) CHECK_FALSE(other.take(frames[i]));
    const auto next = frames_of(parcel, small, sequence);
    CHECK_FALSE(other.take(next[0]));
    CHECK_FALSE(other.take(next[1]));
    const auto received = other.take(next[2]);
    REQUIRE(received);
    CHECK(same(*received, parcel));
    CHECK(other.counts().malformed == (lost == 0 ? 0 : 1));
    CHECK(other.counts().received == 1);
  }
}

TEST_CASE("a piece that contradicts the ones before ends the parcel") {
  Desk dispatcher;
  const Parcel parcel = some_parcel(dispatcher.pool);
  Parcel other = parcel;
  other.tensors[0] = tensor_of(dispatcher.pool, Scalar::uint32, 1000);
  std::uint64_t sequence = 0;
  const auto frames = frames_of(parcel, small, sequence);
  sequence = 0;
  const auto wrong = frames_of(other, small, sequence);
  CHECK_FALSE(dispatcher.take(frames[0]));
  CHECK_FALSE(dispatcher.take(wrong[1]));
  CHECK_FALSE(dispatcher.take(frames[2]));
  CHECK(dispatcher.counts().malformed == 1);
  CHECK(dispatcher.counts().received == 0);
}

TEST_CASE("what a host may have waiting here has a limit, and letting go of it makes room") {
  Desk dispatcher(small, 9'000);
  const Parcel parcel = some_parcel(dispatcher.pool);  // about 6,900 bytes
  std::uint64_t sequence = 0;
  const auto send = [&] {
    std::optional<Parcel> received;
    for (const Message& message : frames_of(parcel, small, sequence)) received = dispatcher.take(message);
    return received;
  };
  std::optional<Parcel> kept = send();
  REQUIRE(kept);
  const std::size_t reserved = dispatcher.pool.reserved_bytes();
  for (int i = 0; i < 100; ++i) CHECK_FALSE(send());
  CHECK(dispatcher.counts().flooded == 100);
  CHECK(dispatcher.counts().malformed == 0);
  CHECK(dispatcher.pool.reserved_bytes() == reserved);
  kept.reset();
  CHECK(send());
  CHECK(dispatcher.counts().received == 2);
}

TEST_CASE("a piece that is shorter than it need be is malformed, unless it ends its parcel") {
  const FrameLimits limits{.parcel_bytes = 10'000, .piece_bytes = 3'000, .least_piece_bytes = 1'000};
  Parcel parcel;
  parcel.head.resize(2'500);
  const auto fault = [&](std::size_t first, std::size_t bytes) {
    return fault_of(message_of({a, b, 1, 1}, parcel, first, bytes), limits);
  };
  CHECK_FALSE(fault(0, 1'000));
  CHECK_FALSE(fault(1'000, 1'000));
  CHECK_FALSE(fault(2'000, 500));
  CHECK_FALSE(fault(2'499, 1));
  CHECK_FALSE(fault(0, 2'500));
  for (const std::size_t bytes : {1, 500, 999}) CHECK(fault(0, bytes) == FrameFault::malformed);
  CHECK(fault(2'000, 499) == FrameFault::malformed);
  parcel.head.resize(1);
  CHECK_FALSE(fault(0, 1));
}

TEST_CASE("what a frame announces takes no memory before it comes") {
  const FrameLimits limits{.parcel_bytes = std::size_t{32} << 20, .piece_bytes = 3'000};
  Desk desk(limits, std::size_t{64} << 20);
  Parcel parcel;
  parcel.head.resize(std::size_t{8} << 20);
  parcel.tensors = {tensor_of(desk.pool, Scalar::float32, 1'000'000)};
  const std::size_t reserved = desk.pool.reserved_bytes();
  const LimitedAllocations limited(SIZE_MAX);
  for (std::uint64_t sequence = 1; sequence <= 100; ++sequence)
    CHECK_FALSE(desk.take(message_of({a, b, 1, sequence}, parcel, 0, 1'024)));
  CHECK(limited.largest() < 10'000);
  CHECK(desk.pool.reserved_bytes() == reserved);
  CHECK(desk.counts().malformed == 99);  // given up by the one that followed
}

TEST_CASE("a parcel for which there is no memory is given up and counted, and the next one arrives") {
  const FrameLimits limits{.parcel_bytes = std::size_t{32} << 20, .piece_bytes = 1 << 20};
  Desk desk(limits, std::size_t{64} << 20);
  TensorPool own;
  Parcel large = numbered(1);
  std::uint64_t sequence = 0;
  SUBCASE("of its tensors") { large.tensors = {tensor_of(own, Scalar::float32, 1'000'000)}; }
  SUBCASE("of its head") { large.head.resize(std::size_t{3} << 20); }
  const auto frames = frames_of(large, limits, sequence);
  {
    const LimitedAllocations limited(std::size_t{1} << 21);
    for (const Message& message : frames) CHECK_FALSE(desk.take(message));
  }
  CHECK(desk.counts().unaffordable == 1);
  CHECK(desk.counts().malformed == 0);
  CHECK(desk.take(frames_of(numbered(2), limits, sequence)[0]));
  for (const Message& message : frames_of(large, limits, sequence)) desk.take(message);
  CHECK(desk.counts().received == 2);
}

TEST_CASE("a steady stream takes no more memory from the system") {
  Desk dispatcher;
  const Parcel parcel = some_parcel(dispatcher.pool);
  std::uint64_t sequence = 0;
  std::size_t reserved = 0;
  for (int i = 0; i < 1000; ++i) {
    for (const Message& message : frames_of(parcel, small, sequence)) dispatcher.take(message);
    if (i == 1) reserved = dispatcher.pool.reserved_bytes();
  }
  CHECK(dispatcher.counts().received == 1000);
  CHECK(dispatcher.pool.reserved_bytes() == reserved);
}
