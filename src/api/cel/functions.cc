// The functions of the language itself and of its lists, math and sets extensions; the table of all functions.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "api/cel/syntax.h"
#include "base/format.h"
#include "base/time.h"
#include "base/unix_time.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;

Value size_of(const Value& v) {
  if (const auto* s = v.get<std::string>()) return static_cast<std::int64_t>(characters(*s).size());
  if (const auto* b = v.get<Bytes>()) return static_cast<std::int64_t>(b->data.size());
  if (const auto* l = v.get<List>()) return static_cast<std::int64_t>(l->size());
  if (const auto* m = v.get<Map>()) return static_cast<std::int64_t>(m->entries.size());
  return no_overload("size");
}

Value to_int(const Value& v) {
  if (v.get<std::int64_t>()) return v;
  if (const auto* u = v.get<std::uint64_t>()) {
    return *u > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())
               ? fail("integer overflow")
               : Value(static_cast<std::int64_t>(*u));
  }
  if (const auto* d = v.get<double>()) {
    return std::isfinite(*d) && std::fabs(*d) < 9.2e18 ? Value(static_cast<std::int64_t>(*d))
                                                       : fail("integer overflow");
  }
  if (const auto* t = v.get<TimeValue>()) return t->seconds;
  const auto* s = v.get<std::string>();
  if (s == nullptr) return no_overload("int");
  std::int64_t out = 0;
  const auto [end, error] = std::from_chars(s->data(), s->data() + s->size(), out);
  return error == std::errc{} && end == s->data() + s->size() && !s->empty() ? Value(out)
                                                                             : fail("cannot convert to int: " + *s);
}

Value to_uint(const Value& v) {
  if (v.get<std::uint64_t>()) return v;
  if (const auto* i = v.get<std::int64_t>())
    return *i < 0 ? fail("unsigned integer overflow") : Value(static_cast<std::uint64_t>(*i));
  if (const auto* d = v.get<double>())
    return *d >= 0 && *d < 1.8e19 ? Value(static_cast<std::uint64_t>(*d)) : fail("unsigned integer overflow");
  const auto* s = v.get<std::string>();
  if (s == nullptr) return no_overload("uint");
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(s->data(), s->data() + s->size(), out);
  return error == std::errc{} && end == s->data() + s->size() && !s->empty() ? Value(out)
                                                                             : fail("cannot convert to uint: " + *s);
}

Value to_double(const Value& v) {
  if (v.get<double>()) return v;
  if (const auto* i = v.get<std::int64_t>()) return static_cast<double>(*i);
  if (const auto* u = v.get<std::uint64_t>()) return static_cast<double>(*u);
  const auto* s = v.get<std::string>();
  if (s == nullptr) return no_overload("double");
  char* end = nullptr;
  const double out = std::strtod(s->c_str(), &end);
  return !s->empty() && end == s->c_str() + s->size() ? Value(out) : fail("cannot convert to double: " + *s);
}

Value to_bool(const Value& v) {
  if (v.get<bool>()) return v;
  const auto* s = v.get<std::string>();
  if (s == nullptr) return no_overload("bool");
  if (*s == "true" || *s == "True" || *s == "TRUE" || *s == "t" || *s == "1") return true;
  if (*s == "false" || *s == "False" || *s == "FALSE" || *s == "f" || *s == "0") return false;
  return fail("cannot convert to bool: " + *s);
}

// The largest (sign 1) or smallest (sign -1) of the values.
Value extreme(const Values& list, int sign) {
  if (list.empty()) return fail(sign > 0 ? "max called on empty list" : "min called on empty list");
  Value best = list.front();
  for (const Value& one : list) {
    const auto order = compare(one, best);
    if (!order) return no_overload(sign > 0 ? "max" : "min");
    if (*order * sign > 0) best = one;
  }
  return best;
}

