// Readers of text: CSV and LIBSVM.
#include <doctest/doctest.h>

#include "learning/data/readers.hpp"
#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;
using test::Folder;

namespace {

Table<double> csv(const std::string& text, const CsvOptions& options = {}) {
  const Folder folder;
  return read_csv<double>(folder.write("t.csv", text), options, 1000);
}
std::string csv_fault(const std::string& text, const CsvOptions& options = {}) {
  return test::complaint([&] { csv(text, options); });
}
Table<double> libsvm(const std::string& text, std::size_t features = 0) {
  const Folder folder;
  return read_libsvm<double>(folder.write("t.svm", text), features, 1000);
}
std::string libsvm_fault(const std::string& text, std::size_t features = 0) {
  return test::complaint([&] { libsvm(text, features); });
}

Matrix<double> two_by_two(double a, double b, double c, double d) {
  Matrix<double> matrix(2, 2);
  matrix << a, b, c, d;
  return matrix;
}

}  // namespace

TEST_CASE("a CSV file is read with and without names, with any separator and line end") {
  const Matrix<double> expected = two_by_two(1.5, -2, 3, 4e2);
  for (const std::string text : {"1.5,-2,7\n3,4e2,8\n", "a,b,c\n1.5,-2,7\n3,4e2,8", "a;b;c\r\n 1.5; -2;7\r\n+3;4e2;8\r\n",
                                 "1.5\t-2\t7\n3\t4e2\t8\n\n", "\"a\",\"b \"\"x\"\"\",\"c\"\n\"1.5\", \"-2\" ,7\n3,400,8\n"}) {
    CAPTURE(text);
    const Table<double> table = csv(text);
    CHECK(table.features.matrix() == expected);
    CHECK(table.labels.numbers == std::vector<double>{7, 8});
    CHECK(table.shape == Shape{1, 1, 2});
  }
}

TEST_CASE("quoted fields and missing ones are told apart, between tabs too") {
  CHECK(csv("\"1.5\"\t\"-2\" \t\"a\tb\"\n3\t400\tc\n").labels.words == std::vector<std::string>{"a\tb", "c"});
  CHECK(contains(csv_fault("1\t2\tx\n\t\"2\"\tx\n"), "line 2: field 1 is \"\""));
  CHECK(contains(csv_fault("1,2,x\n1,2\n"), "line 2: has 2 fields"));
  CHECK(contains(csv_fault("1,2,x\n\"1\",\"2\",\n"), "the label is \"\""));
}

TEST_CASE("the label column is named, numbered, the last, or missing") {
  const std::string text = "kind,x,y\nred,1.5,2\nblue,3,4\nred,5,6\n";
  for (const std::string label : {"kind", "1"}) {
    const Table<double> table = csv(text, {.label = label});
    CHECK(table.features.cols() == 2);
    CHECK(table.labels.words == std::vector<std::string>{"red", "blue"});
    CHECK(table.labels.numbers == std::vector<double>{0, 1, 0});
  }
  CHECK(csv("1,2\n3,4\n", {.label = "none"}).labels.size() == 0);
  CHECK(contains(csv_fault(text, {.label = "colour"}), "t.csv, line 1: there is no label column \"colour\""));
  CHECK(contains(csv_fault(text, {.label = "4"}), "its number from 1 to 3"));
}

TEST_CASE("a label column's number is no name, unless the first line is said to have names") {
  const Table<double> table = csv("3,5,1\n7,9,1\n", {.label = "1"});
  CHECK(table.labels.numbers == std::vector<double>{3, 7});
  CHECK(table.features.matrix() == two_by_two(5, 1, 9, 1));
  CHECK(csv("3,2,1\n7,9,8\n", {.label = "1", .first_line = FirstLine::names}).labels.numbers == std::vector<double>{8});
  CHECK(csv("kind,2019,2020\nred,1,2\nblue,3,4\n", {.label = "kind"}).labels.words.size() == 2);
  CHECK(contains(csv_fault("2019,2020\n1,2\n", {.label = "2020"}), "there is no label column \"2020\""));
}

TEST_CASE("a first sample with a missing number is no line of names") {
  for (const std::string missing : {"", "?", "NaN", "nan"}) {
    CAPTURE(missing);
    CHECK(contains(csv_fault("1," + missing + ",0\n3,4,1\n"), "t.csv, line 1: field 2 is \"" + missing + '"'));
  }
  CHECK(csv(",a,b\n3,4,1\n").names == std::vector<std::string>{"", "a"});  // as pandas writes an index
  CHECK(csv("1,2,0\n3,4,1\n", {.first_line = FirstLine::names}).features.rows() == 1);
}

