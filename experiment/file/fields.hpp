// The rows of the table of keys: a key, the member of the experiment that it sets, and what follows from that member -
// the type, the default, the words of a choice, how it is read and how it is written.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "algos/catalogue.hpp"
#include "experiment/experiment.hpp"
#include "experiment/file/keys.hpp"

namespace rubato::config {

/// One row: a key of a struct.
template <class Struct>
struct Field : Key {
  std::function<void(const Value&, Struct&)> read;  ///< of a value that has been checked
  std::function<Value(const Struct&)> write;        ///< null where the struct's own writer does it: options of algorithms

  /// The choices that know the key: "kind=torus|grid" or "name!=quadratic".
  Field& with(std::string condition) { return when = std::move(condition), *this; }
  /// Where the member's type says too little: a whole number may be a client.
  Field& as(Type narrower) { return type = narrower, *this; }
  Field& one_of(std::string words) { return choices = std::move(words), *this; }
  /// Where the default is not that of the member.
  Field& or_else(Value other) { return fallback = std::move(other), *this; }
  /// Where another struct of this type stands in the experiment: its default and its table.
  Field& of(std::string_view path, const Struct& instance) { return table = path, fallback = write(instance), *this; }
};

/// The rows of a struct in the order of the documentation; a key stands behind the choices it depends on.
template <class Struct>
struct Rows {
  std::string_view table{};  ///< "timer", "law" and what stands in lists serve several paths
  std::vector<Field<Struct>> all{};

  /// The choices that know the rows from here on, unless a row names its own.
  void only_with(std::string condition) { when_ = std::move(condition); }
  void for_all() { when_.clear(); }

  /// A row of a key that must be set.
  template <class Owner, class Member>
  Field<Struct>& required(std::string_view name, Member Owner::*member, Range range, std::string_view meaning);
  template <class Owner, class Member>
  Field<Struct>& required(std::string_view name, Member Owner::*member, std::string_view meaning) {
    return required(name, member, Range{}, meaning);
  }
  /// A row of a key whose default is that of its member; where that is an empty std::optional, "none".
  template <class Owner, class Member>
  Field<Struct>& key(std::string_view name, Member Owner::*member, Range range, std::string_view meaning) {
    Field<Struct>& row = required(name, member, range, meaning);
    row.fallback = row.type == Type::table ? Value{Table{}} : row.write(Struct{});
    return row;
  }
  template <class Owner, class Member>
  Field<Struct>& key(std::string_view name, Member Owner::*member, std::string_view meaning) {
    return key(name, member, Range{}, meaning);
  }

 private:
  std::string when_;
};

void describe(Rows<Experiment>& rows);
void describe(Rows<Clients>& rows);
void describe(Rows<DeviceClass>& rows);
void describe(Rows<TimerLaw>& rows);
void describe(Rows<Topology>& rows);
void describe(Rows<Channel>& rows);
void describe(Rows<Link>& rows);
void describe(Rows<Churn>& rows);
void describe(Rows<ChurnEvent>& rows);
void describe(Rows<Absence>& rows);
void describe(Rows<Mailbox>& rows);
void describe(Rows<Unification>& rows);
void describe(Rows<Protocol>& rows);
void describe(Rows<Algorithm>& rows);
void describe(Rows<Data>& rows);
void describe(Rows<Partition>& rows);
void describe(Rows<Model>& rows);
void describe(Rows<Metrics>& rows);
void describe(Rows<Stop>& rows);
void describe(Rows<Theory>& rows);
void describe(Rows<Budget>& rows);
void describe(Rows<Energy>& rows);
void describe(Rows<Limits>& rows);
void describe(Rows<Host>& rows);
void describe(Rows<Hosts>& rows);
void describe(Rows<Impaired>& rows);
void describe(Rows<Law>& rows);

template <class Struct>
const Rows<Struct>& rows_of() {
  static const Rows<Struct> rows = [] {
    Rows<Struct> all;
    describe(all);
    return all;
  }();
  return rows;
}

/// The rows of [algorithm] have the options of the catalogue, which grows.
template <>
const Rows<Algorithm>& rows_of<Algorithm>();

/// What is made of the catalogue as it is now. What was made of it before stays, because references to it are in use.
template <class Made>
class OfCatalogue {
 public:
  template <class Make>
  const Made& get(Make make) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<const Made>& made = by_version_[catalogue_version()];
    if (!made) made = std::make_unique<const Made>(make());
    return *made;
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<const Made>> by_version_;
};

/// Between values of the file and members.
struct Convert {
  static void read(const Value& value, bool& field) { field = *value.as<bool>(); }
  static void read(const Value& value, std::int64_t& field) { field = *value.as<std::int64_t>(); }
  static void read(const Value& value, std::string& field) { field = *value.as<std::string>(); }
  static void read(const Value& value, std::filesystem::path& field) { field = *value.as<std::string>(); }
  static void read(const Value& value, double& field) {
    const auto* whole = value.as<std::int64_t>();
    field = whole ? static_cast<double>(*whole) : *value.as<double>();
  }
  static void read(const Value& value, Record& record) {
    const auto* bytes = value.as<std::int64_t>();
    record = {bytes ? Record::Kind::limited : value.is_text("off") ? Record::Kind::off : Record::Kind::full, bytes ? *bytes : 0};
  }
  static void read(const Value& value, Law& law) {
    law = {};
    if (value.as<Table>()) return read_struct(value, law);
    law.law = value.as<List>() ? LawKind::list : LawKind::constant;
    if (law.law == LawKind::list) return read(value, law.values);
    read(value, law.value);
  }
  static void read(const Value& value, std::pair<std::int64_t, std::int64_t>& edge) {
    read((*value.as<List>())[0], edge.first);
    read((*value.as<List>())[1], edge.second);
  }
  template <class Member>
  static void read(const Value& value, std::optional<Member>& field) {
    if constexpr (std::is_enum_v<Member>) return void(field = choice_of<std::optional<Member>>(*value.as<std::string>()));
    field.reset();
    if (!value.is_text("none")) read(value, field.emplace());
  }
  template <class Member>
  static void read(const Value& value, std::vector<Member>& list) {
    list.clear();
    for (const Value& element : *value.as<List>()) read(element, list.emplace_back());
  }
  template <class Member>
  static void read(const Value& value, Member& field) {
    if constexpr (std::is_enum_v<Member>)
      field = choice_of<Member>(*value.as<std::string>());
    else
      read_struct(value, field = {});
  }
  template <class Struct>
  static void read_struct(const Value& value, Struct& object) {
    for (const Field<Struct>& field : rows_of<Struct>().all)
      if (const Value* given = value.as<Table>()->find(field.name)) field.read(*given, object);
  }

