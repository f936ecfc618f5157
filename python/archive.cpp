#include "python/archive.hpp"

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
  const auto write_plain = [&](Kind kind, auto plain) {
    write_kind(archive, kind);
    archive(plain);
  };
  if (value.is_none()) return write_kind(archive, Kind::none);
  if (py::isinstance<py::bool_>(value)) return write_plain(Kind::flag, value.cast<bool>());
  if (py::isinstance<py::int_>(value)) return write_plain(Kind::whole, value.cast<std::int64_t>());
  if (py::isinstance<py::float_>(value)) return write_plain(Kind::number, value.cast<double>());
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

template <class Plain>
Plain read_plain(Archive& archive) {
  Plain plain{};
  archive(plain);
  return plain;
}

py::object read(Archive& archive, int depth) {
  archive.require(depth <= deepest);
  const auto kind = read_plain<Kind>(archive);
  switch (kind) {
    case Kind::none:
      return py::none();
    case Kind::flag:
      return py::bool_(read_plain<bool>(archive));
    case Kind::whole:
      return py::int_(read_plain<std::int64_t>(archive));
    case Kind::number:
      return py::float_(read_plain<double>(archive));
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
      const auto count = read_plain<std::uint64_t>(archive);
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
