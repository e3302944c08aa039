// The functions of the language itself and of its strings, lists, math and sets extensions.
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "api/cel/syntax.h"
#include "base/format.h"
#include "base/time.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;

// Bytes of the UTF-8 characters of a text; a broken byte is a character of its own.
std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80 && end - i < 4) ++end;
    out.push_back(text.substr(i, end - i));
    i = end;
  }
  return out;
}

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
  if (const auto* t = v.get<TimeValue>()) return t->ns / 1'000'000'000;
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

Value matches(const std::string& text, const std::string& pattern, std::uint64_t& cost) {
  cost += (text.size() / 10 + 1) * (pattern.size() / 4 + 1);
  if (pattern.size() > 1000) return fail("the pattern is too long");
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  const RE2 regex(pattern, options);
  if (!regex.ok()) return fail("invalid regular expression: " + regex.error());
  return RE2::PartialMatch(text, regex);
}

// The largest (sign 1) or smallest (sign -1) of the values.
Value extreme(const List& list, int sign) {
  if (list.empty()) return fail(sign > 0 ? "max called on empty list" : "min called on empty list");
  Value best = list.front();
  for (const Value& one : list) {
    const auto order = compare(one, best);
    if (!order) return no_overload(sign > 0 ? "max" : "min");
    if (*order * sign > 0) best = one;
  }
  return best;
}

Value sum(const List& list) {
  Value out = list.empty() ? Value(std::int64_t{0}) : list.front();
  for (std::size_t i = 1; i < list.size() && !out.is_error(); ++i) out = add(out, list[i]);
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

bool holds(const List& list, const Value& item, std::uint64_t& cost) {
  return std::any_of(list.begin(), list.end(), [&](const Value& one) { return equal(one, item, cost); });
}

struct FunctionRow {
  std::string_view name;
  Function call;
};
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
       if (s == nullptr) return no_overload("duration");
       const auto span = base::parse_go_duration(*s);
       return span ? Value(DurationValue{span->ns}) : fail("invalid duration: " + *s);
     }},
    {"timestamp",
     [](const Values& a, std::uint64_t&) {
       const auto* s = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       if (s == nullptr) return no_overload("timestamp");
       const auto time = base::parse_rfc3339(*s);
       return time ? Value(TimeValue{time->ns}) : fail("invalid timestamp: " + *s);
     }},
    {"math.greatest",
     [](const Values& a, std::uint64_t&) {
       return extreme(a.size() == 1 && a[0].get<List>() ? *a[0].get<List>() : a, 1);
     }},
    {"math.least",
     [](const Values& a, std::uint64_t&) {
       return extreme(a.size() == 1 && a[0].get<List>() ? *a[0].get<List>() : a, -1);
     }},
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

Value split(const std::string& text, const std::string& by, std::int64_t limit) {
  List out;
  if (limit == 0) return out;
  std::size_t start = 0;
  while (limit < 0 || static_cast<std::int64_t>(out.size()) + 1 < limit) {
    std::size_t end = by.empty() ? start + 1 : text.find(by, start);
    if (end == std::string::npos || (by.empty() && end >= text.size())) break;
    out.push_back(text.substr(start, end - start));
    start = end + by.size();
  }
  out.push_back(text.substr(std::min(start, text.size())));
  return out;
}

Value replace(const std::string& text, const std::string& from, const std::string& to, std::int64_t limit,
              std::uint64_t& cost) {
  if (from.empty()) return text;
  std::string out;
  std::size_t start = 0;
  for (std::int64_t n = 0; limit < 0 || n < limit; ++n) {
    const std::size_t found = text.find(from, start);
    if (found == std::string::npos) break;
    out.append(text, start, found - start).append(to);
    start = found + from.size();
    if (out.size() > 1'000'000) return fail("the result is too large");
  }
  out.append(text, start);
  cost += out.size() / 10;
  return out;
}

