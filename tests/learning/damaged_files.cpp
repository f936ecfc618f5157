// Every reader on a corpus of damaged files, under AddressSanitizer: each must be read or refused with one sentence, in
// bounded memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "learning/data/npy_reader.hpp"
#include "learning/data/readers.hpp"
#include "tests/learning/support.hpp"

using namespace rubato;

// Of AddressSanitizer's run-time library; g++ brings no header that declares them.
extern "C" {
int __sanitizer_install_malloc_and_free_hooks(void (*on_allocation)(const volatile void*, std::size_t),
                                              void (*on_release)(const volatile void*));
std::size_t __sanitizer_get_allocated_size(const volatile void*);
}

namespace {

using Bytes = std::vector<unsigned char>;

constexpr std::size_t limit = std::size_t{1} << 20;
/// What a reader may hold besides what it stores: pieces, the longest line while it grows, the dictionary of xz.
constexpr std::size_t working_memory = std::size_t{32} << 20;

std::atomic<std::size_t> allocated{0}, peak{0};

void on_allocation(const volatile void*, std::size_t size) {
  const std::size_t now = allocated += size;
  std::size_t before = peak;
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
}
void on_release(const volatile void* memory) { allocated -= __sanitizer_get_allocated_size(memory); }
const int hooks = __sanitizer_install_malloc_and_free_hooks(on_allocation, on_release);

/// A format: how it is read, and a file of it that is whole.
struct Reader {
  std::string name;
  std::function<void(const std::filesystem::path&)> read;
  Bytes good;
  bool is_binary = true;  // no start of a file is a whole one
};

std::vector<Reader> readers(const test::Folder& folder) {
  const auto labels = folder.write("good-labels", test::idx_bytes({5}, 3)),
             images = folder.write("good-images", test::idx_bytes({5, 4, 4}));
  const Bytes x = test::npy_of<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6}), y = test::npy_of<std::int64_t>("<i8", "(2,)", {1, 0});
  const auto read_npz = [](const std::filesystem::path& file) {
    read_npy_features<float>(open_npz(file, {"x"}), limit);
    read_npy_labels(open_npz(file, {"y"}), limit);
  };
  Bytes series;
  for (int i = 0; i < 50; ++i) series.insert(series.end(), {0, 0, 0x80, 0x3f});
  return {
      {"idx images", [=](const auto& file) { read_idx<float>(file, labels, limit); }, test::idx_bytes({5, 4, 4})},
      {"idx labels", [=](const auto& file) { read_idx<float>(images, file, limit); }, test::idx_bytes({5}, 3)},
      {"cifar", [](const auto& file) { read_cifar<float>(std::array{file}, limit); }, test::cifar_bytes(1)},
      {"libsvm", [](const auto& file) { read_libsvm<float>(file, 4, limit); },
       test::bytes_of("+1 1:0.5 4:2\n-1 2:1.5 # x\n+1 3:1\n"), false},
      {"libsvm of any width", [](const auto& file) { read_libsvm<double>(file, 0, limit); },
       test::bytes_of("+1 1:0.5 4:2\n-1 2:1.5 # x\n+1 3:1\n"), false},
      {"csv", [](const auto& file) { read_csv<float>(file, {}, limit); },
       test::bytes_of("a,b,\"c d\"\r\n1,2.5,x\r\n3,-4e2,\"y \"\"z\"\"\"\r\n"), false},
      {"csv with a named label", [](const auto& file) { read_csv<double>(file, {.label = "k"}, limit); },
       test::bytes_of("k;x\nred;1\nblue;2\n"), false},
      {"npy", [](const auto& file) { read_npy_features<float>(FileStream(file), limit); }, x},
      {"npy labels", [](const auto& file) { read_npy_labels(FileStream(file), limit); }, y},
      {"npz stored", read_npz, test::zip_of({{"x.npy", x}, {"y.npy", y}}, false, true)},
      {"npz deflated", read_npz, test::zip_of({{"x.npy", x}, {"y.npy", y}}, true)},
      {"series", [](const auto& file) { read_series(file, limit); }, series, false},
  };
}

/// What became of a file: "" if it was read, else the sentence.
std::string outcome(const Reader& reader, const std::filesystem::path& file) {
  const std::size_t before = allocated;
  peak = before;
  std::string said;
  try {
    reader.read(file);
  } catch (const std::invalid_argument& error) {
    said = error.what();
    const bool is_one_sentence = said.size() > 10 && said.size() < 600 && said.find('\n') == std::string::npos;
    CHECK_MESSAGE(is_one_sentence, said);
  }
  CHECK_MESSAGE(peak <= before + limit + working_memory, reader.name, " took ", peak - before, " bytes");
  return said;
}

void must_fail(const Reader& reader, const test::Folder& folder, const Bytes& bytes, const std::string& how) {
  const std::string said = outcome(reader, folder.write("damaged", bytes));
  CHECK_MESSAGE(!said.empty(), reader.name, " reads a file that is ", how);
}

