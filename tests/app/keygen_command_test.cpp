// `rubato keygen` as a user meets it.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/app/command.hpp"

using namespace rubato::test;

TEST_CASE("keygen writes a pair of keys and prints what the roster needs, without the secret") {
  const Folder home;
  const Ended ended = run_rubato({"keygen", "alice", "--out", home.path()});
  CAPTURE(ended.err);
  REQUIRE(ended.code == 0);
  struct stat facts {};
  REQUIRE(stat((home / "alice.secret").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 0777) == 0600);
  const std::string secret = text_of(home / "alice.secret").substr(0, 40), open = text_of(home / "alice.public").substr(0, 40);
  CHECK(contains(ended.out, "[[roster]]\nname = \"alice\"\n"));
  CHECK(contains(ended.out, "public_key = \"" + open + "\""));
  CHECK_FALSE(contains(ended.out + ended.err, secret));
}

TEST_CASE("keygen makes the folder for the keys, and only its owner may look into it") {
  const Folder home;
  for (const char* place : {"deep/keys", "deep/others/"}) {
    const Ended ended = run_rubato({"keygen", "alice", "--out", home / place});
    CAPTURE(ended.err);
    REQUIRE(ended.code == 0);
    struct stat facts {};
    REQUIRE(stat((home / place).c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0700);
    CHECK(text_of((home / place) / "alice.public").size() == 41);
  }
  write_text(home / "file", "");
  const Ended ended = run_rubato({"keygen", "alice", "--out", home / "file"});
  CHECK(ended.code == 2);
  CHECK(contains(ended.err, "cannot be made"));
}

TEST_CASE("keygen overwrites nothing: exit code 2 and a sentence") {
  const Folder home;
  REQUIRE(run_rubato({"keygen", "alice"}, {home.path(), ""}).code == 0);
  const std::string secret = text_of(home / "alice.secret");
  const Ended again = run_rubato({"keygen", "alice"}, {home.path(), ""});
  CHECK(again.code == 2);
  CHECK(contains(again.err, "is there already; a key is never overwritten"));
  CHECK(text_of(home / "alice.secret") == secret);
  CHECK(run_rubato({"keygen", "../alice"}, {home.path(), ""}).code == 2);
}
