// A walk of the expression with the most that each part may be, and one of the schema with how often each place may be
// there. An unknown size of a value counts as little, so that no rule is refused that a stock server takes.
#include "api/cel/rule_costs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <unordered_map>

#include "api/cel/structural_value.h"
#include "api/cel/syntax.h"
#include "api/json/problems.h"
#include "base/format.h"

namespace api::cel {
namespace {

using Type = Structural::Type;

constexpr std::uint64_t kRequestBytesMax = std::uint64_t{3} << 20;
constexpr std::uint64_t kNamesMax = 253;  // of objects
constexpr std::uint64_t kListCost = 10, kMapCost = 30;
constexpr std::uint64_t kFormatPattern = 32;  // the cost of the longest pattern of a named format, for each character

std::uint64_t plus(std::uint64_t a, std::uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
std::uint64_t times(std::uint64_t a, std::uint64_t b) { return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b; }
// The part of a size that is counted, rounded up.
std::uint64_t share(std::uint64_t size, double factor) {
  const double part = std::ceil(static_cast<double>(size) * factor);
  return part >= 1.8e19 ? UINT64_MAX : static_cast<std::uint64_t>(part);
}
std::uint64_t tenth(std::uint64_t size) { return share(size, 0.1); }

// The sizes that a schema allows. Each place is looked at once.
class Sizes {
 public:
  // Characters, items or members of a value; 1 of one that has no size.
  std::uint64_t most(const Structural& schema) {
    switch (schema.type) {
      case Type::kArray: return most_items(schema);
      case Type::kObject: return most_members(schema);
      case Type::kString: return most_characters(schema);
      default: return schema.int_or_string ? kRequestBytesMax - 2 : 1;
    }
  }

  // Bytes of the shortest text that such a value has.
  std::uint64_t least_bytes(const Structural& schema) {
    const auto [at, is_new] = least_.try_emplace(&schema, 2);
    if (!is_new) return at->second;
    std::uint64_t bytes = 2;
    if (schema.type == Type::kBoolean) bytes = 4;
    if (schema.type == Type::kInteger || schema.type == Type::kNumber || schema.int_or_string) bytes = 1;
    if (schema.type == Type::kObject && schema.limits != nullptr)
      for (const std::string& name : schema.limits->required)
        if (const Structural* member = schema.member(name); member != nullptr && !member->has_default)
          bytes = plus(bytes, name.size() + 4 + least_bytes(*member));
    return least_[&schema] = bytes;
  }

 private:
  static std::uint64_t given(const std::optional<std::int64_t>& limit) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(*limit, 0));
  }
  std::uint64_t most_items(const Structural& schema) {
    if (schema.limits && schema.limits->items_max) return given(schema.limits->items_max);
    return schema.items ? (kRequestBytesMax - 2) / (least_bytes(*schema.items) + 1) : 1;
  }
  std::uint64_t most_members(const Structural& schema) {
    if (schema.limits && schema.limits->members_max) return given(schema.limits->members_max);
    return schema.additional ? (kRequestBytesMax - 2) / (least_bytes(*schema.additional) + 6) : 1;
  }
  static std::uint64_t most_characters(const Structural& schema) {
    constexpr std::uint64_t kBytesOfACharacter = 4;
    if (!schema.limits) return kRequestBytesMax - 2;
    if (schema.limits->length_max) return times(given(schema.limits->length_max), kBytesOfACharacter);
    if (!schema.limits->enumeration.empty()) {
      std::uint64_t longest = 0;
      for (const Json& one : schema.limits->enumeration) longest = std::max(longest, one.as_string().size());
      return longest;
    }
    if (schema.limits->format == "date") return 10;
    if (schema.limits->format == "date-time" || schema.limits->format == "duration") return 32;
    return kRequestBytesMax - 2;
  }

