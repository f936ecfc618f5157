#include "python/archive.hpp"

#include <cstring>

namespace rubato::python {

namespace {

enum class Kind : std::uint8_t { none, flag, whole, number, text, array, list, tuple, dict };

constexpr int deepest = 16;  // lists within lists

void text(Archive& archive, std::string& value) {
  std::vector<char> letters(value.begin(), value.end());
  archive(letters);
  value.assign(letters.begin(), letters.end());
}

void write(Archive& archive, const py::handle& value, int depth);

void write_kind(Archive& archive, Kind kind) { archive(kind); }

void write_all(Archive& archive, Kind kind, const py::handle& values, int depth) {
  write_kind(archive, kind);
  std::uint64_t count = py::len(values);
  archive(count);
  for (const py::handle& each : values) write(archive, each, depth + 1);
}

void write_array(Archive& archive, const py::handle& value) {
  const auto array = py::reinterpret_borrow<py::array>(value);
  std::string type = py::str(array.dtype().attr("str"));
  if (std::string_view("fiub").find(array.dtype().kind()) == std::string_view::npos)
    throw py::type_error("an array of " + type + " cannot be archived: its numbers must be");
  write_kind(archive, Kind::array);
  text(archive, type);
  std::vector<std::int64_t> shape(array.shape(), array.shape() + array.ndim());
  archive(shape);
  const py::bytes bytes = array.attr("tobytes")();
  const std::string_view view(bytes);
  std::vector<char> numbers(view.begin(), view.end());
  archive(numbers);
}

void write(Archive& archive, const py::handle& value, int depth) {
  if (depth > deepest) throw py::type_error("the state of an algorithm has lists in lists without end");
  if (value.is_none()) return write_kind(archive, Kind::none);
  if (py::isinstance<py::bool_>(value)) {
    bool flag = value.cast<bool>();
    write_kind(archive, Kind::flag);
    return archive(flag);
  }
  if (py::isinstance<py::int_>(value)) {
    auto whole = value.cast<std::int64_t>();
    write_kind(archive, Kind::whole);
    return archive(whole);
  }
  if (py::isinstance<py::float_>(value)) {
    auto number = value.cast<double>();
    write_kind(archive, Kind::number);
    return archive(number);
  }
  if (py::isinstance<py::str>(value)) {
    auto words = value.cast<std::string>();
    write_kind(archive, Kind::text);
    return text(archive, words);
  }
  if (py::isinstance<py::array>(value)) return write_array(archive, value);
  if (py::isinstance(value, py::module_::import("numpy").attr("generic"))) return write(archive, value.attr("item")(), depth + 1);
  if (py::isinstance<py::list>(value)) return write_all(archive, Kind::list, value, depth);
  if (py::isinstance<py::tuple>(value)) return write_all(archive, Kind::tuple, value, depth);
  if (py::isinstance<py::dict>(value)) return write_all(archive, Kind::dict, py::list(value.attr("items")()), depth);
  throw py::type_error(described(value) +
                       " cannot be archived: archive() of an algorithm returns None, numbers, texts, arrays, and lists, "
                       "tuples and dicts of them");
}

py::object read(Archive& archive, int depth) {
  archive.require(depth <= deepest);
  Kind kind{};
  archive(kind);
  std::uint64_t count = 0;
  switch (kind) {
    case Kind::none:
      return py::none();
    case Kind::flag: {
      bool flag = false;
      archive(flag);
      return py::bool_(flag);
    }
    case Kind::whole: {
      std::int64_t whole = 0;
      archive(whole);
      return py::int_(whole);
    }
    case Kind::number: {
      double number = 0;
      archive(number);
      return py::float_(number);
    }
    case Kind::text: {
      std::string words;
      text(archive, words);
      return py::str(words);
    }
    case Kind::array: {
      std::string type;
      text(archive, type);
      std::vector<std::int64_t> shape;
      std::vector<char> numbers;
      archive(shape, numbers);
      try {
        const py::object flat = py::module_::import("numpy").attr("frombuffer")(py::bytes(numbers.data(), numbers.size()), type);
        return flat.attr("reshape")(py::tuple(py::cast(shape))).attr("copy")();
      } catch (py::error_already_set&) {
        throw BadArchive("an array that cannot be");
      }
    }
    case Kind::list:
    case Kind::tuple:
    case Kind::dict: {
      archive(count);
      archive.require(count <= archive.bytes_left(), "a list is longer than the archive");
      py::list values;
      for (std::uint64_t i = 0; i < count; ++i) values.append(read(archive, depth + 1));
      if (kind == Kind::list) return values;
      if (kind == Kind::tuple) return py::tuple(values);
      py::dict dict;
      for (const py::handle& pair : values) {
        archive.require(py::isinstance<py::tuple>(pair) && py::len(pair) == 2);
        dict[pair.attr("__getitem__")(0)] = pair.attr("__getitem__")(1);
      }
      return dict;
    }
  }
  throw BadArchive("a value of no kind");
}

}  // namespace

void archive_object(Archive& archive, const py::object& object) {
  if (!archive.is_reading()) return write(archive, object.attr("_state")(), 0);
  object.attr("_restore")(read(archive, 0));
}

}  // namespace rubato::python
