// The results of + - * / % on two values.
#include <limits>

#include "api/cel/syntax.h"

namespace api::cel {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

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

// A time and a span of seconds and nanoseconds, which may be negative.
Value moved(const TimeValue& time, std::int64_t seconds, std::int64_t nanos) {
  const std::int64_t left = time.nanos + nanos, whole = left / kSecond - (left % kSecond < 0 ? 1 : 0);
  return time_of(time.seconds + seconds + whole, left - whole * kSecond);
}

// Durations and times: what may be added to and taken from what.
Value time_arithmetic(Op op, const Value& a, const Value& b) {
  const auto *ta = a.get<TimeValue>(), *tb = b.get<TimeValue>();
  const auto *da = a.get<DurationValue>(), *db = b.get<DurationValue>();
  const bool adds = op == Op::kAdd;
  if (da && db && (adds || op == Op::kSubtract)) {
    const Value ns = arithmetic(op, da->ns, db->ns);
    return ns.is_error() ? ns : Value(DurationValue{*ns.get<std::int64_t>()});
  }
  if (ta && db && adds) return moved(*ta, db->ns / kSecond, db->ns % kSecond);
  if (ta && db && op == Op::kSubtract) return moved(*ta, -(db->ns / kSecond), -(db->ns % kSecond));
  if (da && tb && adds) return moved(*tb, da->ns / kSecond, da->ns % kSecond);
  if (!ta || !tb || op != Op::kSubtract) return no_overload(symbol_of(op));
  std::int64_t ns = 0;
  const bool is_too_long = __builtin_mul_overflow(ta->seconds - tb->seconds, kSecond, &ns) ||
                           __builtin_add_overflow(ns, ta->nanos - tb->nanos, &ns);
  return is_too_long ? overflow() : Value(DurationValue{ns});
}

}  // namespace

Value time_of(std::int64_t seconds, std::int64_t nanos) {
  constexpr std::int64_t kFirst = -62'135'596'800, kLast = 253'402'300'799;  // of the years 1 and 9999
  return seconds < kFirst || seconds > kLast ? fail("timestamp overflow") : Value(TimeValue{seconds, nanos});
}

Value calculate(Op op, const Value& a, const Value& b, std::uint64_t& work) {
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
      if (x->is_set || x->keys) return joined(*x, *y, work);
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