  std::unordered_map<const Structural*, std::uint64_t> least_;
};

// The known facts of a value: its place in the schema, or how large it is and what its items are.
struct Shape {
  const Structural* schema = nullptr;
  std::uint64_t size = 1;
  bool is_text = false;
  std::shared_ptr<const Shape> item = nullptr;
  bool is_filtered = false;  // a list that filter() made
};

struct Estimate {
  std::uint64_t cost = 0;
  Shape shape = {};
};

class Estimator {
 public:
  Estimator(const std::vector<Node>& nodes, const Structural& self, Sizes& sizes)
      : nodes_(nodes), sizes_(sizes), self_(at(&self)) {}

  Estimate run(std::uint32_t position) {
    const Node& node = nodes_[position];
    switch (node.op) {
      case Op::kConstant: return constant(node);
      case Op::kName: return {1, named(node.text)};
      case Op::kField:
      case Op::kOptionalField: return field(node);
      case Op::kHas: return {run(node.children[0]).cost};
      case Op::kIndex:
      case Op::kOptionalIndex: return index(node);
      case Op::kOptionalItem: return run(node.children[0]);
      case Op::kAnd:
      case Op::kOr: return {plus(run(node.children[0]).cost, run(node.children[1]).cost)};
      case Op::kChoose: {
        const Estimate yes = run(node.children[1]), no = run(node.children[2]);
        const std::uint64_t test = run(node.children[0]).cost;
        return {plus(test, std::max(yes.cost, no.cost)), larger(yes.shape, no.shape)};
      }
      case Op::kOptionalOr:
      case Op::kOptionalOrValue: {
        const Estimate one = run(node.children[0]), other = run(node.children[1]);
        return {plus(plus(one.cost, other.cost), 1), larger(one.shape, other.shape)};
      }
      case Op::kBind:
      case Op::kOptionalMap:
      case Op::kOptionalFlatMap: return bound(node);
      case Op::kAll:
      case Op::kExists:
      case Op::kExistsOne:
      case Op::kTransform:
      case Op::kTransformMap:
      case Op::kTransformMapEntry:
      case Op::kSortBy:
      case Op::kFilter: return macro(node);
      default: return eager(node);
    }
  }

 private:
  Shape at(const Structural* schema) {
    if (schema == nullptr) return {};
    const bool is_time = schema->limits && (schema->limits->format == "date" || schema->limits->format == "date-time" ||
                                            schema->limits->format == "duration");
    return {schema, sizes_.most(*schema), (schema->type == Type::kString && !is_time) || schema->int_or_string,
            nullptr};
  }
  static Shape text(std::uint64_t size) { return {nullptr, size, true, nullptr}; }
  static Shape list(std::uint64_t size, const Shape& item) {
    return {nullptr, size, false, std::make_shared<const Shape>(item)};
  }
  static Shape larger(const Shape& a, const Shape& b) { return a.size >= b.size ? a : b; }

  // A server knows how large the items of a filtered list are, and nothing of their members.
  Shape filtered(const Shape& range, Shape element) {
    element.schema = nullptr;
    element.item = std::make_shared<const Shape>(text(UINT64_MAX));
    Shape out = list(range.size, element);
    out.is_filtered = true;
    return out;
  }

  Shape named(std::string_view name) const {
    for (std::size_t i = locals_.size(); i-- > 0;)
      if (locals_[i].first == name) return locals_[i].second;
    return name == "self" || name == "oldSelf" ? self_ : Shape();
  }

  static Estimate constant(const Node& node) {
    if (const auto* words = node.constant.get<std::string>()) return {0, text(words->size())};
    if (const auto* bytes = node.constant.get<Bytes>()) return {0, text(bytes->data.size())};
    return {};
  }

  Shape member(const Shape& of, const std::string& name) {
    if (of.schema == nullptr) return of.item ? *of.item : Shape();
    if (of.schema == self_.schema && name == "metadata") return list(2, text(kNamesMax));  // names only
    if (const Structural* found = of.schema->member(name); found != nullptr && may_be_selected(name, name))
      return at(found);
    if (name.find("__") != std::string::npos)
      for (const Structural::Member& one : of.schema->members)
        if (escaped_name(one.name) == name) return at(&one.schema);
    return at(of.schema->additional.get());
  }
  Shape item(const Shape& of) {
    if (of.schema == nullptr) return of.item ? *of.item : Shape();
    return at(of.schema->items ? of.schema->items.get() : of.schema->additional.get());
  }

