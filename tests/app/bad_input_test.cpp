// Experiments and data that cannot be used: a sentence, exit code 2, and nothing left behind.
#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/app/command.hpp"

namespace fs = std::filesystem;
using namespace rubato::test;

namespace {

// What `rubato run` says with these arguments, to which --out is added: it and its dry run must refuse them in the same
// words and leave nothing.
std::string refusal(Arguments arguments) {
  const Folder home;
  arguments.insert(arguments.end(), {"--out", home / "run"});
  const Ended ended = run_rubato(arguments);
  arguments.push_back("--dry-run");
  const Ended dry = run_rubato(arguments);
  CHECK(ended.code == 2);
  CHECK(ended.out.empty());
  CHECK(dry.code == 2);
  CHECK(dry.err == ended.err);
  CHECK_FALSE(fs::exists(home / "run"));
  CHECK_FALSE(fs::exists(home / "run.partial"));
  return ended.err;
}

// The same of an experiment with this text.
std::string refusal(const std::string& text) {
  const Folder home;
  write_text(home / "bad.toml", text);
  return refusal(Arguments{"run", home / "bad.toml"});
}

std::string small_with(const std::string& from, const std::string& to) {
  const Folder home;
  std::string text = text_of(small_experiment(home));
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string big_endian(std::uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 255);
  return bytes;
}

// Sixty images of 28 x 28 whose class can be seen, in the four files of MNIST.
struct Mnist {
  Mnist() {
    fs::create_directories(home / "data/mnist");
    for (const char* part : {"train", "t10k"}) {
      std::string images = big_endian(0x803) + big_endian(60) + big_endian(28) + big_endian(28);
      std::string labels = big_endian(0x801) + big_endian(60);
      for (std::uint32_t i = 0; i < 60; ++i) {
        std::string image(784, '\0');
        std::fill_n(image.begin() + 70 * (i % 10), 70, '\xff');
        images += image;
        labels += static_cast<char>(i % 10);
      }
      write_text(file(part, "images-idx3"), images);
      write_text(file(part, "labels-idx1"), labels);
    }
    write_text(home / "mnist.toml", R"(name = "tiny-mnist"
until = 2.5
[clients]
count = 3
[algorithm]
name = "draco"
self_apply = true
[data]
name = "mnist"
[model]
name = "softmax"
batch = 8
)");
  }
  fs::path file(const std::string& part, const std::string& what) const {
    return home / ("data/mnist/" + part + "-" + what + "-ubyte");
  }
  // The file as gzip, in place of the plain one.
  fs::path compress(const fs::path& plain) const {
    const std::string bytes = text_of(plain), name = plain.string() + ".gz";
    gzFile zipped = gzopen(name.c_str(), "wb");
    gzwrite(zipped, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(zipped);
    fs::remove(plain);
    return name;
  }
  Ended run() const { return run_rubato({"run", home / "mnist.toml", "--data", home / "data", "--out", home / "run", "--json"}); }
  // What is said of the damaged set; the sentence names the file.
  void refuses(const fs::path& damaged) const {
    CHECK(contains(refusal(Arguments{"run", home / "mnist.toml", "--data", home / "data"}), damaged.filename().string()));
  }
  Folder home;
};

}  // namespace

TEST_CASE("all faults of an experiment are said at once, each with file, line, key and what is allowed") {
  const std::string said = refusal(R"(name = "bad"
until = -5
sede = 3
[clients]
count = 0
[clients.compute]
rate = -1.0
[algorithm]
name = "dracco"
eta = "large"
[data]
name = "quadratic"
dimension = 8
[model]
name = "quadratic"
)");
  CAPTURE(said);
  for (const std::string place : {"bad.toml:2: until", "bad.toml:3: sede", "bad.toml:5: clients.count",
                                  "bad.toml:7: clients.compute.rate", "bad.toml:9: algorithm.name", "bad.toml:10: algorithm.eta"})
    CHECK(contains(said, place));
  CHECK(contains(said, "seed"));   // did you mean
  CHECK(contains(said, "draco"));  // did you mean
}

TEST_CASE("a file that is not TOML, or no file at all, is refused by name") {
  CHECK(contains(refusal("until = = 3\n"), "bad.toml:1"));
  CHECK(contains(refusal(std::string("\0\0\0\0", 4)), "bad.toml"));
  CHECK(contains(refusal(""), "clients.count"));
  const Folder home;
  const Ended folder = run_rubato({"run", home.path().string()});
  CHECK(folder.code == 2);
  CHECK_FALSE(folder.err.empty());
}

TEST_CASE("a dry run refuses what the run refuses, in the same words") {
  const std::string algorithms = std::string(RUBATO_SOURCE_DIR) + "/examples/algorithms/";
  for (const auto& [file, setting] : {std::pair<std::string, std::string>{"fedavg", "mailbox.deadline=0"},
                                      {"fedavg_plus", "mailbox.deadline=0"},
                                      {"fedadmm", "mailbox.deadline=0"},
                                      {"swarm", "mailbox.deadline=0"},
                                      {"dsgt", "topology.kind=directed_ring"},
                                      {"dpsgd", "topology.kind=star_of_nothing"},
                                      {"draco", "algorithm.psi=-1"},
                                      {"draco", "algorithm.no_such_option=1"},
                                      {"draco", "channel.loss=2"},
                                      {"draco", "model.batch=-1"},
                                      {"draco", "clients.count=0"},
                                      {"draco", "until=-1"},
                                      {"draco", "data.partition=nobody_knows"},
                                      {"draco", "metrics.every_seconds=-1"},
                                      {"choco", "compressor.keep=0"},
                                      {"spodgt", "algorithm.memory=7"}}) {
    CAPTURE(file);
    CAPTURE(setting);
    CHECK_FALSE(refusal(Arguments{"run", algorithms + file + ".toml", "--set", setting}).empty());
  }
}

TEST_CASE("a graph in which somebody cannot be reached is refused with who") {
  const std::string edges = refusal(small_with("kind = \"ring\"", "kind = \"edges\"\nedges = [[0, 1], [1, 2], [3, 4], [4, 5]]"));
  CAPTURE(edges);
  CHECK(contains(edges, "3"));
  const Folder home;
  write_text(home / "graph.txt", "0 1\n1 2\n2 3\n3 4\n");
  CHECK_FALSE(refusal(small_with("kind = \"ring\"", "kind = \"file\"\nfile = \"" + (home / "graph.txt").string() + "\"")).empty());
}

TEST_CASE("a graph file that is missing, empty or damaged is refused with its name") {
  const Folder home;
  const std::string text = small_with("kind = \"ring\"", "kind = \"file\"\nfile = \"" + (home / "graph.txt").string() + "\"");
  CHECK(contains(refusal(text), "graph.txt"));
  for (const std::string content : {"", "0 1\n1 two\n", "0 1\n1 99\n", "0 0\n", "0 1\n0 1\n"}) {
    write_text(home / "graph.txt", content);
    CAPTURE(content);
    CHECK_FALSE(refusal(text).empty());
  }
}

TEST_CASE("a data set that is not there is named with its files, its origin and where to put them") {
  const Mnist mnist;
  const Ended ended = run_rubato({"run", mnist.home / "mnist.toml", "--data", mnist.home / "nowhere", "--out", mnist.home / "run"});
  CAPTURE(ended.err);
  CHECK(ended.code == 2);
  for (const char* part : {"mnist", "train-images-idx3-ubyte", "t10k-labels-idx1-ubyte", "http", "RUBATO_DATA"})
    CHECK(contains(ended.err, part));
  CHECK(contains(ended.err, (mnist.home / "nowhere/mnist").string()));
  CHECK_FALSE(fs::exists(mnist.home / "run"));
}

TEST_CASE("an own set in the format of MNIST is read, plain and compressed, with the same result") {
  const Mnist mnist;
  const Ended plain = mnist.run();
  CAPTURE(plain.err);
  REQUIRE(plain.code == 0);
  for (const char* part : {"train", "t10k"}) mnist.compress(mnist.file(part, "images-idx3"));
  const Ended zipped = mnist.run();
  REQUIRE(zipped.code == 0);
  CHECK(nlohmann::json::parse(plain.out).at("model_digest") == nlohmann::json::parse(zipped.out).at("model_digest"));
}

TEST_CASE("a truncated IDX file is refused with its name") {
  const Mnist mnist;
  const fs::path images = mnist.file("train", "images-idx3");
  for (const std::uintmax_t size : {std::uintmax_t{0}, std::uintmax_t{3}, std::uintmax_t{15}, fs::file_size(images) - 1}) {
    fs::resize_file(images, size);
    mnist.refuses(images);
  }
}

TEST_CASE("an IDX file that says other things than it holds is refused, before it takes memory") {
  const auto damaged = [](const char* what, std::size_t at, const std::string& bytes) {
    const Mnist mnist;
    const fs::path file = mnist.file("train", what);
    write_text(file, text_of(file).replace(at, bytes.size(), bytes));
    mnist.refuses(file);
  };
  damaged("images-idx3", 0, big_endian(0x801));       // another kind of file
  damaged("images-idx3", 4, big_endian(0xFFFFFFFF));  // four thousand million images
  damaged("images-idx3", 8, big_endian(0xFFFFFFFF));  // of so many rows
  damaged("images-idx3", 4, big_endian(59));          // bytes left over
  damaged("labels-idx1", 20, "\x0b");                 // class 11 of 10
  damaged("labels-idx1", 0, "{\"labels\"");
}

TEST_CASE("a corrupt or truncated gzip file is refused with its name") {
  for (const std::string harm : {"cut", "flip", "no gzip"}) {
    const Mnist mnist;
    const fs::path file = mnist.compress(mnist.file("train", "images-idx3"));
    std::string bytes = text_of(file);
    if (harm == "cut") bytes.resize(bytes.size() / 2);
    if (harm == "flip") bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 64);
    if (harm == "no gzip") bytes = "this is no gzip file at all, whatever its name says";
    write_text(file, bytes);
    CAPTURE(harm);
    mnist.refuses(file);
  }
}

