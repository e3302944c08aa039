// What + - * / % make of two values.
#include <limits>

#include "api/cel/syntax.h"

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

}  // namespace

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

Value negate(const Value& value) {
  if (const auto* i = value.get<std::int64_t>()) return arithmetic(Op::kSubtract, std::int64_t{0}, *i);
  if (const auto* d = value.get<double>()) return -*d;
  if (const auto* t = value.get<DurationValue>()) {
    const Value ns = arithmetic(Op::kSubtract, std::int64_t{0}, t->ns);
    return ns.is_error() ? ns : Value(DurationValue{*ns.get<std::int64_t>()});
  }
  return no_overload("-_");
}

}  // namespace api::cel