  Estimate field(const Node& node) {
    const Estimate object = run(node.children[0]);
    Shape found = member(object.shape, node.text);
    if (node.op == Op::kOptionalField) found.size = UINT64_MAX;  // a server knows no bound of what may be absent
    return {plus(object.cost, 1), std::move(found)};
  }

  Estimate index(const Node& node) {
    const Estimate object = run(node.children[0]);
    const std::uint64_t key = run(node.children[1]).cost;
    const Node& name = nodes_[node.children[1]];
    const auto* words = name.op == Op::kConstant ? name.constant.get<std::string>() : nullptr;
    Shape found = words != nullptr ? member(object.shape, *words) : item(object.shape);
    if (node.op == Op::kOptionalIndex) found.size = UINT64_MAX;
    return {plus(plus(object.cost, key), 1), std::move(found)};
  }

  Estimate bound(const Node& node) {
    const Estimate value = run(node.children[0]);
    locals_.emplace_back(node.text, value.shape);
    Estimate body = run(node.children[1]);
    locals_.pop_back();
    if (node.op != Op::kBind) body.shape.size = UINT64_MAX;
    body.cost = plus(plus(value.cost, body.cost), kListCost);
    return body;
  }

  // The cost of a turn beside the bodies: the question whether to go on, and collecting.
  static std::uint64_t turn_cost(Op op) {
    switch (op) {
      case Op::kAll: return 3;
      case Op::kExists: return 4;
      case Op::kExistsOne: return 1;
      case Op::kTransformMap:
      case Op::kTransformMapEntry: return 2 + kMapCost;
      default: return 2 + kListCost;
    }
  }

  Estimate macro(const Node& node) {
    const Estimate range = run(node.children[0]);
    const bool is_map = range.shape.schema != nullptr && range.shape.schema->type == Type::kObject;
    const Shape key = is_map ? text(0) : Shape();  // a schema gives keys no length, and a server counts none
    const Shape value = item(range.shape);
    const std::size_t outside = locals_.size();
    locals_.emplace_back(node.text, node.second.empty() && !is_map ? value : key);
    if (!node.second.empty()) locals_.emplace_back(node.second, value);
    std::uint64_t turn = turn_cost(node.op);
    Estimate last;
    for (std::size_t i = 1; i < node.children.size(); ++i) {
      last = run(node.children[i]);
      turn = plus(turn, last.cost);
    }
    locals_.resize(outside);
    const std::uint64_t cost = plus(plus(range.cost, times(range.shape.size, turn)), 1);
    if (node.op == Op::kFilter) return {cost, filtered(range.shape, is_map ? key : value)};
    if (node.op == Op::kSortBy) return {cost, range.shape};
    if (node.op == Op::kTransform) return {cost, list(range.shape.size, last.shape)};
    return {cost};
  }

  Estimate eager(const Node& node) {
    std::uint64_t cost = 0;
    std::vector<Shape> shapes;
    for (const std::uint32_t child : node.children) {
      Estimate one = run(child);
      cost = plus(cost, one.cost);
      shapes.push_back(std::move(one.shape));
    }
    Estimate own = node.op == Op::kCall || node.op == Op::kMethod ? call(node, shapes) : operation(node, shapes);
    own.cost = plus(own.cost, cost);
    return own;
  }

