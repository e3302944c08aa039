// A compiled expression of the Common Expression Language (CEL): evaluation.
#include "api/cel/expression.h"

#include <cmath>
#include <limits>

#include "api/cel/syntax.h"
#include "base/format.h"

namespace api::cel {
namespace {

Value overflow() { return fail("integer overflow"); }

template <class T>
Value arithmetic(Op op, T a, T b) {
  T out = 0;
  switch (op) {
    case Op::kAdd: return __builtin_add_overflow(a, b, &out) ? overflow() : Value(out);
    case Op::kSubtract: return __builtin_sub_overflow(a, b, &out) ? overflow() : Value(out);
    case Op::kMultiply: return __builtin_mul_overflow(a, b, &out) ? overflow() : Value(out);
    default: break;
  }
  if (b == 0) return fail(op == Op::kDivide ? "division by zero" : "modulus by zero");
  if constexpr (std::is_signed_v<T>) {
    if (b == -1)
      return a == std::numeric_limits<T>::min() ? overflow()
             : op == Op::kDivide                ? Value(static_cast<T>(-a))
                                                : Value(T{0});
  }
  return op == Op::kDivide ? Value(static_cast<T>(a / b)) : Value(static_cast<T>(a % b));
}

std::string_view symbol_of(Op op) {
  switch (op) {
    case Op::kAdd: return "_+_";
    case Op::kSubtract: return "_-_";
    case Op::kMultiply: return "_*_";
    case Op::kDivide: return "_/_";
    default: return "_%_";
  }
}

// Durations and times: what may be added to and taken from what.
Value time_arithmetic(Op op, const Value& a, const Value& b) {
  const auto *ta = a.get<TimeValue>(), *tb = b.get<TimeValue>();
  const auto *da = a.get<DurationValue>(), *db = b.get<DurationValue>();
  if ((!ta && !da) || (!tb && !db) || (op != Op::kAdd && op != Op::kSubtract)) return no_overload(symbol_of(op));
  const Value ns = arithmetic(op, ta ? ta->ns : da->ns, tb ? tb->ns : db->ns);
  if (ns.is_error()) return ns;
  const std::int64_t out = *ns.get<std::int64_t>();
  if (da && db) return DurationValue{out};
  if (ta && tb) return op == Op::kSubtract ? Value(DurationValue{out}) : no_overload("_+_");
  if (da && op == Op::kSubtract) return no_overload("_-_");
  return TimeValue{out};
}

Value calculate(Op op, const Value& a, const Value& b) {
  if (const auto* x = a.get<std::int64_t>(), *y = b.get<std::int64_t>(); x && y) return arithmetic(op, *x, *y);
  if (const auto* x = a.get<std::uint64_t>(), *y = b.get<std::uint64_t>(); x && y) return arithmetic(op, *x, *y);
  if (const auto* x = a.get<double>(), *y = b.get<double>(); x && y) {
    if (op == Op::kAdd) return *x + *y;
    if (op == Op::kSubtract) return *x - *y;
    if (op == Op::kMultiply) return *x * *y;
    if (op == Op::kDivide) return *x / *y;
    return no_overload("_%_");
  }
  if (op == Op::kAdd) {
    if (const auto* x = a.get<std::string>(), *y = b.get<std::string>(); x && y) return *x + *y;
    if (const auto* x = a.get<Bytes>(), *y = b.get<Bytes>(); x && y) return Bytes{x->data + y->data};
    if (const auto* x = a.get<List>(), *y = b.get<List>(); x && y) {
      List out = *x;
      out.insert(out.end(), y->begin(), y->end());
      return out;
    }
  }
  return time_arithmetic(op, a, b);
}

std::uint64_t size_of(const Value& v) {
  if (const auto* s = v.get<std::string>()) return s->size() / 10;
  if (const auto* s = v.get<Bytes>()) return s->data.size() / 10;
  if (const auto* l = v.get<List>()) return l->size();
  if (const auto* m = v.get<Map>()) return m->entries.size();
  return 0;
}

class Evaluator {
 public:
  Evaluator(const std::vector<Node>& nodes, const Expression::Bindings& bindings, std::uint64_t cost_max)
      : nodes_(nodes), bindings_(bindings), cost_max_(cost_max) {}

