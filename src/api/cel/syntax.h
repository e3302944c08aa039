// The tree of an expression, between parser and evaluator.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/cel/value.h"
#include "base/result.h"

namespace api::cel {

enum class Op : std::uint8_t {
  kConstant,
  kName,
  kField,
  kHas,
  kIndex,
  kCall,
  kMethod,
  kList,
  kMap,
  kAnd,
  kOr,
  kNot,
  kNegate,
  kChoose,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kEqual,
  kUnequal,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kAll,
  kExists,
  kExistsOne,
  kTransform,
  kTransformMap,
  kTransformMapEntry,
  kFilter,
  kSortBy,
  kBind,
  kOptionalField,
  kOptionalIndex,
  kOptionalItem,  // an element of a list, or the value of a map's entry, that may be absent
  kOptionalMap,
  kOptionalFlatMap,
  kOptionalOr,
  kOptionalOrValue,
};

// A regular expression that was read once (texts.cc).
struct Pattern;
class Patterns;
Value match_pattern(const Pattern& pattern, const std::string& text, std::uint64_t& cost);

// Children are positions in the same list. Macros over lists: the list, then the bodies; `text` is their variable, and
// `second` the variable of the value where they bind two.
struct Node {
  Op op = Op::kConstant;
  std::string text;  // of a map that is a message: its type
  std::string second;
  Value constant;
  std::vector<std::uint32_t> children;
  std::shared_ptr<const Pattern> pattern;  // of matches() with a constant pattern
  int depth = 1;
};

struct Tree {
  std::vector<Node> nodes;
  std::uint32_t root = 0;
};

inline constexpr int kTreeDepthMax = 150;

// Without `patterns` the constant ones among its patterns are not read.
base::Result<Tree> parse(std::string_view text, const std::vector<std::string>& variables, Patterns* patterns);

// Longer texts are not made.
inline constexpr std::size_t kTextMax = 1'000'000;
// A caller that cannot pay for a piece of work does not get it: alone it may take longer than everything else.
inline Value exhausted() { return fail("operation cancelled: actual cost limit exceeded"); }

// Functions, by their names; an unknown name is an error when the text is read.
bool is_function(std::string_view name);
bool is_method(std::string_view name);
// `cost` grows with the work. Arguments hold no errors.
Value call_function(std::string_view name, const std::vector<Value>& arguments, std::uint64_t& cost);
Value call_method(std::string_view name, const Value& object, const std::vector<Value>& arguments, std::uint64_t& cost);
// The parts of the two tables that libraries add.
using Function = Value (*)(const std::vector<Value>& arguments, std::uint64_t& cost);
using Method = Value (*)(const Value& object, const std::vector<Value>& arguments, std::uint64_t& cost);
struct FunctionRow {
  std::string_view name;
  Function call;
};
struct MethodRow {
  std::string_view name;
  Method call;
};
struct Library {
  std::span<const FunctionRow> functions;
  std::span<const MethodRow> methods;
};
Library kubernetes_library();  // quantities, versions, addresses and networks
Library optional_library();
Library url_library();
Library named_format_library();
Library image_library();
Library authorizer_library();
Value of_request(const Authorizer& whom);  // authorizer.requestResource
// The methods of strings and of times; false when none has the name.
bool is_text_method(std::string_view name);
Value call_text_method(std::string_view name, const std::string& text, const std::vector<Value>& arguments,
                       std::uint64_t& cost);
bool is_time_method(std::string_view name);
Value call_time_method(std::string_view name, const Value& object, const std::vector<Value>& arguments,
                       std::uint64_t& cost);
// "%s".format([...]).
Value format_text(const std::string& format, const std::vector<Value>& arguments, std::uint64_t& cost);
// A text as a literal of the language, in double quotes.
std::string quote(std::string_view text);
// Bytes of the UTF-8 characters of a text; a broken byte is a character of its own.
std::vector<std::string_view> characters(std::string_view text);
// The items in the order of their keys, of which each belongs to the item at its place; equal keys keep their order. An
// error where keys cannot be compared.
Value sorted_by(const std::vector<Value>& items, const std::vector<Value>& keys, std::uint64_t& cost);
// + - * / % and what may be added to and taken from what.
Value calculate(Op op, const Value& a, const Value& b, std::uint64_t& cost);
// An error where it is beyond the years 1 to 9999.
Value time_of(std::int64_t seconds, std::int64_t nanos);
Value negate(const Value& value);
// A URL as Go's url.ParseRequestURI and url.Parse read it; else the error in their words.
std::optional<Url> parse_url(std::string_view text, std::string& problem);
// The same by url.Parse alone: relative references and fragments, too.
std::optional<Url> parse_url_reference(std::string_view text, std::string& problem);

}  // namespace api::cel