  static Estimate operation(const Node& node, const std::vector<Shape>& shapes) {
    switch (node.op) {
      case Op::kList: return {kListCost, list(shapes.size(), shapes.empty() ? Shape() : shapes.front())};
      case Op::kMap: return {kMapCost, list(shapes.size() / 2, shapes.empty() ? Shape() : shapes.back())};
      case Op::kIn:
        return {shapes[1].schema != nullptr && shapes[1].schema->type == Type::kObject ? 1 : shapes[1].size};
      case Op::kAdd: {
        const std::uint64_t size = plus(shapes[0].size, shapes[1].size);
        if (shapes[0].is_text || shapes[1].is_text) return {tenth(size), text(size)};
        if (shapes[0].item == nullptr && shapes[0].schema == nullptr) return {1};
        Shape joined = larger(shapes[0], shapes[1]);
        joined.size = size;
        return {1, std::move(joined)};
      }
      case Op::kEqual:
      case Op::kUnequal:
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kGreater:
      case Op::kGreaterEqual: return {tenth(std::min(shapes[0].size, shapes[1].size))};
      default: return {1};
    }
  }

  Estimate call(const Node& node, const std::vector<Shape>& shapes) {
    const std::string_view name = node.text;
    const auto is = [name](std::initializer_list<std::string_view> names) {
      return std::ranges::find(names, name) != names.end();
    };
    if (shapes.empty()) return {1};
    const Shape& first = shapes.front();
    const std::uint64_t second = shapes.size() > 1 ? shapes[1].size : 1;
    if (is({"startsWith", "endsWith"})) return {tenth(second)};
    if (is({"contains"})) return {times(tenth(first.size), tenth(second))};
    if (is({"matches", "find", "findAll"}))
      return {times(tenth(plus(first.size, 1)), share(second, 0.25)),
              name == "findAll" ? list(first.size, text(first.size)) : text(first.size)};
    if (is({"lowerAscii", "upperAscii", "trim", "substring"})) return {tenth(first.size), text(first.size)};
    if (is({"replace"}) && shapes.size() > 2) {
      // The longest text has the shortest part replaced everywhere.
      const Node& from = nodes_[node.children[1]];
      const std::uint64_t least = from.op == Op::kConstant ? std::max<std::uint64_t>(second, 1) : 1;
      return {share(first.size, 0.2), text(times(first.size / least, shapes[2].size))};
    }
    if (is({"validate"})) return {times(tenth(second), kFormatPattern)};
    if (is({"sort", "reverse", "distinct", "slice"}) && !first.is_text) return {first.size, first};
    if (is({"join"})) {
      const std::uint64_t size =
          plus(times(first.size, first.is_filtered ? UINT64_MAX : item(first).size),
               shapes.size() > 1 ? times(std::max<std::uint64_t>(first.size, 1) - 1, second) : 0);
      return {tenth(size), text(size)};
    }
    if (is({"split"})) return {tenth(first.size), list(first.size, text(first.size))};
    if (is({"min", "max"})) return {first.size, item(first).is_text ? text(UINT64_MAX) : Shape()};
    if (is({"isSorted", "sum", "indexOf", "lastIndexOf"}))
      return {first.is_text ? tenth(first.size) : first.size, first.is_text ? Shape() : first};
    if (is({"first", "last"})) {
      Shape found = item(first);
      found.size = UINT64_MAX;
      return {1, std::move(found)};
    }
    if (is({"value"})) return {1, first};
    if (is({"bytes"})) return {tenth(first.size), text(first.size)};
    if (is({"format", "getScheme", "getHost", "getHostname", "getPort", "getEscapedPath"}))
      return {1, text(UINT64_MAX)};
    if (is({"sets.contains", "sets.intersects", "sets.equivalent"})) return {times(first.size, second)};
    if (is({"dyn"})) return {1, first};
    // A server knows no bound of these.
    if (is({"string"})) return {1, first.is_text ? first : text(UINT64_MAX)};
    if (is({"charAt"})) return {1, text(UINT64_MAX)};
    if (is({"type", "optional.of"})) return {1, {.size = UINT64_MAX}};
    if (is({"url", "ip", "isIP", "cidr", "isCIDR", "quantity", "isQuantity", "semver", "isSemver"}) && first.is_text)
      return {tenth(first.size)};
    return {1};  // conversions to numbers and times among them, however long the text is
  }

