// What the command prints: lines of text that steer no terminal.
#include "app/printable_stream.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <streambuf>
#include <string>

using rubato::app::PrintableStream;

TEST_CASE("what would steer a terminal is printed as its bytes, and lines stay lines") {
  std::ostringstream stream;
  {
    const PrintableStream printable(stream);
    stream << "name: \x1b[31mred\n"
           << 12 << '\n'
           << "Gr\xc3\xbc\xc3\x9f"
           << "e\r";
  }
  CHECK(stream.str() ==
        "name: \\x1b[31mred\n12\nGr\xc3\xbc\xc3\x9f"
        "e\\x0d");
  stream << "\x1b";
  CHECK(stream.str().back() == '\x1b');  // it is as it was
}

TEST_CASE("a line beyond the bound is cut, however it is written, and the next one is whole") {
  std::ostringstream stream;
  const PrintableStream printable(stream, 20);
  for (int i = 0; i < 1000; ++i) stream << "0123456789" << std::flush;
  stream << "\nshort\n" << std::string(1 << 20, 'x') << "\n";
  const std::string shown = stream.str();
  CHECK(shown.substr(0, 20) == "01234567890123456789");
  CHECK(shown.find("\nshort\nxxxxxxxxxxxxxxxxx...\n") != shown.npos);
  CHECK(shown.size() < 60);
}

TEST_CASE("a stream that takes nothing says so") {
  struct Full : std::streambuf {
  } full;
  std::ostream stream(&full);
  const PrintableStream printable(stream);
  stream << "text\n" << std::flush;
  CHECK_FALSE(stream.good());
}
