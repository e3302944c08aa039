// A compiled expression of the Common Expression Language (CEL): evaluation.
#include "api/cel/expression.h"

#include <algorithm>
#include <cmath>

#include "api/cel/patterns.h"
#include "api/cel/syntax.h"
#include "base/format.h"

namespace api::cel {
namespace {

std::uint64_t size_of(const Value& v) {
  if (const auto* s = v.get<std::string>()) return s->size() / 10;
  if (const auto* s = v.get<Bytes>()) return s->data.size() / 10;
  if (const auto* l = v.get<List>()) return l->size();
  if (const auto* m = v.get<Map>()) return m->entries.size();
  return 0;
}

class Evaluator {
 public:
  // A counter of work ends at kWorkMax, so that is where all of it ends.
  Evaluator(const std::vector<Node>& nodes, const Expression::Bindings& bindings, std::uint64_t cost_max)
      : nodes_(nodes), bindings_(bindings), start_(kWorkMax - std::min(cost_max, kWorkMax)), cost_(start_) {}

  Value run(std::uint32_t at) {
    if (++cost_ > kWorkMax) return fail("operation cancelled: actual cost limit exceeded");
    const Node& node = nodes_[at];
    switch (node.op) {
      case Op::kConstant: return node.constant;
      case Op::kName: return name(node);
      case Op::kField:
      case Op::kOptionalField: return field(node);
      case Op::kHas: return has(node);
      case Op::kIndex:
      case Op::kOptionalIndex: return index(node);
      case Op::kOptionalItem: return run(node.children[0]);
      case Op::kOptionalMap:
      case Op::kOptionalFlatMap: return optional_map(node);
      case Op::kOptionalOr:
      case Op::kOptionalOrValue: return optional_or(node);
      case Op::kAnd: return logic(node, false);
      case Op::kOr: return logic(node, true);
      case Op::kChoose: {
        const Value test = run(node.children[0]);
        if (test.is_error()) return test;
        const bool* yes = test.get<bool>();
        return yes == nullptr ? no_overload("_?_:_") : run(node.children[*yes ? 1 : 2]);
      }
      case Op::kAll:
      case Op::kExists:
      case Op::kExistsOne:
      case Op::kTransform:
      case Op::kTransformMap:
      case Op::kTransformMapEntry:
      case Op::kSortBy:
      case Op::kFilter: return macro(node);
      case Op::kBind: {
        Value bound = run(node.children[0]);
        return bound.is_error() ? bound : run_with(node.text, std::move(bound), node.children[1]);
      }
      default: return eager(node);
    }
  }

  bool is_exhausted() const { return cost_ > kWorkMax; }
  std::uint64_t spent() const { return cost_ - start_; }

 private:
  Value name(const Node& node) const {
    for (std::size_t i = locals_.size(); i-- > 0;) {
      if (locals_[i].first == node.text) return locals_[i].second;
    }
    for (const auto& [key, value] : bindings_) {
      if (key == node.text) return value;
    }
    return fail(base::format("no such attribute: {}", node.text));
  }

  Value run_with(std::string_view name, Value value, std::uint32_t body) {
    locals_.emplace_back(name, std::move(value));
    Value out = run(body);
    locals_.pop_back();
    return out;
  }

  // The value of a map under a name: empty when it has none, an error when the object is not a map.
  std::optional<Value> find_field(const Value& object, const std::string& name) {
    const Map* map = object.get<Map>();
    if (const Authorizer* whom = object.get<Authorizer>(); whom && name == "requestResource") return of_request(*whom);
    if (map == nullptr) return no_overload("select " + name);
    cost_ += map->entries.size() / 16;
    for (const auto& [key, value] : map->entries) {
      const std::string* text = key.get<std::string>();
      if (text != nullptr && *text == name) return value;
    }
    return std::nullopt;
  }

  // The same of a map or list and a key.
  std::optional<Value> find_index(const Value& object, const Value& key) {
    if (const Map* map = object.get<Map>()) {
      const Value* found = find(*map, key, cost_);
      return found == nullptr ? std::nullopt : std::optional(*found);
    }
    const List* list = object.get<List>();
    if (list == nullptr) return no_overload("_[_]");
    const std::optional<std::int64_t> at = position(key);
    if (!at) return no_overload("_[_]");
    if (*at < 0 || *at >= static_cast<std::int64_t>(list->size())) return std::nullopt;
    return (*list)[static_cast<std::size_t>(*at)];
  }