// For numbers and spans only: texts and lists would be copied again for each item.
Value sum(const List& list, std::uint64_t& cost) {
  Value out = list.empty() ? Value(std::int64_t{0}) : list.front();
  const bool adds =
      out.get<std::int64_t>() || out.get<std::uint64_t>() || out.get<double>() || out.get<DurationValue>();
  if (!adds) return no_overload("sum");
  for (std::size_t i = 1; i < list.size() && !out.is_error(); ++i) out = calculate(Op::kAdd, out, list[i], cost);
  return out;
}

// The cost of comparing each of the values with another one.
std::uint64_t comparing_cost(const Values& list) {
  std::uint64_t bytes = 0;
  for (const Value& one : list) {
    if (const auto* text = one.get<std::string>()) bytes += text->size();
    if (const auto* data = one.get<Bytes>()) bytes += data->data.size();
  }
  return bytes / 10;
}

// The same of the arguments of a function, or of the list that is its only one.
Value extreme_of(const Values& arguments, int sign, std::uint64_t& cost) {
  const List* list = arguments.size() == 1 ? arguments[0].get<List>() : nullptr;
  const Values& values = list != nullptr ? *list : arguments;
  cost += comparing_cost(values);
  return cost > kWorkMax ? exhausted() : extreme(values, sign);
}

// The size is known before anything is copied: one long separator between many items is more than fits into memory.
Value join(const List& list, const std::string& by, std::uint64_t& cost) {
  std::uint64_t size = 0;
  for (std::size_t n = 0; n < list.size(); ++n) {
    const std::string* text = list[n].get<std::string>();
    if (text == nullptr) return no_overload("join");
    size += (n > 0 ? by.size() : 0) + text->size();
  }
  cost += size / 10;
  if (cost > kWorkMax) return exhausted();
  if (size > kTextMax) return fail("the result is too large");
  std::string out;
  out.reserve(size);
  for (std::size_t n = 0; n < list.size(); ++n) {
    if (n > 0) out += by;
    out += *list[n].get<std::string>();
  }
  return out;
}

Value is_sorted(const List& list) {
  for (std::size_t i = 1; i < list.size(); ++i) {
    const auto order = compare(list[i - 1], list[i]);
    if (!order) return no_overload("isSorted");
    if (*order > 0) return false;
  }
  return true;
}

// Once the work is used up nothing more is looked at: the evaluation ends in an error.
bool holds(const List& list, const Value& item, std::uint64_t& cost) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Value& one) { return cost > kWorkMax || equal(one, item, cost); });
}