TEST_CASE("a folder that the file system cannot name is a mistake of the command line") {
  const Folder home;
  const Ended ended = run_rubato({"run", small_experiment(home), "--quiet", "--out", home / std::string(300, 'a')});
  CHECK(ended.code == 2);
  CHECK(contains(ended.err, "File name too long"));
}

TEST_CASE("what a file of others says steers no terminal, wherever it is printed") {
  const Folder home;
  const std::string small = text_of(small_experiment(home));
  const auto said_by = [](const Arguments& arguments) {
    const Ended ended = run_rubato(arguments);
    CHECK(std::ranges::none_of(ended.out + ended.err, [](char c) { return c != '\n' && static_cast<unsigned char>(c) < ' '; }));
    return ended.out + ended.err;
  };
  std::string named = small;
  named.replace(named.find("name = \"") + 8, 0, "\\u001b]0;owned\\u0007");
  write_text(home / "named.toml", named);
  CHECK(contains(said_by({"run", home / "named.toml", "--out", home / "run"}), "\\x1b]0;owned\\x07"));
  std::string summary = text_of(home / "run/summary.json");
  const std::string digest = "\"model_digest\": \"";
  write_text(home / "run/summary.json", summary.replace(summary.find(digest) + digest.size(), 8, "\\u001b[2J"));
  CHECK(contains(said_by({"replay", home / "run"}), "differs from \\x1b[2J"));
  write_text(home / "key.toml", small + "\n[\"\\u001b[31mred\"]\nkey = 1\n");
  CHECK(contains(said_by({"run", home / "key.toml"}), "\\x1b[31mred"));
  write_text(home / "case.json", R"({"id": "\u001b[2J", "algorithm": "\u001b[31m"})");
  said_by({"golden", home / "case.json"});
}

TEST_CASE("a process without memory or threads says which limit it met") {
  const Folder home;
  const auto limited = [&](const std::string& limit, const std::string& arguments) {
    const std::string command =
        "bash -c 'ulimit " + limit + "; exec " RUBATO_COMMAND " run " + arguments + "' > /dev/null 2> " + (home / "said").string();
    const int status = std::system(command.c_str());
    return std::pair{WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(home / "said")};
  };
  const auto [code, said] = limited("-v 400000", quickstart() + " --threads 1 --set model.batch=4294967295 --set until=5.5");
  CAPTURE(said);
  CHECK(code == 1);
  CHECK(contains(said, "out of memory: the limit of this process is 390 MiB (ulimit -v)"));
  // ulimit -u is not for root, who may have threads without end: there the address space stands for it, 8 MiB a stack.
  const auto [without_threads, why] = limited("-v 500000", small_experiment(home) + " --threads 1000");
  CAPTURE(why);
  CHECK(without_threads == 1);
  CHECK(contains(why, "cannot start 1004 threads: the system gave "));
}

TEST_CASE("a seed is a whole number in tens, and one that is too large is refused") {
  const Folder home;
  const std::string file = small_experiment(home);
  const auto seed_of = [&](const std::string& seed) {
    const Ended ended = run_rubato({"run", file, "--seed", seed, "--out", home / "run", "--quiet"});
    CAPTURE(ended.err);
    REQUIRE(ended.code == 0);
    return text_of(home / "run/experiment.toml");
  };
  CHECK(contains(seed_of("010"), "seed = 10\n"));
  CHECK(contains(seed_of("9223372036854775807"), "seed = 9223372036854775807\n"));
  for (const std::string seed : {"9223372036854775808", "99999999999999999999", "-1", "0x10", "1.5", ""}) {
    const Ended ended = run_rubato({"run", file, "--seed", seed, "--out", home / "other"});
    CAPTURE(seed);
    CHECK(ended.code == 2);
    CHECK(contains(ended.err, "--seed"));
    CHECK(contains(ended.err, "9223372036854775807"));
    CHECK_FALSE(fs::exists(home / "other"));
  }
}

TEST_CASE("rows that cannot give every client its least number are refused before anything is drawn") {
  const Folder home;
  const Ended ended = run_rubato({"run", RUBATO_SOURCE_DIR "/examples/quickstart.toml", "--set", "clients.count=10000000", "--set",
                                  "data.partition={kind=\"dirichlet_by_class\",alpha=0.5,min_samples=10}", "--out", home / "run"});
  CAPTURE(ended.err);
  CHECK(ended.code == 2);
  CHECK(contains(ended.err, "data.partition.min_samples is 10: for 10000000 clients that is more than the"));
  CHECK(contains(ended.err, "lower min_samples or clients.count"));
}

TEST_CASE("a folder for results that has no name is refused") {
  const Folder home;
  const std::string file = small_experiment(home);
  for (const char* command : {"run", "compare"}) {
    const Ended ended = run_rubato({command, file, "--out", ""});
    CHECK(ended.code == 2);
    CHECK(contains(ended.err, "--out: names no folder"));
  }
}

TEST_CASE("clients are chosen for a score, and without one they are refused") {
  const Folder home;
  REQUIRE(run_rubato({"run", small_experiment(home), "--out", home / "run", "--quiet"}).code == 0);
  const Ended ended = run_rubato({"show", home / "run", "--clients", "2-4"});
  CHECK(ended.code == 2);
  CHECK(contains(ended.err, "--clients requires --score"));
}