  // A map of devices' attributes is never without an entry.
  static std::optional<Value> missing(const Value& object) {
    const Map* map = object.get<Map>();
    return map != nullptr && map->empty_maps_for_missing ? std::optional(Value(Map{})) : std::nullopt;
  }

  // The field found in an optional, as an optional: selections from one go on without an error.
  static Value as_optional(const std::optional<Value>& found) {
    if (!found) return Optional{};
    return found->is_error() ? *found : some(*found);
  }

  Value field(const Node& node) {
    Value object = run(node.children[0]);
    if (object.is_error()) return object;
    const Optional* optional = object.get<Optional>();
    if (optional != nullptr && !optional->value) return object;
    const bool lenient = optional != nullptr || node.op == Op::kOptionalField;
    if (optional != nullptr) object = Value(*optional->value);
    std::optional<Value> found = find_field(object, node.text);
    if (!found) found = missing(object);
    if (lenient) return as_optional(found);
    return found ? *found : fail("no such key: " + node.text);
  }

  Value has(const Node& node) {
    Value object = run(node.children[0]);
    if (object.is_error()) return object;
    if (const Optional* optional = object.get<Optional>()) {
      if (!optional->value) return false;
      object = Value(*optional->value);
    }
    if (object.get<Map>() == nullptr) return no_overload("has");
    return find_field(object, node.text).has_value();
  }

  Value index(const Node& node) {
    Value object = run(node.children[0]);
    if (object.is_error()) return object;
    const Value key = run(node.children[1]);
    if (key.is_error()) return key;
    const Optional* optional = object.get<Optional>();
    if (optional != nullptr && !optional->value) return object;
    const bool lenient = optional != nullptr || node.op == Op::kOptionalIndex;
    if (optional != nullptr) object = Value(*optional->value);
    std::optional<Value> found = find_index(object, key);
    if (!found) found = missing(object);
    if (lenient) return as_optional(found);
    if (found) return *found;
    const Value text = to_string(key);
    const std::string_view shown = text.is_error() ? std::string_view("?") : *text.get<std::string>();
    return fail(base::format("{}: {}", object.get<List>() ? "index out of bounds" : "no such key", shown));
  }

  Value optional_map(const Node& node) {
    const Value object = run(node.children[0]);
    if (object.is_error()) return object;
    const Optional* optional = object.get<Optional>();
    if (optional == nullptr) return no_overload(node.op == Op::kOptionalMap ? "optMap" : "optFlatMap");
    if (!optional->value) return object;
    Value out = run_with(node.text, *optional->value, node.children[1]);
    if (out.is_error() || node.op == Op::kOptionalFlatMap) return out;
    return some(std::move(out));
  }

  // The other side is only looked at when it is needed.
  Value optional_or(const Node& node) {
    const Value object = run(node.children[0]);
    if (object.is_error()) return object;
    const Optional* optional = object.get<Optional>();
    if (optional == nullptr) return no_overload(node.text);
    if (!optional->value) return run(node.children[1]);
    return node.op == Op::kOptionalOr ? object : *optional->value;
  }

  // `deciding`: the value of one side that decides whatever the other is, an error included.
  Value logic(const Node& node, bool deciding) {
    const Value left = run(node.children[0]);
    if (const bool* v = left.get<bool>(); v != nullptr && *v == deciding) return deciding;
    const Value right = run(node.children[1]);
    if (const bool* v = right.get<bool>(); v != nullptr && *v == deciding) return deciding;
    if (left.is_error()) return left;
    if (right.is_error()) return right;
    if (left.get<bool>() == nullptr || right.get<bool>() == nullptr) return no_overload(deciding ? "_||_" : "_&&_");
    return !deciding;
  }

