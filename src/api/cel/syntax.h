// The tree of an expression, between parser and evaluator.
#pragma once

#include <cstdint>
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
  kFilter,
  kBind,
};

// Children are positions in the same list. Macros over lists: the list, then the bodies; `text` is their variable.
struct Node {
  Op op = Op::kConstant;
  std::string text;
  Value constant;
  std::vector<std::uint32_t> children;
  int depth = 1;
};

struct Tree {
  std::vector<Node> nodes;
  std::uint32_t root = 0;
};

inline constexpr int kTreeDepthMax = 150;

base::Result<Tree> parse(std::string_view text, const std::vector<std::string>& variables);

// Functions, by their names; an unknown name is an error when the text is read.
bool is_function(std::string_view name);
bool is_method(std::string_view name);
// `cost` grows with the work. Arguments hold no errors.
Value call_function(std::string_view name, const std::vector<Value>& arguments, std::uint64_t& cost);
Value call_method(std::string_view name, const Value& object, const std::vector<Value>& arguments, std::uint64_t& cost);
// The parts of the two tables that Kubernetes adds; null where they do not have the name.
using Function = Value (*)(const std::vector<Value>& arguments, std::uint64_t& cost);
using Method = Value (*)(const Value& object, const std::vector<Value>& arguments, std::uint64_t& cost);
Function find_kubernetes_function(std::string_view name);
Method find_kubernetes_method(std::string_view name);
Value add(const Value& a, const Value& b);

}  // namespace api::cel
