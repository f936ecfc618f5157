#include "runtime/printable.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace rubato;

TEST_CASE("text of others is shown as it is, in any language, where it steers nothing") {
  CHECK(printable("host b: 12 of 13, \"C:\\data\"") == "host b: 12 of 13, \"C:\\data\"");
  CHECK(printable("Grüße, 北京, 🙂") == "Grüße, 北京, 🙂");
  CHECK(printable("") == "");
}

TEST_CASE("what would steer a terminal or tear a line is shown as its bytes") {
  CHECK(printable("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m");
  CHECK(printable("one\ntwo\r\tthree\x7f") == "one\\x0atwo\\x0d\\x09three\\x7f");
  CHECK(printable(std::string_view("\0", 1)) == "\\x00");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");  // CSI as one character
  CHECK(printable("a\xe2\x80\xae"
                  "b\xe2\x80\xa8"
                  "c") ==
        "a\\xe2\\x80\\xaeb\\xe2\\x80\\xa8"
        "c");  // turned round, torn
}

TEST_CASE("bytes that are not UTF-8 are shown as bytes, and what follows them as text") {
  CHECK(printable("\xff\xfe!") == "\\xff\\xfe!");
  CHECK(printable("\xc3(") == "\\xc3(");
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond the last character
}

TEST_CASE("text beyond the bound is cut between two characters, and shows that it was") {
  CHECK(printable(std::string(10, 'a'), 10) == std::string(10, 'a'));
  CHECK(printable(std::string(11, 'a'), 10) == "aaaaaaa...");
  CHECK(printable("aaaaaa\x1b"
                  "aaaa",
                  10) == "aaaaaa...");
  CHECK(printable("äääääää", 10) == "äää...");
  CHECK(printable(std::string(1 << 20, '\n')).size() <= most_printable_bytes);
  CHECK(printable("\n\n", 3) == "...");
}
