// A walk of the expression from its leaves: the first part that does not fit is the problem.
#include "api/cel/rule_types.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/cel/overloads.h"
#include "api/cel/static_type.h"
#include "api/cel/structural_value.h"
#include "api/cel/syntax.h"
#include "base/format.h"

namespace api::cel {
namespace {

StaticType of(TypeKind kind) { return {.kind = kind}; }

std::string_view operator_of(Op op) {
  switch (op) {
    case Op::kAnd: return "_&&_";
    case Op::kOr: return "_||_";
    case Op::kNot: return "!_";
    case Op::kNegate: return "-_";
    case Op::kChoose: return "_?_:_";
    case Op::kAdd: return "_+_";
    case Op::kSubtract: return "_-_";
    case Op::kMultiply: return "_*_";
    case Op::kDivide: return "_/_";
    case Op::kModulo: return "_%_";
    case Op::kEqual: return "_==_";
    case Op::kUnequal: return "_!=_";
    case Op::kLess: return "_<_";
    case Op::kLessEqual: return "_<=_";
    case Op::kGreater: return "_>_";
    case Op::kGreaterEqual: return "_>=_";
    case Op::kIn: return "_in_";
    case Op::kIndex: return "_[_]";
    case Op::kOptionalIndex: return "_[?_]";
    case Op::kOptionalOr: return "or";
    case Op::kOptionalOrValue: return "orValue";
    default: return {};
  }
}

class Checker {
 public:
  Checker(const std::vector<Node>& nodes, const RuleScope& scope) : nodes_(nodes) {
    const StaticType self = type_of(scope.self, scope.is_root);
    locals_.emplace_back("self", self);
    locals_.emplace_back("oldSelf", scope.optional_old_self ? optional_of(self) : self);
  }

  // kUnknown behind a problem.
  StaticType run(std::uint32_t position) {
    const Node& node = nodes_[position];
    switch (node.op) {
      case Op::kConstant: return constant(node);
      case Op::kName: return named(node.text);
      case Op::kField: return field(node, false);
      case Op::kOptionalField: return field(node, true);
      case Op::kHas: field(node, false); return of(TypeKind::kBool);
      case Op::kList: return list(node);
      case Op::kMap: return map(node);
      case Op::kOptionalItem: return optional_item(run(node.children[0]));
      case Op::kCall:
      case Op::kMethod: return call(node, node.text, node.op == Op::kMethod);
      case Op::kBind: return problem("undeclared reference to 'cel'");
      case Op::kOptionalMap:
      case Op::kOptionalFlatMap: return mapped_optional(node);
      case Op::kAll:
      case Op::kExists:
      case Op::kExistsOne:
      case Op::kFilter:
      case Op::kSortBy:
      case Op::kTransform:
      case Op::kTransformMap:
      case Op::kTransformMapEntry: return macro(node);
      default: return call(node, operator_of(node.op), false);
    }
  }

  const std::string& found() const { return problem_; }
  StaticType problem(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
    return {};
  }

 private:
  static StaticType constant(const Node& node) {
    const Value& value = node.constant;
    if (value.get<bool>()) return of(TypeKind::kBool);
    if (value.get<std::int64_t>()) return of(TypeKind::kInt);
    if (value.get<std::uint64_t>()) return of(TypeKind::kUint);
    if (value.get<double>()) return of(TypeKind::kDouble);
    if (value.get<std::string>()) return of(TypeKind::kString);
    if (value.get<Bytes>()) return of(TypeKind::kBytes);
    if (const TypeName* type = value.get<TypeName>()) return type_of_constant(*type);
    return value.type_name() == "null_type" ? of(TypeKind::kNull) : StaticType();
  }

  StaticType named(std::string_view name) const {
    for (std::size_t i = locals_.size(); i-- > 0;)
      if (locals_[i].first == name) return locals_[i].second;
    return {};
  }

  // The type of a field, or nothing where the type has no such field.
  std::optional<StaticType> member(const StaticType& type, const std::string& name) {
    if (type.is(TypeKind::kMetadata))
      return name == "name" || name == "generateName" ? std::optional(of(TypeKind::kString)) : std::nullopt;
    if (type.is_whole && (name == "apiVersion" || name == "kind")) return of(TypeKind::kString);
    if (type.is_whole && name == "metadata") return of(TypeKind::kMetadata);
    for (const Structural::Member& one : type.schema->members) {
      if (!may_be_selected(one.name, name)) continue;
      StaticType found = type_of(one.schema, false);
      return found.is(TypeKind::kNull) ? std::nullopt : std::optional(std::move(found));
    }
    return std::nullopt;
  }

  StaticType field(const Node& node, bool optional) {
    StaticType object = run(node.children[0]);
    const bool was_optional = object.is(TypeKind::kOptional);
    if (was_optional) object = StaticType(*object.item);
    StaticType out;
    if (object.is_open()) {
      out = of(object.kind);
    } else if (object.is(TypeKind::kMap)) {
      out = *object.item;
    } else if (object.is(TypeKind::kObject) || object.is(TypeKind::kMetadata)) {
      auto found = member(object, node.text);
      if (!found) return problem(base::format("undefined field '{}'", node.text));
      out = *std::move(found);
    } else {
      return problem(base::format("type '{}' does not support field selection", text_of(object)));
    }
    return optional || was_optional ? optional_of(std::move(out)) : out;
  }

