// Json: an immutable-when-shared JSON value with cheap copies.
//
// 16 bytes; strings up to 14 bytes are inline, longer ones, arrays and objects are reference-counted
// (atomically: a value may be read by several threads at once, as long as nobody edits that handle).
// Copying shares; editing copies only the path that is edited. Members keep their order.
// Integers, unsigned integers above int64 and doubles stay apart, as in Kubernetes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace api {

class Json {
 public:
  enum class Type : std::uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kArray, kObject };
  struct Member;

  Json() noexcept { raw_clear(); }
  Json(std::nullptr_t) noexcept { raw_clear(); }  // NOLINT
  Json(bool value) noexcept {
    raw_clear();
    tag_ = kTagBool;
    set_word(value ? 1 : 0);
  }                                                                     // NOLINT
  Json(int value) noexcept : Json(static_cast<std::int64_t>(value)) {}  // NOLINT
  Json(std::int64_t value) noexcept {
    raw_clear();
    tag_ = kTagInt;
    set_word(static_cast<std::uint64_t>(value));
  }                                    // NOLINT
  Json(std::uint64_t value) noexcept;  // NOLINT: becomes an int where it fits
  Json(double value) noexcept;         // NOLINT
  Json(std::string_view value) {       // NOLINT
    if (value.size() <= kInlineMax) {
      const Words words = short_words(value);
      std::memcpy(static_cast<void*>(this), &words, sizeof words);
    } else {
      make_long(value);
    }
  }
  Json(const char* value) : Json(std::string_view(value)) {}         // NOLINT
  Json(const std::string& value) : Json(std::string_view(value)) {}  // NOLINT
  Json(const Json& other) noexcept {
    std::memcpy(static_cast<void*>(this), &other, sizeof other);
    if (is_counted()) retain();
  }
  Json(Json&& other) noexcept {
    std::memcpy(static_cast<void*>(this), &other, sizeof other);
    other.raw_clear();
  }
  Json& operator=(const Json& other) noexcept {
    if (this != &other) {
      Json copy(other);
      swap(copy);
    }
    return *this;
  }
  Json& operator=(Json&& other) noexcept {
    Json moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Json() {
    if (is_counted()) release();
  }

  static Json array(std::vector<Json> items = {});
  static Json object(std::initializer_list<std::pair<std::string_view, Json>> members = {});
  static Json object_of_size(std::size_t members);  // empty, with room for so many
  // In their order. The last of values with equal names counts, at the place of the first.
  static Json object_of(std::vector<Member> members);

  Type type() const;
  bool is_null() const { return tag_ == kTagNull; }
  bool is_bool() const { return tag_ == kTagBool; }
  bool is_int() const { return tag_ == kTagInt; }
  bool is_number() const { return tag_ == kTagInt || tag_ == kTagUint || tag_ == kTagDouble; }
  bool is_string() const { return tag_ == kTagShort || tag_ == kTagString; }
  bool is_array() const { return tag_ == kTagArray; }
  bool is_object() const { return tag_ == kTagObject; }

  // Lenient readers: the fallback when the value is of another type. A string view lives as long as
  // this handle (short strings are inside it).
  bool as_bool(bool fallback = false) const { return tag_ == kTagBool ? word() != 0 : fallback; }
  std::int64_t as_int(std::int64_t fallback = 0) const;     // truncates doubles towards zero
  std::uint64_t as_uint(std::uint64_t fallback = 0) const;  // negative numbers give the fallback
  double as_double(double fallback = 0) const;
  std::string_view as_string(std::string_view fallback = {}) const {
    if (tag_ == kTagShort) return {reinterpret_cast<const char*>(bytes_), bytes_[kInlineMax]};
    return tag_ == kTagString ? long_text() : fallback;
  }
  std::string str() const { return std::string(as_string()); }

  // Array and object contents; empty for other types.
  std::span<const Json> items() const;
  std::span<const Member> members() const;
  std::size_t size() const { return is_object() ? members_size() : items().size(); }
  bool empty() const { return size() == 0; }

  // The member, or null (the pointer, respectively the value) when absent or not an object.
  const Json* find(std::string_view key) const;
  const Json& operator[](std::string_view key) const;
  // A name that stands in the source is two numbers already when the program is built.
  template <std::size_t N>
  [[gnu::always_inline]] const Json& operator[](const char (&key)[N]) const {
    if constexpr (N - 1 <= kInlineMax)
      return member_or_null(short_words({key, N - 1}));
    else
      return (*this)[std::string_view(key, N - 1)];
  }
  const Json& operator[](std::size_t index) const;  // null when out of range
  bool has(std::string_view key) const { return find(key) != nullptr; }

  // Edits. They turn a null into an object or array; calling them on another type is a bug.
  void set(std::string_view key, Json value);
  bool erase(std::string_view key);
  void push_back(Json value);
  Json& edit(std::string_view key);  // the member for editing, inserted as null when absent
  Json& edit(std::size_t index);     // index must be in range
  void insert(std::size_t index, Json value);
  void erase_at(std::size_t index);
  // Walks or makes nested objects: j.at_path({"metadata", "labels"}).
  Json& edit_path(std::initializer_list<std::string_view> keys);
  const Json& at_path(std::initializer_list<std::string_view> keys) const;

  void swap(Json& other) noexcept {
    unsigned char saved[sizeof(Json)];
    std::memcpy(saved, this, sizeof saved);
    std::memcpy(static_cast<void*>(this), &other, sizeof other);
    std::memcpy(static_cast<void*>(&other), saved, sizeof saved);
  }
  // Deep equality. Numbers compare by value across int, uint and double; member order is ignored.
  friend bool operator==(const Json& a, const Json& b);
  friend Json share_text(std::string_view text, std::shared_ptr<const void> owner);  // shared_text.h
  // True if both handles share one representation (a cheap "certainly equal").
  bool same_as(const Json& other) const;

  // Compact text, in member order, escaped as Go's encoding/json does.
  std::string dump() const;
  void dump_to(std::string& out) const;
  // Indented by `indent` spaces.
  std::string pretty(int indent = 2) const;
  // A copy whose objects have their members sorted by key, recursively.
  Json sorted() const;

 private:
  enum Tag : std::uint8_t {
    kTagNull,
    kTagBool,
    kTagInt,
    kTagUint,
    kTagDouble,
    kTagShort,
    kTagString,
    kTagArray,
    kTagObject
  };
  struct StringRep;
  struct ArrayRep;
  struct ObjectRep;

  static constexpr std::size_t kInlineMax = 14;

  // A text of at most kInlineMax bytes as it stands in a value; equal texts have equal words.
  struct Words {
    std::uint64_t low, high;
    friend bool operator==(const Words&, const Words&) = default;
  };
  // The bytes are taken in words that overlap: a copy of so few bytes costs more than the comparison.
  static Words short_words(std::string_view text) {
    static_assert(std::endian::native == std::endian::little && kInlineMax == 14);
    const auto load = [&](auto word, std::size_t at) {
      std::memcpy(&word, text.data() + at, sizeof word);
      return static_cast<std::uint64_t>(word);
    };
    const std::size_t size = text.size();
    Words out{0, std::uint64_t{kTagShort} << 56 | std::uint64_t{size} << 48};
    if (size >= 8) {
      out.low = load(std::uint64_t{}, 0);
      if (size > 8) out.high |= load(std::uint64_t{}, size - 8) >> (8 * (16 - size));
    } else if (size >= 4) {
      out.low = load(std::uint32_t{}, 0) | load(std::uint32_t{}, size - 4) << (8 * (size - 4));
    } else if (size > 0) {
      out.low = load(std::uint8_t{}, 0) | load(std::uint8_t{}, size / 2) << (8 * (size / 2)) |
                load(std::uint8_t{}, size - 1) << (8 * (size - 1));
    }
    return out;
  }
  const Json& member_or_null(const Words& name) const;
  std::string_view long_text() const;  // of kTagString
  Words words() const {
    Words out;
    std::memcpy(&out, this, sizeof out);
    return out;
  }

  void raw_clear() noexcept {
    std::memset(bytes_, 0, sizeof bytes_);
    tag_ = kTagNull;
  }
  bool is_counted() const { return tag_ >= kTagString; }
  std::uint64_t word() const {
    std::uint64_t w;
    std::memcpy(&w, bytes_, 8);
    return w;
  }
  void set_word(std::uint64_t w) { std::memcpy(bytes_, &w, 8); }
  template <class T>
  T* rep() const {
    return reinterpret_cast<T*>(word());
  }
  void make_long(std::string_view text);
  void retain() const noexcept;
  void release() noexcept;
  std::size_t members_size() const;
  ObjectRep& own_object();
  ArrayRep& own_array();

  alignas(8) unsigned char bytes_[15];  // payload; a short string has its length in bytes_[14]
  Tag tag_;
};

struct Json::Member {
  Json key;  // a string
  Json value;

  std::string_view name() const { return key.as_string(); }
};

static_assert(sizeof(Json) == 16);

struct ParseOptions {
  // Appends one JSON path ("spec.tasks[0].name") per key that occurs twice in one object.
  std::vector<std::string>* duplicate_keys = nullptr;
};

// Strict JSON (RFC 8259) with Kubernetes' number rules: integers beyond 64 bits become doubles; 1e309
// and bad UTF-8 are errors; the last of two equal keys wins.
base::Result<Json> parse_json(std::string_view text, ParseOptions options = {});

// A Go-style double: shortest digits, exponent form outside [1e-6, 1e21).
std::string format_double(double value);

}  // namespace api
