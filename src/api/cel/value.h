// Which values do expressions of the Common Expression Language (CEL) compute with?
//
// A value is small and shared: copies are cheap. An error is a value too, so that "false && error" can be false.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/cel/access.h"
#include "api/json/json.h"
#include "api/schema/quantity.h"

namespace api::cel {

class Value;

struct Error {
  std::string message;
};
struct Bytes {
  std::string data;
  bool operator==(const Bytes&) const = default;
};
struct TypeName {
  std::string_view name;  // of a constant
  bool operator==(const TypeName&) const = default;
};
struct DurationValue {
  std::int64_t ns = 0;
  auto operator<=>(const DurationValue&) const = default;
};
// A time in the years 0 to 9999.
struct TimeValue {
  std::int64_t seconds = 0;  // since 1970
  std::int64_t nanos = 0;    // after that second: 0 to 999,999,999
  auto operator<=>(const TimeValue&) const = default;
};
// A version by semver.org; build metadata does not count in comparisons.
struct Semver {
  std::uint64_t major = 0, minor = 0, patch = 0;
  std::vector<std::string> prerelease;
  static std::optional<Semver> parse(std::string_view text, bool lenient);
  int compare(const Semver& other) const;
};
// An address, 4 or 16 bytes; with a prefix length it is a network.
struct Ip {
  std::vector<std::uint8_t> bytes;
  int prefix = -1;
  static std::optional<Ip> parse(std::string_view text);
  static std::optional<Ip> parse_cidr(std::string_view text);
  bool contains(const Ip& other) const;
  Ip masked() const;
  std::string to_string() const;
  bool operator==(const Ip&) const = default;
};

// A URL, its parts as Go's net/url keeps them.
struct Url {
  std::string scheme, opaque, user, host, path, raw_path, query, fragment;
  bool has_user = false;  // there is an '@', though `user` may be empty
  bool operator==(const Url&) const = default;
};
// A reference to a container's image; tag or digest, never both.
struct Image {
  std::string registry, repository, tag, digest;
  bool operator==(const Image&) const = default;
};
// A named rule for strings ("dns1123Label").
struct NamedFormat {
  std::string_view name;  // of a constant
  bool operator==(const NamedFormat&) const = default;
};
// A question about rights, as far as it was put, and its answer.
struct Authorizer {
  enum class Stage : std::uint8_t { kWhom, kPath, kGroup, kResource, kDecision };

  std::shared_ptr<const AccessJudge> judge;
  AccessQuestion of_request;  // what the request itself is about: authorizer.requestResource
  AccessAccount account = {};
  AccessQuestion question = {};
  Stage stage = Stage::kWhom;
  bool allowed = false;
  bool operator==(const Authorizer&) const = default;
};
// A value that may be absent; null stands for optional.none().
struct Optional {
  std::shared_ptr<const Value> value;
};

// A list. A list of a stranger's schema may be a set, or have items known by members of theirs: in these the order is
// of no matter to == and +.
struct List : std::vector<Value> {
  using std::vector<Value>::vector;