Bytes packed(const Bytes& bytes, int way) { return way == 0 ? bytes : way == 1 ? test::gzipped(bytes) : test::xz_packed(bytes); }

Bytes repeated(const Bytes& bytes, std::size_t times) {
  Bytes all;
  for (std::size_t i = 0; i < times; ++i) all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

bool is_zip(const Reader& reader) { return reader.name.starts_with("npz"); }

}  // namespace

TEST_CASE("what is counted is what is allocated") {
  CHECK(hooks > 0);
  peak = allocated.load();
  const std::size_t before = peak;
  { const Bytes some(100'000, 1); }
  CHECK(peak >= before + 100'000);
}

TEST_CASE("whole files are read, plain and compressed") {
  const test::Folder folder;
  for (const Reader& reader : readers(folder))
    for (int way = 0; way < (is_zip(reader) ? 1 : 3); ++way)
      CHECK_MESSAGE(outcome(reader, folder.write("whole", packed(reader.good, way))) == "", reader.name);
}

TEST_CASE("files cut at any place are refused") {
  const test::Folder folder;
  for (const Reader& reader : readers(folder)) {
    for (int way = 0; way < (is_zip(reader) ? 1 : 3); ++way) {
      const Bytes whole = packed(reader.good, way);
      const std::size_t step = std::max<std::size_t>(1, whole.size() / 150);
      for (std::size_t length = 0; length < whole.size(); length += step) {
        const auto file = folder.write("cut", std::span(whole).first(length));
        const std::string said = outcome(reader, file);
        const bool must = reader.is_binary || length == 0 || (way > 0 && length > 6);
        CHECK_MESSAGE((!must || !said.empty()), reader.name, " reads the first ", length, " bytes");
      }
    }
  }
}

TEST_CASE("files with any bit flipped and files of noise do no harm") {
  const test::Folder folder;
  Stream stream(1, {0}, Purpose::noise);
  for (const Reader& reader : readers(folder)) {
    for (int way = 0; way < (is_zip(reader) ? 1 : 3); ++way) {
      const Bytes whole = packed(reader.good, way);
      const std::size_t most = std::min<std::size_t>(whole.size(), 300);
      for (std::size_t i = 0; i < 8 * most; i += 1 + stream.below(5)) {
        Bytes flipped = whole;
        flipped[i / 8] ^= static_cast<unsigned char>(1 << i % 8);
        outcome(reader, folder.write("flipped", flipped));
      }
    }
    for (int i = 0; i < 100; ++i) {
      Bytes noise(stream.below(400));
      for (unsigned char& byte : noise) byte = static_cast<unsigned char>(stream.next());
      if (i % 3 == 0) std::copy_n(reader.good.begin(), std::min<std::size_t>({noise.size(), 8, reader.good.size()}), noise.begin());
      outcome(reader, folder.write("noise", noise));
    }
  }
}

TEST_CASE("files of another format and empty files are refused") {
  const test::Folder folder;
  const auto all = readers(folder);
  for (const Reader& reader : all) {
    must_fail(reader, folder, {}, "empty");
    must_fail(reader, folder, packed({}, 1), "an empty gzip file");
    must_fail(reader, folder, packed({}, 2), "an empty xz file");
    for (const Reader& other : all) {
      const bool is_alike = reader.good == other.good || (is_zip(reader) && is_zip(other)) || reader.name == "series";
      if (!is_alike) outcome(reader, folder.write("other", other.good));
      if (!is_alike && reader.is_binary && reader.name != "cifar") must_fail(reader, folder, other.good, other.name);
    }
  }
}

TEST_CASE("absurd dimensions, wrong counts and numbers that are none are refused") {
  const test::Folder folder;
  const auto all = readers(folder);
  const auto reader_of = [&](const std::string& name) -> const Reader& {
    return *std::find_if(all.begin(), all.end(), [&](const Reader& reader) { return reader.name == name; });
  };
  for (const std::size_t place : {4u, 8u, 12u}) {
    Bytes idx = reader_of("idx images").good;
    for (const unsigned char high : {0xffu, 0x7fu, 0x01u}) {
      idx[place] = high;
      must_fail(reader_of("idx images"), folder, idx, "of absurd dimensions");
    }
  }
  Bytes labels = reader_of("idx labels").good;
  labels[7] = 6;
  must_fail(reader_of("idx labels"), folder, labels, "of a wrong count");
  for (const std::string shape : {"(18446744073709551615, 3)", "(2, 18446744073709551615)", "(4294967296, 4294967296)",
                                  "(99999999999999999999, 2)", "(2, 3, 4, 5, 6)", "()", "(-1, 2)", "(2, 0)", "2", ""})
    must_fail(reader_of("npy"), folder, test::npy_of<float>("<f4", shape, {1, 2, 3, 4, 5, 6}), "of shape " + shape);
  for (const float number : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    must_fail(reader_of("npy"), folder, test::npy_of<float>("<f4", "(1, 2)", {1, number}), "with NaN");
    must_fail(reader_of("npy labels"), folder, test::npy_of<float>("<f4", "(2,)", {1, number}), "with NaN");
    const auto* bytes = reinterpret_cast<const unsigned char*>(&number);
    must_fail(reader_of("series"), folder, Bytes(bytes, bytes + 4), "with NaN");
  }
  for (const std::string word : {"nan", "NaN", "inf", "-Infinity", "1e999", "1e39", "0x10", "", "one", "1 2"}) {
    must_fail(reader_of("csv"), folder, test::bytes_of("1,2,3\n1," + word + ",3\n"), "with " + word);
    if (word != "1 2") must_fail(reader_of("libsvm"), folder, test::bytes_of("1 1:" + word + "\n"), "with " + word);
  }
  for (const std::string line : {"1 99999999999999999999:1", "1 5:1", "1 0:1", "1 -1:1", "1 2:1 1:1", "1 1:1:1", ":", "1 :1"})
    must_fail(reader_of("libsvm"), folder, test::bytes_of(line + "\n"), line);
  must_fail(reader_of("libsvm of any width"), folder, test::bytes_of("1 200000000:1\n"), "too wide");
  must_fail(reader_of("csv"), folder, test::bytes_of("1,2\n1,2,3\n"), "of rows of different lengths");
}

TEST_CASE("rows, their labels and the memory in which they grew stay together within a large limit") {
  const test::Folder folder;
  constexpr std::size_t large = std::size_t{64} << 20, slack = std::size_t{2} << 20;
  const std::size_t rows = 3'000'000;  // of 24 bytes while they are read: more than there is room for
  const auto lines = [&](const std::string& name, const std::string& line, std::size_t count) {
    return folder.write(name, repeated(test::bytes_of(line), count));
  };
  const auto check = [&](const std::string& part, const std::function<void()>& read) {
    const std::size_t before = allocated;
    peak = before;
    CHECK(test::contains(test::complaint(read), part));
    CHECK(peak - before > large / 3);
    CHECK(peak - before < large * 3 / 2 + slack);
  };
  const std::string too_many = "the rows take more than the allowed", none = "nothing was thrown";
  const auto csv = lines("csv", "1.5,2\n", rows), svm = lines("svm", "1 1:2\n", rows);
  check(too_many, [&] { read_csv<float>(csv, {}, large); });
  check(too_many, [&] { read_libsvm<float>(svm, 1, large); });
  const auto most = lines("bytes", "1,2\n", large / 24);
  check(none, [&] { read_csv<float>(most, {}, large); });
  const auto images = [&](std::uint32_t count) { return folder.write("images", test::idx_bytes({count, 1, 1})); };
  const auto labels = [&](std::uint32_t count) { return folder.write("labels", test::idx_bytes({count}, 3)); };
  check(none, [&] { read_idx<float>(images(6'500'000), labels(6'500'000), large); });
  CHECK(test::contains(test::complaint([&] { read_idx<float>(images(7'000'000), labels(7'000'000), large); }),
                       "labels: has 7000000 rows of 9 bytes"));
  const auto numbers = folder.write("y.npy", test::npy_bytes("<f4", "(8000000,)", Bytes(32'000'000)));
  check(none, [&] { read_npy_labels(FileStream(numbers), large); });
  const auto records = folder.write("cifar", test::cifar_bytes(large / 3072 / 3 + 1));
  check("rows of 3072 bytes", [&] { read_cifar<float>(std::array{records}, large); });
}

TEST_CASE("a bomb is refused within the limit of memory") {
  const test::Folder folder;
  const auto all = readers(folder);
  constexpr std::size_t member = std::size_t{1} << 20, members = 64;
  for (const Reader& reader : all) {
    if (is_zip(reader)) continue;
    // A whole file or its header at the front, then no end of zeros, of good lines, or of itself.
    const Bytes zeros(member), lines = repeated(test::bytes_of("1,2,3\n"), member / 6),
                               itself = repeated(reader.good, member / reader.good.size());
    for (const Bytes& contents : {zeros, lines, itself})
      for (int way = 1; way < 3; ++way) {
        Bytes bomb = packed(reader.good, way);
        const Bytes more = repeated(packed(contents, way), members);
        bomb.insert(bomb.end(), more.begin(), more.end());
        must_fail(reader, folder, bomb, "a bomb");
        must_fail(reader, folder, more, "a bomb from its start");
      }
  }
  const Bytes huge = test::npy_bytes("|u1", "(1000000000, 2)", Bytes(member));
  for (const bool is_deflated : {false, true})
    must_fail(*std::find_if(all.begin(), all.end(), is_zip), folder, test::zip_of({{"x.npy", huge}, {"y.npy", huge}}, is_deflated),
              "a bomb in an archive");
}