std::string lower(std::string text, bool up) {
  for (char& c : text) {
    if (!up && c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    if (up && c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return text;
}

std::string trim(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\f\v");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n\f\v") - first + 1);
}

Value substring(const std::string& text, std::int64_t from, std::int64_t to) {
  const auto chars = characters(text);
  const auto size = static_cast<std::int64_t>(chars.size());
  if (to < 0) to = size;
  if (from < 0 || from > to || to > size) return fail(base::format("index out of range: {}", from > size ? from : to));
  std::string out;
  for (std::int64_t i = from; i < to; ++i) out += chars[static_cast<std::size_t>(i)];
  return out;
}

// Positions count characters.
Value index_of(const std::string& text, const std::string& part, bool last) {
  const std::size_t found = last ? text.rfind(part) : text.find(part);
  if (found == std::string::npos) return std::int64_t{-1};
  return static_cast<std::int64_t>(characters(std::string_view(text).substr(0, found)).size());
}

Value find_all(const std::string& text, const std::string& pattern, std::int64_t limit, std::uint64_t& cost) {
  cost += (text.size() / 10 + 1) * (pattern.size() / 4 + 1);
  if (pattern.size() > 1000) return fail("the pattern is too long");
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  const RE2 regex("(" + pattern + ")", options);
  if (!regex.ok()) return fail("invalid regular expression: " + regex.error());
  List out;
  re2::StringPiece rest(text);
  re2::StringPiece hit;
  std::size_t at = 0;
  while (at <= text.size() && (limit < 0 || static_cast<std::int64_t>(out.size()) < limit) &&
         regex.Match(rest, at, rest.size(), RE2::UNANCHORED, &hit, 1)) {
    out.push_back(std::string(hit.data(), hit.size()));
    at = static_cast<std::size_t>(hit.data() - text.data()) + std::max<std::size_t>(hit.size(), 1);
    cost += text.size() / 10 + 1;
    if (cost > kWorkMax) return fail("operation cancelled: actual cost limit exceeded");
  }
  return out;
}

Value text_method(std::string_view name, const std::string& s, const Values& a, std::uint64_t& cost) {
  const std::string* t = a.empty() ? nullptr : a[0].get<std::string>();
  const std::int64_t* i = a.empty() ? nullptr : a.back().get<std::int64_t>();
  if (name == "matches" && t && a.size() == 1) return matches(s, *t, cost);
  if (name == "contains" && t && a.size() == 1) return s.find(*t) != std::string::npos;
  if (name == "startsWith" && t && a.size() == 1) return s.starts_with(*t);
  if (name == "endsWith" && t && a.size() == 1) return s.ends_with(*t);
  if (name == "indexOf" && t && a.size() == 1) return index_of(s, *t, false);
  if (name == "lastIndexOf" && t && a.size() == 1) return index_of(s, *t, true);
  if (name == "split" && t && (a.size() == 1 || (a.size() == 2 && i))) return split(s, *t, i ? *i : -1);
  if (name == "find" && t && a.size() == 1) {
    const Value all = find_all(s, *t, 1, cost);
    return all.is_error() ? all : all.get<List>()->empty() ? Value("") : all.get<List>()->front();
  }
  if (name == "findAll" && t && (a.size() == 1 || (a.size() == 2 && i))) return find_all(s, *t, i ? *i : -1, cost);
  if (name == "replace" && t && (a.size() == 2 || (a.size() == 3 && i)) && a[1].get<std::string>()) {
    return replace(s, *t, *a[1].get<std::string>(), i ? *i : -1, cost);
  }
  if (name == "substring" && i && a.size() == 1) return substring(s, *i, -1);
  if (name == "substring" && i && a.size() == 2 && a[0].get<std::int64_t>())
    return substring(s, *a[0].get<std::int64_t>(), std::max<std::int64_t>(*i, 0));
  if (name == "charAt" && i && a.size() == 1)
    return *i == static_cast<std::int64_t>(characters(s).size()) ? Value("") : substring(s, *i, *i < 0 ? *i : *i + 1);
  if (!a.empty()) return no_overload(name);
  if (name == "lowerAscii") return lower(s, false);
  if (name == "upperAscii") return lower(s, true);
  if (name == "trim") return trim(s);
  if (name == "reverse") {
    std::string out;
    const auto chars = characters(s);
    for (std::size_t c = chars.size(); c-- > 0;) out += chars[c];
    return out;
  }
  return no_overload(name);
}

Value list_method(std::string_view name, const List& l, const Values& a, std::uint64_t& cost) {
  if (name == "join") {
    std::string out;
    const std::string* by = a.size() == 1 ? a[0].get<std::string>() : nullptr;
    if (a.size() > 1 || (!a.empty() && by == nullptr)) return no_overload(name);
    for (std::size_t n = 0; n < l.size(); ++n) {
      const std::string* text = l[n].get<std::string>();
      if (text == nullptr) return no_overload(name);
      out += (n > 0 && by ? *by : "") + *text;
    }
    cost += out.size() / 10;
    return out;
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
  if (name == "sum") return sum(l);
  if (name == "min") return extreme(l, -1);
  if (name == "max") return extreme(l, 1);
  if (name == "isSorted") return is_sorted(l);
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

Value time_method(std::string_view name, const Value& object) {
  if (const auto* span = object.get<DurationValue>()) {
    if (name == "getHours") return span->ns / 3'600'000'000'000;
    if (name == "getMinutes") return span->ns / 60'000'000'000;
    if (name == "getSeconds") return span->ns / 1'000'000'000;
    if (name == "getMilliseconds") return span->ns / 1'000'000;
    return no_overload(name);
  }
  const std::string text = base::format_rfc3339(base::Time{object.get<TimeValue>()->ns});  // 2006-01-02T15:04:05Z
  const auto part = [&](std::size_t at, std::size_t size) -> std::int64_t {
    return std::atoll(text.substr(at, size).c_str());
  };
  if (text.size() < 20) return no_overload(name);
  if (name == "getFullYear") return part(0, 4);
  if (name == "getMonth") return part(5, 2) - 1;
  if (name == "getDate") return part(8, 2);
  if (name == "getHours") return part(11, 2);
  if (name == "getMinutes") return part(14, 2);
  if (name == "getSeconds") return part(17, 2);
  return no_overload(name);
}

constexpr std::string_view kMethods[] = {
    "size",        "matches",  "contains", "startsWith", "endsWith",   "indexOf",    "lastIndexOf",
    "split",       "find",     "findAll",  "replace",    "substring",  "charAt",     "lowerAscii",
    "upperAscii",  "trim",     "reverse",  "join",       "slice",      "sum",        "min",
    "max",         "isSorted", "distinct", "getHours",   "getMinutes", "getSeconds", "getMilliseconds",
    "getFullYear", "getMonth", "getDate"};

}  // namespace

bool is_function(std::string_view name) {
  return find_kubernetes_function(name) != nullptr ||
         std::any_of(std::begin(kFunctions), std::end(kFunctions),
                     [&](const FunctionRow& row) { return row.name == name; });
}

bool is_method(std::string_view name) {
  return find_kubernetes_method(name) != nullptr ||
         std::find(std::begin(kMethods), std::end(kMethods), name) != std::end(kMethods);
}

Value call_function(std::string_view name, const std::vector<Value>& arguments, std::uint64_t& cost) {
  for (const FunctionRow& row : kFunctions) {
    if (row.name == name) return row.call(arguments, cost);
  }
  const Function found = find_kubernetes_function(name);
  return found == nullptr ? no_overload(name) : found(arguments, cost);
}

Value call_method(std::string_view name, const Value& object, const std::vector<Value>& arguments,
                  std::uint64_t& cost) {
  if (name == "size" && arguments.empty()) return size_of(object);
  if (const auto* s = object.get<std::string>()) return text_method(name, *s, arguments, cost);
  if (const auto* l = object.get<List>()) return list_method(name, *l, arguments, cost);
  if (object.get<DurationValue>() || object.get<TimeValue>()) return time_method(name, object);
  const Method found = find_kubernetes_method(name);
  return found == nullptr ? no_overload(name) : found(object, arguments, cost);
}

}  // namespace api::cel
