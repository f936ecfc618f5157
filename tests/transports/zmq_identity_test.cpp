// Keys and their files: who may read them, what is refused, and that nothing is overwritten.
#include "transports/zmq_identity.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <stdexcept>

#include "tests/transports/zmq_party.hpp"
#include "transports/zmq_address.hpp"

using namespace rubato;
using namespace rubato::test;

namespace fs = std::filesystem;

namespace {

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}

mode_t mode_of(const fs::path& file) {
  struct stat facts {};
  REQUIRE(stat(file.c_str(), &facts) == 0);
  return facts.st_mode & 0777;
}

}  // namespace

TEST_CASE("keys come in pairs, and no two are alike") {
  const Identity one = make_identity(), other = make_identity();
  CHECK(one.public_key.size() == key_characters);
  CHECK(one.secret.public_key() == one.public_key);
  CHECK(one.public_key != other.public_key);
  CHECK(std::string(one.secret.z85()) != other.secret.z85());
}

TEST_CASE("an identity is written so that only its owner can read the secret, and is read again") {
  const Folder folder;
  const Identity identity = make_identity();
  const mode_t umask_before = umask(0);
  const IdentityFiles files = write_identity(identity, folder.path(), "alice");
  umask(umask_before);
  CHECK(files.secret == folder.path() / "alice.secret");
  CHECK(mode_of(files.secret) == 0600);
  CHECK(text_of(files.public_key) == identity.public_key + "\n");
  CHECK(std::string(read_secret_key(files.secret).z85()) == identity.secret.z85());
  fs::create_symlink(files.secret, folder.path() / "link");
  CHECK(std::string(read_secret_key(folder.path() / "link").z85()) == identity.secret.z85());
}

TEST_CASE("keys are never overwritten, and a name that is a path makes none") {
  const Folder folder;
  const fs::path secret = folder.path() / "alice.secret", open = folder.path() / "alice.public";
  std::ofstream(open) << "mine\n";
  const auto write = [&](const std::string& name) {
    return refusal([&] { write_identity(make_identity(), folder.path(), name); });
  };
  CHECK(write("alice") == open.string() + ": is there already; a key is never overwritten");
  CHECK_FALSE(fs::exists(secret));
  fs::rename(open, secret);
  CHECK(write("alice") == secret.string() + ": is there already; a key is never overwritten");
  CHECK(text_of(secret) == "mine\n");
  fs::remove(secret);
  fs::create_symlink(folder.path() / "elsewhere", secret);
  CHECK(write("alice") == secret.string() + ": is there already; a key is never overwritten");
  CHECK_FALSE(fs::exists(folder.path() / "elsewhere"));
  for (const char* name : {"", "../alice", "a/b", ".hidden", "-rf", "a b", "a\nb"}) CHECK(write(name) != "");
  CHECK(refusal([&] { write_identity(make_identity(), folder.path() / "deep/none", "bob"); }) == "");
  CHECK(refusal([&] { write_identity(make_identity(), secret, "bob"); }).find("cannot be made") != std::string::npos);
}

TEST_CASE("a secret key that others could have read, or that is none, is refused with a sentence") {
  const Folder folder;
  const fs::path file = write_identity(make_identity(), folder.path(), "alice").secret;
  const auto read = [](const fs::path& path) { return refusal([&] { read_secret_key(path); }); };
  for (const mode_t mode : {0640u, 0604u, 0620u, 0602u, 0660u, 0644u, 0666u}) {
    chmod(file.c_str(), mode);
    CHECK(read(file) == file.string() + ": group or others may read or write this secret key; allow only its owner: chmod 600");
    fs::create_symlink(file, folder.path() / "link");
    CHECK(read(folder.path() / "link").starts_with(file.string() + ": group or others"));
    fs::remove(folder.path() / "link");
  }
  chmod(file.c_str(), 0600);
  CHECK(read(file) == "");
  const std::string key = text_of(file).substr(0, key_characters);
  for (const std::string& text : {std::string(), key.substr(1), key + "a", "~" + key.substr(1), std::string(5000, 'a')}) {
    std::ofstream(file) << text;
    const std::string sentence = read(file);
    CHECK(sentence == file.string() + " is no secret key; a key has 40 characters of Z85");
  }
  CHECK(read(folder.path()) == folder.path().string() + ": is no file with a secret key");
  CHECK(read(folder.path() / "none").find("cannot be read") != std::string::npos);
}

TEST_CASE("an address stays on this machine only if nobody else can reach it") {
  for (const char* here : {"tcp://127.0.0.1:7001", "tcp://127.9.9.9:1", "tcp://localhost:7001", "tcp://[::1]:7001", "ipc:///tmp/a"})
    CHECK(stays_here(here));
  for (const char* far : {"tcp://10.0.0.1:7001", "tcp://*:7001", "tcp://0.0.0.0:7001", "tcp://127.0.0.1.example.org:7001",
                          "tcp://127.1:7001", "tcp://localhost.example.org:1", "tcp://[::]:7001", "udp://127.0.0.1:1", ""})
    CHECK_FALSE(stays_here(far));
}

TEST_CASE("an address that ZeroMQ would read in another way is refused") {
  const auto is_refused = [](const std::string& address, bool is_bound) {
    return refusal([&] { check_address(address, "host", is_bound); }) != "";
  };
  for (const char* good : {"tcp://10.0.0.1:7001", "tcp://node-3.cluster:65535", "tcp://[fe80::1]:7001", "ipc:///tmp/a"})
    CHECK_FALSE(is_refused(good, false));
  for (const char* good : {"tcp://*:7001", "tcp://127.0.0.1:0", "tcp://127.0.0.1:*"}) {
    CHECK_FALSE(is_refused(good, true));
    CHECK(is_refused(good, false));
  }
  for (const std::string& bad :
       {std::string("tcp://10.0.0.1"), std::string("tcp://:7001"), std::string("tcp://a:65536"), std::string("tcp://a:-1"),
        std::string("tcp://a:7x"), std::string("tcp://a;b:7"), std::string("tcp://a b:7"), std::string("10.0.0.1:7001"),
        std::string("inproc://a"), std::string("ipc://"), "ipc:///" + std::string(107, 'a'), std::string()}) {
    CHECK(is_refused(bad, false));
    CHECK(is_refused(bad, true));
  }
}
