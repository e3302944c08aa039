// Methods of values that may be absent.
#include <algorithm>

#include "api/cel/syntax.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;

// Values that stand for "nothing there": false, 0, "", [], {}, null.
bool is_zero(const Value& v) {
  if (v.is_null()) return true;
  if (const auto* x = v.get<bool>()) return !*x;
  if (const auto* x = v.get<std::int64_t>()) return *x == 0;
  if (const auto* x = v.get<std::uint64_t>()) return *x == 0;
  if (const auto* x = v.get<double>()) return *x == 0;
  if (const auto* x = v.get<std::string>()) return x->empty();
  if (const auto* x = v.get<Bytes>()) return x->data.empty();
  if (const auto* x = v.get<List>()) return x->empty();
  if (const auto* x = v.get<Map>()) return x->entries.empty();
  if (const auto* x = v.get<DurationValue>()) return x->ns == 0;
  if (const auto* x = v.get<Optional>()) return x->value == nullptr;
  return false;
}

// The values of those optionals that have one.
Value unwrap(const Value& optionals) {
  const List* list = optionals.get<List>();
  if (list == nullptr) return no_overload("optional.unwrap");
  List out;
  for (const Value& one : *list) {
    const Optional* optional = one.get<Optional>();
    if (optional == nullptr) return no_overload("optional.unwrap");
    if (optional->value) out.push_back(*optional->value);
  }
  return out;
}

Value end_of(const Value& object, const Values& a, bool last) {
  const List* list = object.get<List>();
  if (list == nullptr || !a.empty()) return no_overload(last ? "last" : "first");
  if (list->empty()) return Optional{};
  return some(last ? list->back() : list->front());
}

constexpr FunctionRow kFunctions[] = {
    {"optional.of",
     [](const Values& a, std::uint64_t&) { return a.size() == 1 ? some(a[0]) : no_overload("optional.of"); }},
    {"optional.none",
     [](const Values& a, std::uint64_t&) { return a.empty() ? Value(Optional{}) : no_overload("optional.none"); }},
    {"optional.ofNonZeroValue",
     [](const Values& a, std::uint64_t&) {
       if (a.size() != 1) return no_overload("optional.ofNonZeroValue");
       return is_zero(a[0]) ? Value(Optional{}) : some(a[0]);
     }},
    {"optional.unwrap",
     [](const Values& a, std::uint64_t&) { return a.size() == 1 ? unwrap(a[0]) : no_overload("optional.unwrap"); }},
};

constexpr MethodRow kMethods[] = {
    {"hasValue",
     [](const Value& o, const Values& a, std::uint64_t&) {
       const Optional* optional = o.get<Optional>();
       return optional && a.empty() ? Value(optional->value != nullptr) : no_overload("hasValue");
     }},
    {"value",
     [](const Value& o, const Values& a, std::uint64_t&) {
       const Optional* optional = o.get<Optional>();
       if (optional == nullptr || !a.empty()) return no_overload("value");
       return optional->value ? *optional->value : fail("optional.none() dereference");
     }},
    {"unwrapOpt",
     [](const Value& o, const Values& a, std::uint64_t&) { return a.empty() ? unwrap(o) : no_overload("unwrapOpt"); }},
    {"first", [](const Value& o, const Values& a, std::uint64_t&) { return end_of(o, a, false); }},
    {"last", [](const Value& o, const Values& a, std::uint64_t&) { return end_of(o, a, true); }},
};

}  // namespace

Library optional_library() { return {kFunctions, kMethods}; }

}  // namespace api::cel