  // One turn of a macro: binds the variables, runs the test and then the body. An error, or the value of the turn;
  // `holds` where the test does.
  Value turn(const Node& node, const Value& key, const Value& item, bool& holds) {
    const bool transforms = node.op == Op::kTransform || node.op == Op::kTransformMap ||
                            node.op == Op::kTransformMapEntry || node.op == Op::kSortBy;
    locals_.emplace_back(node.text, node.second.empty() ? item : key);
    if (!node.second.empty()) locals_.emplace_back(node.second, item);
    Value out = true;
    if (!transforms || node.children.size() == 3) {
      out = run(node.children[1]);
      if (!out.is_error() && out.get<bool>() == nullptr) out = no_overload("predicate");
    }
    holds = out.get<bool>() != nullptr && *out.get<bool>();
    if (transforms && holds) out = run(node.children.back());
    locals_.resize(locals_.size() - (node.second.empty() ? 1 : 2));
    return out;
  }

  // Puts a turn's value where the macro collects; an error when that cannot be.
  Value collect(const Node& node, const Value& key, const Value& item, Value value, List& list, Map& map) {
    if (node.op == Op::kFilter) list.push_back(item);
    if (node.op == Op::kTransform || node.op == Op::kSortBy) list.push_back(std::move(value));
    if (node.op == Op::kTransformMap) map.entries.emplace_back(key, std::move(value));
    if (node.op != Op::kTransformMapEntry) return {};
    const Map* fresh = value.get<Map>();
    if (fresh == nullptr) return no_overload("transformMapEntry");
    for (const auto& [name, one] : fresh->entries) {
      if (find(map, name, cost_) != nullptr) return fail("insert failed: key already exists");
      if (is_exhausted()) return exhausted();
      map.entries.emplace_back(name, one);
    }
    return {};
  }

  Value macro(const Node& node) {
    const Value range = run(node.children[0]);
    if (range.is_error()) return range;
    const List* list = range.get<List>();
    const Map* map = range.get<Map>();
    if (list == nullptr && map == nullptr) return no_overload(node.text);
    const std::size_t count = list != nullptr ? list->size() : map->entries.size();
    const bool tests = node.op == Op::kAll || node.op == Op::kExists;
    List collected;
    Map mapped;
    Value error;
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Value key = list != nullptr ? Value(static_cast<std::int64_t>(i)) : map->entries[i].first;
      const bool pairs = list == nullptr && !node.second.empty();
      const Value& item = list != nullptr ? (*list)[i] : pairs ? map->entries[i].second : key;
      bool holds = false;
      Value value = turn(node, key, item, holds);
      if (value.is_error()) {
        if (is_exhausted() || !tests) return value;
        error = value;
        continue;
      }
      if (node.op == Op::kAll && !holds) return false;
      if (node.op == Op::kExists && holds) return true;
      if (!holds) continue;
      ++found;
      if (const Value bad = collect(node, key, item, std::move(value), collected, mapped); bad.is_error()) return bad;
    }
    if (error.is_error()) return error;
    if (tests) return node.op == Op::kAll;
    if (node.op == Op::kExistsOne) return found == 1;
    if (node.op == Op::kSortBy) return list == nullptr ? no_overload("sortBy") : sorted_by(*list, collected, cost_);
    return node.op == Op::kTransform || node.op == Op::kFilter ? Value(std::move(collected)) : Value(std::move(mapped));
  }

  Value eager(const Node& node) {
    std::vector<Value> values;
    values.reserve(node.children.size());
    for (const std::uint32_t child : node.children) {
      values.push_back(run(child));
      if (values.back().is_error()) return values.back();
    }
    for (const Value& value : values) cost_ += size_of(value);
    if (is_exhausted()) return fail("operation cancelled: actual cost limit exceeded");
    switch (node.op) {
      case Op::kCall: return call_function(node.text, values, cost_);
      case Op::kMethod: {
        const Value object = values.front();
        if (const auto* text = object.get<std::string>(); node.pattern && text != nullptr)
          return match_pattern(*node.pattern, *text, cost_);
        values.erase(values.begin());
        return call_method(node.text, object, values, cost_);
      }
      case Op::kList: return make_list(node, values);
      case Op::kMap: return make_map(node, values);
      case Op::kNot: return values[0].get<bool>() ? Value(!*values[0].get<bool>()) : no_overload("!_");
      case Op::kNegate: return negate(values[0]);
      case Op::kEqual: return equal(values[0], values[1], cost_);
      case Op::kUnequal: return !equal(values[0], values[1], cost_);
      case Op::kIn: return is_in(values[0], values[1]);
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kGreater:
      case Op::kGreaterEqual: return order(node.op, values[0], values[1]);
      default: return calculate(node.op, values[0], values[1], cost_);
    }
  }