  bool is_set = false;
  std::shared_ptr<const std::vector<std::string>> keys = {};  // the members by which items are known; null: plain
};
struct Map {
  std::vector<std::pair<Value, Value>> entries;  // in the order of their making
  bool empty_maps_for_missing = false;           // a missing key reads as an empty map
};

class Value {
 public:
  Value() = default;                                                                  // null
  Value(bool v) : data_(v) {}                                                         // NOLINT
  Value(std::int64_t v) : data_(v) {}                                                 // NOLINT
  Value(std::uint64_t v) : data_(v) {}                                                // NOLINT
  Value(double v) : data_(v) {}                                                       // NOLINT
  Value(std::string v) : data_(std::make_shared<const std::string>(std::move(v))) {}  // NOLINT
  Value(std::string_view v) : Value(std::string(v)) {}                                // NOLINT
  Value(const char* v) : Value(std::string(v)) {}                                     // NOLINT
  Value(Error v) : data_(std::make_shared<const Error>(std::move(v))) {}              // NOLINT
  Value(Bytes v) : data_(std::make_shared<const Bytes>(std::move(v))) {}              // NOLINT
  Value(TypeName v) : data_(v) {}                                                     // NOLINT
  Value(DurationValue v) : data_(v) {}                                                // NOLINT
  Value(TimeValue v) : data_(v) {}                                                    // NOLINT
  Value(Quantity v) : data_(std::make_shared<const Quantity>(v)) {}                   // NOLINT
  Value(Semver v) : data_(std::make_shared<const Semver>(std::move(v))) {}            // NOLINT
  Value(Ip v) : data_(std::make_shared<const Ip>(std::move(v))) {}                    // NOLINT
  Value(Url v) : data_(std::make_shared<const Url>(std::move(v))) {}                  // NOLINT
  Value(Image v) : data_(std::make_shared<const Image>(std::move(v))) {}              // NOLINT
  Value(Authorizer v) : data_(std::make_shared<const Authorizer>(std::move(v))) {}    // NOLINT
  Value(NamedFormat v) : data_(v) {}                                                  // NOLINT
  Value(Optional v) : data_(std::make_shared<const Optional>(std::move(v))) {}        // NOLINT
  Value(List v) : data_(std::make_shared<const List>(std::move(v))) {}                // NOLINT
  Value(Map v) : data_(std::make_shared<const Map>(std::move(v))) {}                  // NOLINT
  static Value from_json(const Json& json, int depth = 0);

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_error() const { return error() != nullptr; }
  template <class T>
  const T* get() const {
    if constexpr (std::is_same_v<T, bool> || std::is_arithmetic_v<T> || std::is_same_v<T, TypeName> ||
                  std::is_same_v<T, DurationValue> || std::is_same_v<T, TimeValue> || std::is_same_v<T, NamedFormat>) {
      return std::get_if<T>(&data_);
    } else {
      const auto* shared = std::get_if<std::shared_ptr<const T>>(&data_);
      return shared == nullptr ? nullptr : shared->get();
    }
  }
  const Error* error() const { return get<Error>(); }
  std::string_view type_name() const;

 private:
  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, TypeName, DurationValue, TimeValue,
               std::shared_ptr<const std::string>, std::shared_ptr<const Error>, std::shared_ptr<const Bytes>,
               std::shared_ptr<const Quantity>, std::shared_ptr<const Semver>, std::shared_ptr<const Ip>,
               std::shared_ptr<const List>, std::shared_ptr<const Map>, std::shared_ptr<const Optional>,
               std::shared_ptr<const Url>, std::shared_ptr<const Image>, NamedFormat, std::shared_ptr<const Authorizer>>
      data_;
};

// Equality of CEL: numbers by value across their types; values of different types are unequal. `work` grows with what
// is compared; beyond kWorkMax the answer is no.
inline constexpr std::uint64_t kWorkMax = 10'000'000;
bool equal(const Value& a, const Value& b, std::uint64_t& work, int depth = 0);
// For sets and lists with keys (lists.cc): a == b, and a + b.
bool equal_unordered(const List& a, const List& b, std::uint64_t& work, int depth);
List joined(const List& a, const List& b, std::uint64_t& work);
// -1, 0, 1; nothing where the two cannot be ordered.
std::optional<int> compare(const Value& a, const Value& b);
// The entry of a key, or null.
const Value* find(const Map& map, const Value& key, std::uint64_t& work);
// Quantity, URL and the like in the form in which string() writes them.
Value to_string(const Value& value);
inline Value fail(std::string message) { return Error{std::move(message)}; }
Value no_overload(std::string_view what);
// The JSON of a value; unset where it cannot, or where it takes more than `bytes_max` to say.
std::optional<Json> to_json(const Value& value, std::size_t bytes_max);
// An optional that holds the value.
Value some(Value value);

}  // namespace api::cel