constexpr FunctionRow kFunctions[] = {
    {"size", [](const Values& a, std::uint64_t&) { return a.size() == 1 ? size_of(a[0]) : no_overload("size"); }},
    {"int", [](const Values& a, std::uint64_t&) { return a.size() == 1 ? to_int(a[0]) : no_overload("int"); }},
    {"uint", [](const Values& a, std::uint64_t&) { return a.size() == 1 ? to_uint(a[0]) : no_overload("uint"); }},
    {"double", [](const Values& a, std::uint64_t&) { return a.size() == 1 ? to_double(a[0]) : no_overload("double"); }},
    {"bool", [](const Values& a, std::uint64_t&) { return a.size() == 1 ? to_bool(a[0]) : no_overload("bool"); }},
    {"string", [](const Values& a, std::uint64_t&) { return a.size() == 1 ? to_string(a[0]) : no_overload("string"); }},
    {"dyn", [](const Values& a, std::uint64_t&) { return a.size() == 1 ? a[0] : no_overload("dyn"); }},
    {"bytes",
     [](const Values& a, std::uint64_t&) {
       const auto* s = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       return s ? Value(Bytes{*s}) : a.size() == 1 && a[0].get<Bytes>() ? a[0] : no_overload("bytes");
     }},
    {"type", [](const Values& a,
                std::uint64_t&) { return a.size() == 1 ? Value(TypeName{a[0].type_name()}) : no_overload("type"); }},
    {"duration",
     [](const Values& a, std::uint64_t&) {
       const auto* s = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       if (a.size() == 1 && a[0].get<DurationValue>()) return a[0];
       if (s == nullptr) return no_overload("duration");
       const auto span = base::parse_go_duration(*s);
       return span ? Value(DurationValue{span->ns}) : fail("invalid duration: " + *s);
     }},
    {"timestamp",
     [](const Values& a, std::uint64_t&) {
       const auto* s = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       const auto* i = a.size() == 1 ? a[0].get<std::int64_t>() : nullptr;
       if (a.size() == 1 && a[0].get<TimeValue>()) return a[0];
       if (i != nullptr) return time_of(*i, 0);
       if (s == nullptr) return no_overload("timestamp");
       const auto time = base::parse_rfc3339_unix(*s);
       return time ? time_of(time->seconds, time->nanos) : fail("invalid timestamp: " + *s);
     }},
    {"matches",
     [](const Values& a, std::uint64_t& cost) {
       const auto* s = a.size() == 2 ? a[0].get<std::string>() : nullptr;
       return s ? call_text_method("matches", *s, {a[1]}, cost) : no_overload("matches");
     }},
    {"jsonpatch.escapeKey",
     [](const Values& a, std::uint64_t&) {
       const auto* s = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       if (s == nullptr) return no_overload("jsonpatch.escapeKey");
       std::string out;
       for (const char c : *s) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
       return Value(std::move(out));
     }},
    {"strings.quote",
     [](const Values& a, std::uint64_t&) {
       const auto* s = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       return s ? Value(quote(*s)) : no_overload("strings.quote");
     }},
    {"lists.range",
     [](const Values& a, std::uint64_t& cost) {
       const auto* count = a.size() == 1 ? a[0].get<std::int64_t>() : nullptr;
       if (count == nullptr) return no_overload("lists.range");
       cost += static_cast<std::uint64_t>(std::max<std::int64_t>(*count, 0));
       if (cost > kWorkMax) return exhausted();
       List out;
       for (std::int64_t i = 0; i < *count; ++i) out.push_back(i);
       return Value(std::move(out));
     }},
    {"math.greatest", [](const Values& a, std::uint64_t& cost) { return extreme_of(a, 1, cost); }},
    {"math.least", [](const Values& a, std::uint64_t& cost) { return extreme_of(a, -1, cost); }},
    {"sets.contains",
     [](const Values& a, std::uint64_t& cost) {
       const List *x = a.size() == 2 ? a[0].get<List>() : nullptr, *y = x ? a[1].get<List>() : nullptr;
       if (y == nullptr) return no_overload("sets.contains");
       return Value(std::all_of(y->begin(), y->end(), [&](const Value& v) { return holds(*x, v, cost); }));
     }},
    {"sets.intersects",
     [](const Values& a, std::uint64_t& cost) {
       const List *x = a.size() == 2 ? a[0].get<List>() : nullptr, *y = x ? a[1].get<List>() : nullptr;
       if (y == nullptr) return no_overload("sets.intersects");
       return Value(std::any_of(y->begin(), y->end(), [&](const Value& v) { return holds(*x, v, cost); }));
     }},
    {"sets.equivalent",
     [](const Values& a, std::uint64_t& cost) {
       const List *x = a.size() == 2 ? a[0].get<List>() : nullptr, *y = x ? a[1].get<List>() : nullptr;
       if (y == nullptr) return no_overload("sets.equivalent");
       return Value(std::all_of(y->begin(), y->end(), [&](const Value& v) { return holds(*x, v, cost); }) &&
                    std::all_of(x->begin(), x->end(), [&](const Value& v) { return holds(*y, v, cost); }));
     }},
};