  // The value of an entry that may be absent: nothing, a value, or an error where it is not an optional.
  std::optional<Value> entry(std::uint32_t child, const Value& value, std::string_view what) const {
    if (nodes_[child].op != Op::kOptionalItem) return value;
    const Optional* optional = value.get<Optional>();
    if (optional == nullptr) {
      const Value text = to_string(value);
      return fail(base::format("cannot initialize optional {} from non-optional value {}", what,
                               text.is_error() ? std::string(value.type_name()) : *text.get<std::string>()));
    }
    return optional->value ? std::optional(*optional->value) : std::nullopt;
  }

  Value make_list(const Node& node, const std::vector<Value>& values) const {
    List out;
    out.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::optional<Value> one = entry(node.children[i], values[i], "list element");
      if (one && one->is_error()) return *one;
      if (one) out.push_back(*std::move(one));
    }
    return out;
  }

  Value make_map(const Node& node, const std::vector<Value>& values) {
    Map out;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      const Value& key = values[i];
      const bool good =
          key.get<std::string>() || key.get<std::int64_t>() || key.get<std::uint64_t>() || key.get<bool>();
      if (!good) return fail("unsupported key type");
      if (find(out, key, cost_) != nullptr) return fail("insert failed: key already exists");
      std::optional<Value> one =
          entry(node.children[i + 1], values[i + 1], "entry '" + *to_string(key).get<std::string>() + "'");
      if (one && one->is_error()) return *one;
      if (one) out.entries.emplace_back(key, *std::move(one));
    }
    return out;
  }

  static std::optional<std::int64_t> position(const Value& key) {
    if (const auto* i = key.get<std::int64_t>()) return *i;
    if (const auto* u = key.get<std::uint64_t>())
      return static_cast<std::int64_t>(std::min<std::uint64_t>(*u, 1u << 31));
    const auto* d = key.get<double>();
    if (d != nullptr && std::trunc(*d) == *d && std::fabs(*d) < 1e9) return static_cast<std::int64_t>(*d);
    return std::nullopt;
  }

  Value is_in(const Value& item, const Value& where) {
    if (const Map* map = where.get<Map>()) return find(*map, item, cost_) != nullptr;
    const List* list = where.get<List>();
    if (list == nullptr) return no_overload("@in");
    for (const Value& one : *list) {
      if (equal(one, item, cost_)) return true;
    }
    return false;
  }

  static Value order(Op op, const Value& a, const Value& b) {
    const auto *x = a.get<double>(), *y = b.get<double>();
    if ((x && std::isnan(*x)) || (y && std::isnan(*y))) return false;
    const auto sign = compare(a, b);
    if (!sign) return no_overload("_<_");
    if (op == Op::kLess) return *sign < 0;
    if (op == Op::kLessEqual) return *sign <= 0;
    return op == Op::kGreater ? *sign > 0 : *sign >= 0;
  }

  const std::vector<Node>& nodes_;
  const Expression::Bindings& bindings_;
  std::vector<std::pair<std::string_view, Value>> locals_;
  const std::uint64_t start_;
  std::uint64_t cost_;
};

}  // namespace

base::Result<Expression> Expression::compile(std::string_view text, const std::vector<std::string>& variables,
                                             Patterns* patterns) {
  if (text.size() > kExpressionBytesMax) return base::make_error(base::Code::kInvalid, "the expression is too long");
  Patterns own(Patterns::kStepsOfOneMax);
  TRY(Tree tree, parse(text, variables, patterns != nullptr ? patterns : &own));
  Expression out;
  out.text_ = text;
  out.root_ = tree.root;
  out.nodes_ = std::make_shared<const std::vector<Node>>(std::move(tree.nodes));
  return out;
}

Value Expression::evaluate(const Bindings& bindings, std::uint64_t cost_max, std::uint64_t* spent) const {
  Evaluator evaluator(*nodes_, bindings, cost_max);
  Value out = evaluator.run(root_);
  if (spent != nullptr) *spent = evaluator.spent();
  return evaluator.is_exhausted() ? fail("operation cancelled: actual cost limit exceeded") : out;
}

}  // namespace api::cel