  Value run(std::uint32_t at) {
    if (++cost_ > cost_max_) return fail("operation cancelled: actual cost limit exceeded");
    const Node& node = nodes_[at];
    switch (node.op) {
      case Op::kConstant: return node.constant;
      case Op::kName: return name(node);
      case Op::kField: return field(node, false);
      case Op::kHas: return field(node, true);
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
      case Op::kFilter: return macro(node);
      case Op::kBind: {
        Value bound = run(node.children[0]);
        if (bound.is_error()) return bound;
        locals_.emplace_back(node.text, std::move(bound));
        Value out = run(node.children[1]);
        locals_.pop_back();
        return out;
      }
      default: return eager(node);
    }
  }

  bool is_exhausted() const { return cost_ > cost_max_; }

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

  Value field(const Node& node, bool only_test) {
    const Value object = run(node.children[0]);
    if (object.is_error()) return object;
    const Map* map = object.get<Map>();
    if (map == nullptr) return only_test ? no_overload("has") : no_overload("select " + node.text);
    cost_ += map->entries.size() / 16;
    for (const auto& [key, value] : map->entries) {
      const std::string* text = key.get<std::string>();
      if (text != nullptr && *text == node.text) return only_test ? Value(true) : value;
    }
    if (only_test) return false;
    return map->empty_maps_for_missing ? Value(Map{}) : fail("no such key: " + node.text);
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

  Value macro(const Node& node) {
    const Value range = run(node.children[0]);
    if (range.is_error()) return range;
    std::size_t count = 0;
    const List* list = range.get<List>();
    const Map* map = range.get<Map>();
    if (list != nullptr)
      count = list->size();
    else if (map != nullptr)
      count = map->entries.size();
    else
      return no_overload(node.text);
    List out;
    Value error;
    std::size_t found = 0;
    bool failed = false;
    for (std::size_t i = 0; i < count; ++i) {
      locals_.emplace_back(node.text, list != nullptr ? (*list)[i] : map->entries[i].first);
      Value value = run(node.children[1]);
      const bool answers = value.get<bool>() != nullptr;
      const bool holds = answers && *value.get<bool>();
      const bool maps_plainly = node.op == Op::kTransform && node.children.size() == 2;
      if (!maps_plainly && !value.is_error() && !answers) value = no_overload("predicate");
      const Value item = locals_.back().second;
      if (node.op == Op::kTransform && !maps_plainly && holds) value = run(node.children[2]);
      locals_.pop_back();
      if (value.is_error()) {
        if (cost_ > cost_max_ || node.op == Op::kTransform || node.op == Op::kFilter || node.op == Op::kExistsOne)
          return value;
        error = value;
        failed = true;
        continue;
      }
      if (node.op == Op::kAll && !holds) return false;
      if (node.op == Op::kExists && holds) return true;
      if (node.op == Op::kExistsOne && holds) ++found;
      if (node.op == Op::kFilter && holds) out.push_back(item);
      if (node.op == Op::kTransform && (maps_plainly || holds)) out.push_back(std::move(value));
    }
    if (failed) return error;
    if (node.op == Op::kAll) return true;
    if (node.op == Op::kExists) return false;
    if (node.op == Op::kExistsOne) return found == 1;
    return out;
  }

  Value eager(const Node& node) {
    std::vector<Value> values;
    values.reserve(node.children.size());
    for (const std::uint32_t child : node.children) {
      values.push_back(run(child));
      if (values.back().is_error()) return values.back();
    }
    for (const Value& value : values) cost_ += size_of(value);
    if (cost_ > cost_max_) return fail("operation cancelled: actual cost limit exceeded");
    switch (node.op) {
      case Op::kCall: return call_function(node.text, values, cost_);
      case Op::kMethod: {
        const Value object = values.front();
        values.erase(values.begin());
        return call_method(node.text, object, values, cost_);
      }
      case Op::kList: return values;
      case Op::kMap: return make_map(values);
      case Op::kIndex: return index(values[0], values[1]);
      case Op::kNot: return values[0].get<bool>() ? Value(!*values[0].get<bool>()) : no_overload("!_");
      case Op::kNegate: return negate(values[0]);
      case Op::kEqual: return equal(values[0], values[1], cost_);
      case Op::kUnequal: return !equal(values[0], values[1], cost_);
      case Op::kIn: return is_in(values[0], values[1]);
      case Op::kLess:
      case Op::kLessEqual:
      case Op::kGreater:
      case Op::kGreaterEqual: return order(node.op, values[0], values[1]);
      default: return calculate(node.op, values[0], values[1]);
    }
  }

  Value make_map(const std::vector<Value>& values) {
    Map out;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
      const Value& key = values[i];
      const bool good =
          key.get<std::string>() || key.get<std::int64_t>() || key.get<std::uint64_t>() || key.get<bool>();
      if (!good) return fail("unsupported key type");
      if (find(out, key, cost_) != nullptr) return fail("insert failed: key already exists");
      out.entries.emplace_back(key, values[i + 1]);
    }
    return out;
  }