Value list_method(std::string_view name, const List& l, const Values& a, std::uint64_t& cost) {
  if (name == "join") {
    const std::string* by = a.size() == 1 ? a[0].get<std::string>() : nullptr;
    if (a.size() > 1 || (!a.empty() && by == nullptr)) return no_overload(name);
    return join(l, by != nullptr ? *by : std::string(), cost);
  }
  if ((name == "indexOf" || name == "lastIndexOf") && a.size() == 1) {
    std::int64_t found = -1;
    for (std::size_t n = 0; n < l.size(); ++n) {
      if (equal(l[n], a[0], cost) && (found < 0 || name == "lastIndexOf")) found = static_cast<std::int64_t>(n);
    }
    return found;
  }
  if (name == "slice" && a.size() == 2 && a[0].get<std::int64_t>() && a[1].get<std::int64_t>()) {
    const std::int64_t from = *a[0].get<std::int64_t>(), to = *a[1].get<std::int64_t>();
    if (from < 0 || to < from || to > static_cast<std::int64_t>(l.size())) return fail("index out of range");
    return List(l.begin() + from, l.begin() + to);
  }
  if (!a.empty()) return no_overload(name);
  if (name == "sum") return sum(l, cost);
  if (name == "min" || name == "max" || name == "isSorted") cost += comparing_cost(l);
  if (cost > kWorkMax) return exhausted();
  if (name == "min") return extreme(l, -1);
  if (name == "max") return extreme(l, 1);
  if (name == "isSorted") return is_sorted(l);
  if (name == "sort") return sorted_by(l, l, cost);
  if (name == "reverse") return List(l.rbegin(), l.rend());
  if (name == "distinct") {
    List out;
    for (const Value& v : l) {
      if (!holds(out, v, cost)) out.push_back(v);
    }
    return out;
  }
  return no_overload(name);
}

constexpr std::string_view kListMethods[] = {"join", "indexOf",  "lastIndexOf", "slice",    "sum", "min",
                                             "max",  "isSorted", "reverse",     "distinct", "sort"};

const Library* libraries() {
  static const Library kLibraries[] = {kubernetes_library(),   optional_library(), url_library(),
                                       named_format_library(), image_library(),    authorizer_library()};
  return kLibraries;
}
constexpr std::size_t kLibraryCount = 6;

Function find_function(std::string_view name) {
  for (const FunctionRow& row : kFunctions) {
    if (row.name == name) return row.call;
  }
  for (std::size_t i = 0; i < kLibraryCount; ++i) {
    for (const FunctionRow& row : libraries()[i].functions) {
      if (row.name == name) return row.call;
    }
  }
  return nullptr;
}

Method find_method(std::string_view name) {
  for (std::size_t i = 0; i < kLibraryCount; ++i) {
    for (const MethodRow& row : libraries()[i].methods) {
      if (row.name == name) return row.call;
    }
  }
  return nullptr;
}

}  // namespace

bool is_function(std::string_view name) { return find_function(name) != nullptr; }

bool is_method(std::string_view name) {
  return name == "size" || find_method(name) != nullptr || is_text_method(name) || is_time_method(name) ||
         std::find(std::begin(kListMethods), std::end(kListMethods), name) != std::end(kListMethods);
}

Value call_function(std::string_view name, const std::vector<Value>& arguments, std::uint64_t& cost) {
  const Function found = find_function(name);
  return found == nullptr ? no_overload(name) : found(arguments, cost);
}

Value call_method(std::string_view name, const Value& object, const std::vector<Value>& arguments,
                  std::uint64_t& cost) {
  if (name == "size" && arguments.empty()) return size_of(object);
  if (const Method found = find_method(name)) return found(object, arguments, cost);
  if (const auto* s = object.get<std::string>()) return call_text_method(name, *s, arguments, cost);
  if (const auto* l = object.get<List>()) return list_method(name, *l, arguments, cost);
  if (object.get<DurationValue>() || object.get<TimeValue>()) return call_time_method(name, object, arguments, cost);
  return no_overload(name);
}

}  // namespace api::cel