  StaticType optional_item(const StaticType& type) {
    if (type.is(TypeKind::kOptional)) return *type.item;
    if (type.is_open()) return {};
    return problem(base::format("expected type 'optional_type({})' but found '{}'", text_of(type), text_of(type)));
  }

  static bool is_same_type_value(const StaticType& a, const StaticType& b) {
    return !a.is(TypeKind::kType) || !b.is(TypeKind::kType) || !a.item || !b.item || fits(*a.item, *b.item);
  }

  // One type for all items of a literal.
  StaticType together(const Node& node, std::size_t first, std::size_t step) {
    StaticType out = of(TypeKind::kDyn);
    for (std::size_t i = first; i < node.children.size(); i += step) {
      StaticType one = run(node.children[i]);
      const bool differs = i != first && one.is(TypeKind::kDyn) != out.is(TypeKind::kDyn);
      if (!fits(out, one) || !is_same_type_value(out, one) ||
          (differs && !one.is(TypeKind::kUnknown) && !out.is(TypeKind::kUnknown)))
        return problem(base::format("expected type '{}' but found '{}'", text_of(out), text_of(one)));
      if (i == first || one.is_open()) out = std::move(one);
    }
    return out;
  }
  StaticType list(const Node& node) { return list_of(together(node, 0, 1)); }
  StaticType map(const Node& node) {
    if (!node.text.empty()) return {};  // a message
    StaticType key = together(node, 0, 2);
    return map_of(std::move(key), together(node, 1, 2));
  }

  StaticType call(const Node& node, std::string_view name, bool is_method) {
    std::vector<StaticType> arguments;
    for (const std::uint32_t child : node.children) arguments.push_back(run(child));
    if (!problem_.empty()) return {};
    if (!is_method && is_beyond_rules(name)) return problem(base::format("undeclared reference to '{}'", name));
    const bool of_optional = node.op == Op::kOptionalOr || node.op == Op::kOptionalOrValue;
    if (auto type = type_of_call(name, is_method, arguments)) return *std::move(type);
    std::string given;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool is_object = i == 0 && (is_method || of_optional);
      given += text_of(arguments[i]) + (is_object ? ".(" : i + 1 < arguments.size() ? ", " : "");
    }
    return problem(base::format("found no matching overload for '{}' applied to '{}{})'", name,
                                is_method || of_optional ? "" : "(", given));
  }

  StaticType with(std::string_view local, StaticType type, std::uint32_t body) {
    locals_.emplace_back(local, std::move(type));
    StaticType out = run(body);
    locals_.pop_back();
    return out;
  }

  StaticType mapped_optional(const Node& node) {
    const StaticType value = run(node.children[0]);
    if (!value.is_open() && !value.is(TypeKind::kOptional))
      return problem(base::format("expected type 'optional_type(dyn)' but found '{}'", text_of(value)));
    StaticType body = with(node.text, value.is_open() ? StaticType() : *value.item, node.children[1]);
    return node.op == Op::kOptionalMap ? optional_of(std::move(body)) : body;
  }

  void require_bool(const StaticType& type) {
    if (!type.is_open() && !type.is(TypeKind::kBool))
      problem(base::format("expected type 'bool' but found '{}'", text_of(type)));
  }

  StaticType macro(const Node& node) {
    const StaticType range = run(node.children[0]);
    if (!range.is_open() && !range.is(TypeKind::kList) && !range.is(TypeKind::kMap))
      return problem(
          base::format("expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                       text_of(range)));
    const StaticType item = range.is_open() ? of(range.kind) : *range.item;
    const StaticType key = range.is(TypeKind::kMap) ? *range.key
                           : range.is_open()        ? of(range.kind)
                                                    : of(TypeKind::kInt);
    const std::size_t outside = locals_.size();
    locals_.emplace_back(node.text, node.second.empty() && !range.is(TypeKind::kMap) ? item : key);
    if (!node.second.empty()) locals_.emplace_back(node.second, item);
    StaticType last;
    const bool makes = node.op == Op::kTransform || node.op == Op::kTransformMap || node.op == Op::kTransformMapEntry ||
                       node.op == Op::kSortBy;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      last = run(node.children[i]);
      if (!makes || i + 1 < node.children.size()) require_bool(last);
    }
    locals_.resize(outside);
    switch (node.op) {
      case Op::kFilter: return range.is(TypeKind::kMap) ? list_of(key) : range;
      case Op::kSortBy: return range;
      case Op::kTransform: return list_of(std::move(last));
      case Op::kTransformMap: return map_of(key, std::move(last));
      case Op::kTransformMapEntry: return last;
      default: return of(TypeKind::kBool);
    }
  }

  const std::vector<Node>& nodes_;
  std::vector<std::pair<std::string_view, StaticType>> locals_;
  std::string problem_;
};

}  // namespace

std::string type_problem(std::string_view expression, const RuleScope& scope, RuleResult wanted) {
  const auto tree = parse(expression, {"self", "oldSelf"}, nullptr);
  if (!tree.ok()) return {};
  Checker checker(tree->nodes, scope);
  const StaticType result = checker.run(tree->root);
  const bool is_rule = wanted == RuleResult::kBool;
  if (!checker.found().empty())
    return (is_rule ? "compilation failed: " : "messageExpression compilation failed: ") + checker.found();
  if (result.is(TypeKind::kUnknown) || result.is(is_rule ? TypeKind::kBool : TypeKind::kString)) return {};
  return is_rule ? "cel expression must evaluate to a bool" : "messageExpression must evaluate to a string";
}

}  // namespace api::cel