  const std::vector<Node>& nodes_;
  Sizes& sizes_;
  const Shape self_;
  std::vector<std::pair<std::string_view, Shape>> locals_;
};

std::uint64_t cost_of(std::string_view rule, const Structural& schema, Sizes& sizes) {
  const auto tree = parse(rule, {"self", "oldSelf"}, nullptr);
  return tree.ok() ? Estimator(tree->nodes, schema, sizes).run(tree->root).cost : 0;
}

std::string too_much(std::string_view what, std::uint64_t cost, std::uint64_t limit) {
  const double factor = static_cast<double>(cost) / static_cast<double>(limit);
  const std::string times = factor > 100   ? "more than 100x"
                            : factor < 1.5 ? base::format("{:f}x", factor)
                                           : base::format("{:.1f}x", factor);
  return base::format(
      "Forbidden: {} exceeds budget by factor of {} (try simplifying the rule, or adding maxItems, maxProperties, and "
      "maxLength where arrays, maps, and strings are declared)",
      what, times);
}

class SchemaCosts {
 public:
  explicit SchemaCosts(std::vector<base::Cause>& causes) : causes_(causes) {}

  // `count`: how often the place may be in one object; nothing: as often as it fits into a request.
  void walk(const Structural& schema, const std::string& path, std::optional<std::uint64_t> count) {
    std::size_t at = 0;
    for (const StructuralRule& rule : schema.rules) {
      const std::string place = base::format("{}.x-kubernetes-validations[{}]", path, at++);
      const std::uint64_t values = count.value_or(kRequestBytesMax / (sizes_.least_bytes(schema) + 1));
      check_cost(place + ".rule", "estimated rule cost", times(cost_of(rule.rule, schema, sizes_), values));
      if (!rule.message_expression.empty())
        check_cost(place + ".messageExpression", "estimated messageExpression cost",
                   cost_of(rule.message_expression, schema, sizes_));
    }
    for (const Structural::Member& one : schema.members)
      walk(one.schema, base::format("{}.properties[{}]", path, one.name), count);
    const auto limit = [&](std::optional<std::int64_t> Structural::Limits::*most) -> std::optional<std::uint64_t> {
      if (!count || !schema.limits || !((*schema.limits).*most)) return {};
      return times(*count, static_cast<std::uint64_t>(std::max<std::int64_t>(*((*schema.limits).*most), 0)));
    };
    if (schema.items) walk(*schema.items, path + ".items", limit(&Structural::Limits::items_max));
    if (schema.additional)
      walk(*schema.additional, path + ".additionalProperties", limit(&Structural::Limits::members_max));
  }

  void check_sum(const std::string& path) {
    if (sum_ <= kSchemaEstimateMax) return;
    constexpr std::size_t kShown = 4;
    std::ranges::stable_sort(costs_, [](const auto& a, const auto& b) { return a.second > b.second; });
    for (std::size_t i = 0; i < std::min(kShown, costs_.size()); ++i)
      add(costs_[i].first,
          "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema");
    add(path, too_much("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", sum_,
                       kSchemaEstimateMax));
  }

 private:
  void check_cost(std::string place, std::string_view what, std::uint64_t cost) {
    if (cost > kRuleEstimateMax) add(place, too_much(what, cost, kRuleEstimateMax));
    sum_ = plus(sum_, cost);
    costs_.emplace_back(std::move(place), cost);
  }
  void add(std::string field, std::string message) {
    if (causes_.size() < kProblemsMax)
      causes_.push_back({"FieldValueForbidden", std::move(message), shortened(std::move(field))});
  }

  std::vector<base::Cause>& causes_;
  Sizes sizes_;
  std::uint64_t sum_ = 0;
  std::vector<std::pair<std::string, std::uint64_t>> costs_;
};

}  // namespace

std::uint64_t estimated_cost(std::string_view rule, const Structural& schema) {
  Sizes sizes;
  return cost_of(rule, schema, sizes);
}

void check_rule_costs(const Structural& root, const std::string& path, std::vector<base::Cause>& causes) {
  SchemaCosts costs(causes);
  costs.walk(root, path, 1);
  costs.check_sum(path);
}

}  // namespace api::cel