TEST_CASE("a byte order mark at the start of a text is passed over") {
  const std::string mark = "\xEF\xBB\xBF";
  CHECK(csv(mark + "1.5,-2,7\n3,4e2,8\n").features.matrix() == two_by_two(1.5, -2, 3, 4e2));
  CHECK(csv(mark + "x,y\n1,2\n", {.label = "x"}).labels.numbers == std::vector<double>{1});
  CHECK(libsvm(mark + "1 1:2\n").features(0, 0) == 2);
  CHECK(contains(csv_fault(mark), "t.csv: is empty"));
}

TEST_CASE("words may label rows without names, and a first line may be passed over") {
  const Table<double> table = csv("1,2,x\n3,4,y\n");
  CHECK(table.labels.words == std::vector<std::string>{"x", "y"});
  CHECK(table.features.rows() == 2);
  CHECK(csv("5,3,what,is,this\n1,2\n", {.first_line = FirstLine::skipped}).features.rows() == 1);
}

TEST_CASE("whole numbers from 0 to 255 are kept as bytes") {
  CHECK(csv("1,255,0\n0,7,1\n").features.are_bytes());
  CHECK_FALSE(csv("1,256,0\n").features.are_bytes());
  CHECK_FALSE(csv("1.5,2,0\n").features.are_bytes());
  CHECK_FALSE(csv("-1,2,0\n").features.are_bytes());
}

TEST_CASE("a faulty CSV file is refused with its line") {
  CHECK(contains(csv_fault("1,2\n3\n"), "t.csv, line 2: has 1 fields; the first line has 2"));
  CHECK(contains(csv_fault("1,2\nnan,2\n"), "t.csv, line 2: field 1 is \"nan\"; it must be a finite number"));
  CHECK(contains(csv_fault("1,2\n,2\n"), "field 1 is \"\""));
  CHECK(contains(csv_fault("1,2\n1e999,2\n"), "field 1 is \"1e999\""));
  CHECK(contains(csv_fault("1,2\n1,inf\n"), "the label is \"inf\""));
  CHECK(contains(csv_fault("1,2\n1,x\n"), "the label is \"x\"; it must be a finite number"));
  CHECK(contains(csv_fault("1,2\n\n1,2\n"), "t.csv, line 2: is empty"));
  CHECK(contains(csv_fault("1,2\n\"1,2\n"), "a quoted field does not end on its line"));
  CHECK(contains(csv_fault("1,2\n\"1\"x,2\n"), "something follows the end of a quoted field"));
  CHECK(contains(csv_fault("a,b\n"), "has no samples"));
  CHECK(contains(csv_fault("7\n"), "has no field besides the label"));
  CHECK(contains(csv_fault(""), "t.csv: is empty"));
  std::string long_text;
  for (int i = 0; i < 32; ++i) long_text += "1,2\n";
  CHECK(contains(csv_fault(long_text), "line 32: the rows take more than the allowed 1000 bytes"));
}

TEST_CASE("a LIBSVM file becomes full rows") {
  const Table<double> table = libsvm("+1 1:0.5 3:-2 \n-1 2:1 # a comment\r\n-1\n");
  Matrix<double> expected(3, 3);
  expected << 0.5, 0, -2, 0, 1, 0, 0, 0, 0;
  CHECK(table.features.matrix() == expected);
  CHECK(table.labels.numbers == std::vector<double>{1, -1, -1});
  CHECK(libsvm("1 2:1\n", 5).features.cols() == 5);
  CHECK(libsvm("1 2:1\n", 5).features.are_bytes());
}

TEST_CASE("a faulty LIBSVM file is refused with its line") {
  CHECK(contains(libsvm_fault("1 1:2\nx 1:2\n"), "t.svm, line 2: \"x\" stands where a label belongs"));
  CHECK(contains(libsvm_fault("1 0:2\n"), "\"0\" stands where an index"));
  CHECK(contains(libsvm_fault("1 4:2\n", 3), "\"4\" stands where an index from 1 to 3 belongs"));
  CHECK(contains(libsvm_fault("1 2:2 2:3\n"), "index 2 follows 2; indices must ascend"));
  CHECK(contains(libsvm_fault("1 1:nan\n"), "\"nan\" stands where a number belongs"));
  CHECK(contains(libsvm_fault("1 1:\n"), "\"\" stands where a number belongs"));
  CHECK(contains(libsvm_fault("1 12\n"), "\"12\" stands where index:number belongs"));
  CHECK(contains(libsvm_fault("1\n"), "has no features"));
  CHECK(contains(libsvm_fault("", 3), "is empty"));
  CHECK(contains(libsvm_fault("1 200:1\n"), "the rows take more than the allowed 1000 bytes"));
}
