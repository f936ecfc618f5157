#include "learning/data/data_files.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/learning/support.hpp"

using namespace rubato;
using test::contains;
using test::Folder;

namespace {

std::string complaint_about(const DataFiles& files, const DataOptions& options = {}) {
  return test::complaint([&] { load_files<float>(files, options); });
}

const std::string table = "x,y,kind\n1.5,2,red\n3,4,blue\n5,6,red\n7,8,blue\n9,10,red\n";

}  // namespace

TEST_CASE("a CSV file becomes a data set whose test part is split off") {
  const Folder folder;
  const auto dataset = load_files<double>({.train = folder.write("t.csv", table)},
                                          {.normalise = Normalise::none, .test_share = 0.4, .shuffle = false});
  CHECK(dataset->classes == 2);
  CHECK(dataset->class_names == std::vector<std::string>{"blue", "red"});
  CHECK(dataset->shape == Shape{1, 1, 2});
  CHECK(dataset->train.labels == std::vector<Label>{1, 0, 1});
  CHECK(dataset->test.labels == std::vector<Label>{0, 1});
  CHECK(dataset->test.features(1, 1) == 10);
}

TEST_CASE("numbers that are labels name their classes, too") {
  const Folder folder;
  const auto dataset = load_files<float>({.train = folder.write("t.csv", std::string("1,7\n2,3.5\n3,7\n"))}, {});
  CHECK(dataset->class_names == std::vector<std::string>{"3.500000", "7"});
}

TEST_CASE("features of own tables are scaled by the training rows, which a note says, unless the experiment says otherwise") {
  const Folder folder;
  const DataFiles files{.train = folder.write("t.csv", std::string("1,1000,5,0\n3,3000,5,1\n")),
                        .test = folder.write("s.csv", std::string("5,2000,9,1\n"))};
  const auto scaled = load_files<double>(files, {});
  CHECK(scaled->train.features(0, 0) == doctest::Approx(-1));
  CHECK(scaled->train.features(1, 1) == doctest::Approx(1));
  CHECK(scaled->test.features(0, 0) == doctest::Approx(3));
  CHECK(scaled->train.features(0, 2) == 0);
  CHECK(scaled->test.features(0, 2) == 0);  // constant in the training rows
  REQUIRE(scaled->notes.size() == 1);
  CHECK(contains(scaled->notes[0], "data.normalise = \"none\""));
  const auto plain = load_files<double>(files, {.normalise = Normalise::none});
  CHECK(plain->train.features(1, 1) == 3000);
  CHECK(plain->notes.empty());
}

namespace {

const std::string holes = "x,y,kind\n1,?,red\n3,4,blue\n,,red\n7,8,blue\nnan,abc,red\n9,6,\n";

}  // namespace

TEST_CASE("all bad cells of a file are counted, with the first ones and what can be done") {
  const Folder folder;
  const std::string said = complaint_about({.train = folder.write("t.csv", holes)});
  for (const char* part :
       {"t.csv: 6 cells of 4 rows are no finite numbers: 3 in field 2 (\"y\"), 2 in field 1 (\"x\"), 1 in field 3",
        "the first are line 2: field 2 is \"?\"; line 4: field 1 is \"\"; line 4: field 2 is \"\"",
        "data.missing = \"drop\" leaves such rows out, \"mean\" fills in"})
    CHECK(contains(said, part));
}

TEST_CASE("rows with bad cells are left out, or filled in with the mean of the training rows, as data.missing says") {
  const Folder folder;
  const auto dropped = load_files<double>({.train = folder.write("t.csv", holes), .missing = Missing::drop},
                                          {.normalise = Normalise::none, .test_share = 0.5, .shuffle = false});
  CHECK(dropped->train.size() == 1);
  CHECK(dropped->test.size() == 1);
  CHECK(dropped->test.features(0, 0) == 7);
  REQUIRE(dropped->notes.size() == 1);
  CHECK(contains(dropped->notes[0], "6 cells of 4 rows"));
  CHECK(contains(complaint_about({.train = folder.write("t.csv", holes), .missing = Missing::mean}), "labels are among them"));

  const DataFiles files{.train = folder.write("t.csv", std::string("1,?,a\n3,4,b\n,8,a\n")),
                        .test = folder.write("s.csv", std::string("?,100,b\n")),
                        .missing = Missing::mean};
  const auto filled = load_files<double>(files, {.normalise = Normalise::none});
  CHECK(filled->train.features(0, 1) == 6);
  CHECK(filled->train.features(2, 0) == 2);
  CHECK(filled->test.features(0, 0) == 2);  // not of the test rows
  CHECK(filled->notes.size() == 2);
  CHECK(contains(complaint_about({.train = folder.write("t.csv", std::string("?,1,a\n?,2,b\n")), .missing = Missing::mean}),
                 "feature 1 has no number in any training row"));
}