  static Value write(bool field) { return {field}; }
  static Value write(std::int64_t field) { return {field}; }
  static Value write(double field) { return {field}; }
  static Value write(const std::string& field) { return {field}; }
  static Value write(const std::filesystem::path& field) { return {field.string()}; }
  static Value write(const Record& record) {
    if (record.kind == Record::Kind::limited) return {record.bytes};
    return {std::string(record.kind == Record::Kind::off ? "off" : "full")};
  }
  static Value write(const Law& law) {
    if (law.law == LawKind::constant) return {law.value};
    return law.law == LawKind::list ? write(law.values) : write_struct(law);
  }
  static Value write(const Algorithm& algorithm);
  static Value write(const std::pair<std::int64_t, std::int64_t>& edge) { return {List{write(edge.first), write(edge.second)}}; }
  template <class Member>
  static Value write(const std::optional<Member>& field) {
    if constexpr (std::is_enum_v<Member>) return {std::string(word_of(field))};
    return field ? write(*field) : Value{std::string("none")};
  }
  template <class Member>
  static Value write(const std::vector<Member>& list) {
    List values;
    for (const Member& element : list) values.push_back(write(element));
    return {std::move(values)};
  }
  template <class Member>
  static Value write(const Member& field) {
    if constexpr (std::is_enum_v<Member>)
      return {std::string(word_of(field))};
    else
      return write_struct(field);
  }
  template <class Struct>
  static Value write_struct(const Struct& object) {
    Table table;
    for (const Field<Struct>& field : rows_of<Struct>().all)
      if (field.write && !table.find(field.name)) table.entries.push_back({std::string(field.name), field.write(object)});
    return {std::move(table)};
  }
};

template <class Member>
struct TypeOf {
  static constexpr Type value = std::is_enum_v<Member> ? Type::choice : Type::table;
};
template <class Member>
struct TypeOf<std::optional<Member>> : TypeOf<Member> {};
template <class Member>
struct TypeOf<std::vector<Member>> {
  static constexpr Type value = Type::tables;
};
template <Type type>
using Is = std::integral_constant<Type, type>;
using Edge = std::pair<std::int64_t, std::int64_t>;
// clang-format off
template <> struct TypeOf<bool> : Is<Type::boolean> {};
template <> struct TypeOf<std::int64_t> : Is<Type::integer> {};
template <> struct TypeOf<double> : Is<Type::number> {};
template <> struct TypeOf<std::string> : Is<Type::text> {};
template <> struct TypeOf<std::filesystem::path> : Is<Type::file> {};
template <> struct TypeOf<Record> : Is<Type::size> {};
template <> struct TypeOf<Law> : Is<Type::law> {};
template <> struct TypeOf<std::vector<std::int64_t>> : Is<Type::integers> {};
template <> struct TypeOf<std::vector<std::string>> : Is<Type::texts> {};
template <> struct TypeOf<std::vector<double>> : Is<Type::numbers> {};
template <> struct TypeOf<std::vector<Edge>> : Is<Type::edges> {};
template <> struct TypeOf<std::vector<std::vector<Edge>>> : Is<Type::edge_lists> {};
template <> struct TypeOf<std::vector<std::vector<double>>> : Is<Type::matrix> {};
template <> struct TypeOf<std::vector<std::vector<std::int64_t>>> : Is<Type::groups> {};
// clang-format on

template <class Struct>
template <class Owner, class Member>
Field<Struct>& Rows<Struct>::required(std::string_view name, Member Owner::*member, Range range, std::string_view meaning) {
  constexpr Type type = TypeOf<Member>::value;
  Field<Struct>& row = all.emplace_back();
  row.table = table, row.name = name, row.type = type, row.meaning = meaning, row.when = when_, row.range = range;
  if constexpr (type == Type::tables) row.element = rows_of<typename Member::value_type>().table;
  if constexpr (type == Type::choice) row.choices = word_list(Member{});
  row.read = [member](const Value& value, Struct& object) { Convert::read(value, object.*member); };
  row.write = [member](const Struct& object) { return Convert::write(object.*member); };
  return row;
}

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double longest = 9e9;  // seconds that still fit into 64 bits of nanoseconds

inline constexpr Range positive{0, infinity, true};
inline constexpr Range not_negative{0};
inline constexpr Range seconds{0, longest};
inline constexpr Range some_seconds{1e-9, longest};
inline constexpr Range delays{0, longest, true};
inline constexpr Range chance{0, 1};
inline constexpr Range chance_not_sure{0, 1, false, true};
inline constexpr Range chance_not_none{0, 1, true};
inline constexpr Range count_from_0{0, 1e12};
inline constexpr Range count_from_1{1, 1e12};
inline constexpr Range some_clients{1, 1e7};

}  // namespace rubato::config