  Value index(const Value& object, const Value& key) {
    if (const Map* map = object.get<Map>()) {
      if (const Value* found = find(*map, key, cost_)) return *found;
      if (map->empty_maps_for_missing) return Map{};
      const Value text = to_string(key);
      return fail("no such key: " + (text.is_error() ? std::string("?") : *text.get<std::string>()));
    }
    const List* list = object.get<List>();
    if (list == nullptr) return no_overload("_[_]");
    std::int64_t at = -1;
    if (const auto* i = key.get<std::int64_t>())
      at = *i;
    else if (const auto* u = key.get<std::uint64_t>())
      at = static_cast<std::int64_t>(std::min<std::uint64_t>(*u, 1u << 31));
    else if (const auto* d = key.get<double>(); d && std::trunc(*d) == *d && std::fabs(*d) < 1e9)
      at = static_cast<std::int64_t>(*d);
    else
      return no_overload("_[_]");
    if (at < 0 || at >= static_cast<std::int64_t>(list->size()))
      return fail(base::format("index out of bounds: {}", at));
    return (*list)[static_cast<std::size_t>(at)];
  }

  static Value negate(const Value& value) {
    if (const auto* i = value.get<std::int64_t>()) return arithmetic(Op::kSubtract, std::int64_t{0}, *i);
    if (const auto* d = value.get<double>()) return -*d;
    if (const auto* t = value.get<DurationValue>()) {
      const Value ns = arithmetic(Op::kSubtract, std::int64_t{0}, t->ns);
      return ns.is_error() ? ns : Value(DurationValue{*ns.get<std::int64_t>()});
    }
    return no_overload("-_");
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
  std::uint64_t cost_ = 0;
  const std::uint64_t cost_max_;
};

}  // namespace

Value add(const Value& a, const Value& b) { return calculate(Op::kAdd, a, b); }

base::Result<Expression> Expression::compile(std::string_view text, const std::vector<std::string>& variables) {
  if (text.size() > kExpressionBytesMax) return base::make_error(base::Code::kInvalid, "the expression is too long");
  TRY(Tree tree, parse(text, variables));
  Expression out;
  out.text_ = text;
  out.root_ = tree.root;
  out.nodes_ = std::make_shared<const std::vector<Node>>(std::move(tree.nodes));
  return out;
}

Value Expression::evaluate(const Bindings& bindings, std::uint64_t cost_max) const {
  Evaluator evaluator(*nodes_, bindings, cost_max);
  Value out = evaluator.run(root_);
  return evaluator.is_exhausted() ? fail("operation cancelled: actual cost limit exceeded") : out;
}

}  // namespace api::cel