TEST_CASE("arrays may have bad cells, too") {
  const Folder folder;
  const auto x = folder.write("x.npy", test::npy_of<float>("<f4", "(3, 2)", {1, NAN, 3, 4, INFINITY, 8}));
  const auto y = folder.write("y.npy", test::npy_of<std::int64_t>("<i8", "(3,)", {0, 1, 0}));
  CHECK(contains(complaint_about({.train = x, .train_labels = y}), "x.npy: 2 cells of 2 rows"));
  const auto filled = load_files<float>({.train = x, .train_labels = y, .missing = Missing::mean},
                                        {.normalise = Normalise::none, .test_share = 0.3, .shuffle = false});
  CHECK(filled->train.features(0, 1) == 4);
  CHECK(filled->test.features(0, 0) == 2);
  CHECK(contains(complaint_about({.train = folder.write("a.svm", std::string("1 2:1\n-1 1:1\n")), .missing = Missing::mean}),
                 "data.missing is set, but nothing reads it"));
}

TEST_CASE("labels may be the numbers that are to be learned") {
  const Folder folder;
  const auto dataset = load_files<double>({.train = folder.write("t.csv", std::string("1,2.5\n3,-4\n")),
                                           .test = folder.write("s.csv.gz", test::gzipped(test::bytes_of("5,6\n"))),
                                           .learn = LearnKind::number},
                                          {});
  CHECK(dataset->classes == 0);
  CHECK(dataset->train.labels.empty());
  CHECK(dataset->train.targets == std::vector<double>{2.5, -4});
  CHECK(dataset->test.targets == std::vector<double>{6});
}

TEST_CASE("every format is told by the ending of the name") {
  const Folder folder;
  const auto x = test::npy_of<std::uint8_t>("|u1", "(4, 2, 2)", std::vector<std::uint8_t>(16, 255));
  const auto y = test::npy_of<std::int64_t>("<i8", "(4,)", {3, 7, 3, 7});
  const auto npy = load_files<float>({.train = folder.write("x.npy", x), .train_labels = folder.write("y.npy", y)}, {});
  CHECK(npy->classes == 2);
  CHECK(npy->train.features(0, 0) == 1);  // images are brought to 0 to 1
  const std::vector<test::ZipFile> parts{{"x_train.npy", x}, {"y_train.npy", y}, {"x_test.npy", x}, {"y_test.npy", y}};
  const auto npz = load_files<float>({.train = folder.write("all.npz", test::zip_of(parts, true))}, {});
  CHECK(npz->train.size() == 4);
  CHECK(npz->test.size() == 4);
  const auto idx = load_files<float>({.train = folder.write("a-ubyte.gz", test::gzipped(test::idx_bytes({4, 2, 2}))),
                                      .train_labels = folder.write("b-ubyte", test::idx_bytes({4}, 2))},
                                     {});
  CHECK(idx->shape == Shape{1, 2, 2});
  CHECK(load_files<float>({.train = folder.write("b.bin.xz", test::xz_packed(test::cifar_bytes(6)))}, {.classes = 10})->classes ==
        10);
  CHECK(load_files<float>({.train = folder.write("a.svm", std::string("1 2:1\n-1 1:1\n")), .features = 7}, {})->inputs() == 7);
}

TEST_CASE("rows are given a shape, which must fit them") {
  const Folder folder;
  const auto file = folder.write("t.csv", std::string("1,2,3,4,0\n5,6,7,8,1\n"));
  CHECK(load_files<float>({.train = file, .shape = {1, 2, 2}}, {})->shape == Shape{1, 2, 2});
  CHECK(contains(complaint_about({.train = file, .shape = {1, 2, 3}}), "data.shape is 1 x 2 x 3; a row of"));
  CHECK(contains(complaint_about({.train = file, .shape = {4}}), "data.shape has 1 numbers; allowed are 3"));
}

TEST_CASE("images in a text are brought to 0 to 1 by their own range, whole numbers or not") {
  const Folder folder;
  const auto of = [&](const std::string& text) {
    return load_files<double>({.train = folder.write("t.csv", text), .shape = {1, 2, 2}}, {.test_share = 0.3, .shuffle = false});
  };
  CHECK(of("0,1,1,0,0\n1,0,0,1,1\n0,0,0,1,1\n")->train.features(0, 1) == 1);
  CHECK(of("0,16,8,0,0\n1,0,0,1,1\n0,0,0,1,1\n")->train.features(0, 2) == 0.5);
  CHECK(of("0,255,51,0,0\n1,0,0,1,1\n0,0,0,1,1\n")->train.features(0, 2) == doctest::Approx(0.2));
}

TEST_CASE("a key that nothing reads is refused") {
  const Folder folder;
  const auto csv = folder.write("t.csv", table), numbers = folder.write("n.csv", std::string("1,2.5\n3,-4\n"));
  const auto npz = folder.write("all.npz", test::zip_of({{"x.npy", test::npy_of<float>("<f4", "(2, 1)", {1, 2})},
                                                         {"y.npy", test::npy_of<float>("<f4", "(2,)", {0, 1})}},
                                                        true));
  CHECK(complaint_about({.train = npz}) == "nothing was thrown");
  CHECK(contains(complaint_about({.train = csv, .features = 2}), "data.features is set, but nothing reads it"));
  CHECK(contains(complaint_about({.train = npz, .label = "kind"}), "data.label is set, but nothing reads it"));
  CHECK(contains(complaint_about({.train = npz, .header = FirstLine::names}), "data.header is set, but nothing"));
  CHECK(contains(complaint_about({.train = npz, .test_labels = npz}), "data.test_labels is set, but nothing reads it"));
  CHECK(contains(complaint_about({.train = numbers, .learn = LearnKind::number}, {.classes = 2}),
                 "data.classes is set, but nothing reads it: data.learn is \"number\""));
  CHECK(contains(complaint_about({.train = numbers, .label_order = std::vector<std::string>{"a"}, .learn = LearnKind::number}),
                 "data.label_order is set"));
  CHECK(complaint_about({.train = npz, .test = csv, .label = "kind"}).find("data.label is set") == std::string::npos);
}

TEST_CASE("a first line of numbers is names or a sample, as the experiment says") {
  const Folder folder;
  const auto file = folder.write("t.csv", std::string("2019,2020,1\n1,2,0\n3,4,1\n5,6,0\n"));
  const auto rows = [&](FirstLine first_line) {
    const auto dataset = load_files<float>({.train = file, .header = first_line}, {});
    return dataset->train.size() + dataset->test.size();
  };
  CHECK(rows(FirstLine::automatic) == 4);
  CHECK(rows(FirstLine::names) == 3);
}

TEST_CASE("columns of the same names in another order are refused") {
  const Folder folder;
  const auto train = folder.write("t.csv", table), moved = folder.write("m.csv", std::string("y,x,kind\n1,2,red\n")),
             same = folder.write("s.csv", std::string("x,y,what\n1,2,red\n")),
             bare = folder.write("b.csv", std::string("1,2,red\n"));
  CHECK(contains(complaint_about({.train = train, .test = moved}), "m.csv: feature 1 is named \"y\"; in "));
  CHECK(complaint_about({.train = train, .test = same}) == "nothing was thrown");
  CHECK(complaint_about({.train = train, .test = bare}) == "nothing was thrown");
}

TEST_CASE("a number to be learned that is infinite in the precision of the experiment is refused with its row") {
  const Folder folder;
  const DataFiles files{.train = folder.write("t.csv", std::string("1,2\n3,1e39\n5,6\n")), .learn = LearnKind::number};
  CHECK(contains(complaint_about(files), "t.csv: row 1 has a label that is too large"));
  CHECK(load_files<double>(files, {})->train.size() == 2);
}

TEST_CASE("what does not fit together is refused with the key or the file") {
  const Folder folder;
  const auto csv = folder.write("t.csv", table), other = folder.write("u.csv", std::string("x,y,z,kind\n1,2,3,red\n"));
  const auto x = folder.write("x.npy", test::npy_of<float>("<f4", "(2, 2)", {1, 2, 3, 4}));
  const auto y = folder.write("y.npy", test::npy_of<float>("<f4", "(3,)", {1, 2, 3}));
  CHECK(contains(complaint_about({.train = csv, .train_labels = y}), "data.train_labels is not for this format"));
  CHECK(contains(complaint_about({.train = x}), "data.train_labels must be set"));
  CHECK(contains(complaint_about({.train = x, .train_labels = y}), "x.npy: has 2 rows and 3 labels"));
  CHECK(contains(complaint_about({.train = csv, .test = other}), "the training part has 2 features and the test part 3"));
  CHECK(contains(complaint_about({.train = folder.write("what", table)}), "does not say it; allowed are csv"));
  CHECK(contains(complaint_about({.train = csv, .learn = LearnKind::number}), "needs numbers"));
  CHECK(contains(complaint_about({.train = csv}, {.classes = 3}), "data.classes is 3"));
}
