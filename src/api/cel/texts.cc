// The methods of strings.
#include <re2/re2.h>

#include <algorithm>
#include <limits>

#include "api/cel/patterns.h"
#include "api/cel/syntax.h"
#include "api/schema/go_regexp.h"
#include "api/schema/pattern_problem.h"
#include "base/format.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;

// To read a pattern takes longer than to use it.
constexpr std::uint64_t kPatternCost = 100, kBrokenPatternCost = 3000;
constexpr std::int64_t kSmallPatterns = 4;  // so many of them are as large as one from an object may be
constexpr std::size_t kPatternBytesMax = 1000;

std::uint64_t pattern_cost(std::size_t bytes) { return kPatternCost + 10 * bytes; }

// The cost of a search for a pattern. A short pattern may stand for a long program (`(a?){1000}`), all of whose steps
// may be looked at for each byte. RE2 reads each byte once for short programs.
std::uint64_t match_cost(std::size_t text_bytes, std::size_t pattern_bytes, int program) {
  constexpr std::uint64_t kShort = 200;
  const std::uint64_t steps = std::max<std::uint64_t>(std::max(program, 0), kShort) - kShort;
  return (text_bytes / 10 + 1) * (pattern_bytes / 4 + 1) + text_bytes * steps / 4;
}

// A pattern that comes out of an object: small, for there may be one for each item of a list, and paid for by what it
// compiles to. An error, or null where it may be used.
Value compile_small(const std::string& text, const std::string& pattern, std::optional<RE2>& into,
                    std::uint64_t& cost) {
  cost += pattern_cost(pattern.size());
  if (pattern.size() > kPatternBytesMax) return fail("the pattern is too long");
  if (cost > kWorkMax) return exhausted();
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kSmallPatterns * small_pattern_memory(pattern));
  into.emplace(re2_syntax(pattern), options);
  cost += into->ok() ? static_cast<std::uint64_t>(into->ProgramSize()) +
                           match_cost(text.size(), pattern.size(), into->ProgramSize())
                     : kBrokenPatternCost;
  if (cost > kWorkMax) return exhausted();
  return into->ok() ? Value() : fail("error parsing regexp: " + small_pattern_problem(pattern));
}

Value matches(const std::string& text, const std::string& pattern, std::uint64_t& cost) {
  std::optional<RE2> regex;
  const Value problem = compile_small(text, pattern, regex, cost);
  return problem.is_error() ? problem : Value(RE2::PartialMatch(text, *regex));
}

// The cost of a search at worst beside reading both: each place of the text begins like the part.
void pay_search(const std::string& text, const std::string& part, std::uint64_t& cost) {
  cost += std::uint64_t{text.size()} * part.size() / 1000;
}

Value split(const std::string& text, const std::string& by, std::int64_t limit, std::uint64_t& cost) {
  if (by.empty()) cost += text.size();
  List out;
  if (limit == 0) return out;
  const auto more = [&] { return limit < 0 || static_cast<std::int64_t>(out.size()) + 1 < limit; };
  std::size_t start = 0;
  if (by.empty()) {
    for (const std::string_view one : characters(text)) {
      if (!more() || start + one.size() == text.size()) break;
      if (cost > kWorkMax) return exhausted();
      out.push_back(one);
      start += one.size();
    }
  } else {
    for (std::size_t end = text.find(by); end != std::string::npos && more(); end = text.find(by, start)) {
      out.push_back(text.substr(start, end - start));
      start = end + by.size();
      if (++cost > kWorkMax) return exhausted();
    }
  }
  if (by.empty() && text.empty()) return out;
  out.push_back(text.substr(start));
  return out;
}

Value replace(const std::string& text, const std::string& from, const std::string& to, std::int64_t limit,
              std::uint64_t& cost) {
  std::string out;
  std::size_t start = 0;
  if (from.empty()) {  // before each character, and behind the last
    std::int64_t left = limit < 0 ? std::numeric_limits<std::int64_t>::max() : limit;
    for (const std::string_view one : characters(text)) {
      if (left-- > 0) out += to;
      out += one;
      if (out.size() > kTextMax) return fail("the result is too large");
    }
    if (left > 0) out += to;
    cost += out.size() / 10;
    return out;
  }
  for (std::int64_t n = 0; limit < 0 || n < limit; ++n) {
    const std::size_t found = text.find(from, start);
    if (found == std::string::npos) break;
    out.append(text, start, found - start).append(to);
    start = found + from.size();
    if (out.size() > kTextMax) return fail("the result is too large");
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

// The white space of Unicode.
bool is_blank(std::string_view one) {
  static constexpr std::string_view kBlanks[] = {" ",      "\t",     "\n",     "\v",     "\f",     "\r",     "\u0085",
                                                 "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
                                                 "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u2028",
                                                 "\u2029", "\u202f", "\u205f", "\u3000"};
  return std::find(std::begin(kBlanks), std::end(kBlanks), one) != std::end(kBlanks);
}

std::string trim(const std::string& text) {
  const auto chars = characters(text);
  std::size_t first = 0, last = chars.size();
  while (first < last && is_blank(chars[first])) ++first;
  while (first < last && is_blank(chars[last - 1])) --last;
  std::string out;
  for (; first < last; ++first) out += chars[first];
  return out;
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

// Positions count characters. `from`: where the search begins.
Value index_of(const std::string& text, const std::string& part, const std::int64_t* from, bool last) {
  const auto chars = characters(text);
  if (from != nullptr && (*from < 0 || *from > static_cast<std::int64_t>(chars.size())))
    return fail(base::format("index out of range: {}", *from));
  std::size_t start = last ? std::string::npos : 0;
  if (from != nullptr) {
    start = 0;
    for (std::int64_t i = 0; i < *from; ++i) start += chars[static_cast<std::size_t>(i)].size();
  }
  const std::size_t found = last ? text.rfind(part, start) : text.find(part, start);
  if (found == std::string::npos) return std::int64_t{-1};
  return static_cast<std::int64_t>(characters(std::string_view(text).substr(0, found)).size());
}

Value find_all(const std::string& text, const std::string& pattern, std::int64_t limit, std::uint64_t& cost) {
  std::optional<RE2> regex;
  if (Value problem = compile_small(text, pattern, regex, cost); problem.is_error()) return problem;
  List out;
  re2::StringPiece rest(text);
  re2::StringPiece hit;
  std::size_t at = 0, last = std::string::npos;
  while (at <= text.size() && (limit < 0 || static_cast<std::int64_t>(out.size()) < limit) &&
         regex->Match(rest, at, rest.size(), RE2::UNANCHORED, &hit, 1)) {
    const auto begin = static_cast<std::size_t>(hit.data() - text.data());
    // An empty text right behind the last match is not a match.
    if (!hit.empty() || begin != last) out.push_back(std::string(hit.data(), hit.size()));
    at = last = begin + hit.size();
    if (hit.empty()) ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
    if (at <= text.size()) cost += match_cost(text.size() - at, 0, regex->ProgramSize());
    if (cost > kWorkMax) return exhausted();
  }
  return out;
}

}  // namespace

struct Pattern {
  explicit Pattern(const std::string& text, const RE2::Options& options)
      : regex(re2_syntax(text), options), bytes(text.size()) {}
  RE2 regex;
  std::size_t bytes;
};

std::shared_ptr<const Pattern> Patterns::read(const std::string& text) {
  const auto known = known_.find(text);
  if (known != known_.end()) return known->second;
  if (text.size() > kPatternBytesMax || is_full()) return nullptr;
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(1 << 20);
  constexpr std::size_t kStepsOfTooLarge = 40'000;  // what RE2 went to before it gave up
  auto out = std::make_shared<const Pattern>(text, options);
  steps_ += out->regex.ok()                                        ? static_cast<std::size_t>(out->regex.ProgramSize())
            : out->regex.error_code() == RE2::ErrorPatternTooLarge ? kStepsOfTooLarge
                                                                   : text.size();
  if (!out->regex.ok() || is_full()) out = nullptr;
  return known_.emplace(text, out).first->second;
}

Value match_pattern(const Pattern& pattern, const std::string& text, std::uint64_t& cost) {
  cost += match_cost(text.size(), pattern.bytes, pattern.regex.ProgramSize());
  if (cost > kWorkMax) return exhausted();
  return RE2::PartialMatch(text, pattern.regex);
}

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

bool is_text_method(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "matches", "contains",  "startsWith", "endsWith",   "indexOf",    "lastIndexOf", "split",   "find",  "findAll",
      "replace", "substring", "charAt",     "lowerAscii", "upperAscii", "trim",        "reverse", "format"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Value call_text_method(std::string_view name, const std::string& s, const Values& a, std::uint64_t& cost) {
  const std::string* t = a.empty() ? nullptr : a[0].get<std::string>();
  const std::int64_t* i = a.empty() ? nullptr : a.back().get<std::int64_t>();
  if (name == "matches" && t && a.size() == 1) return matches(s, *t, cost);
  static constexpr std::string_view kSearches[] = {"contains", "indexOf", "lastIndexOf", "split", "replace"};
  if (t && std::find(std::begin(kSearches), std::end(kSearches), name) != std::end(kSearches)) pay_search(s, *t, cost);
  if (cost > kWorkMax) return exhausted();
  if (name == "contains" && t && a.size() == 1) return s.find(*t) != std::string::npos;
  if (name == "startsWith" && t && a.size() == 1) return s.starts_with(*t);
  if (name == "endsWith" && t && a.size() == 1) return s.ends_with(*t);
  if (name == "indexOf" && t && (a.size() == 1 || (a.size() == 2 && i))) return index_of(s, *t, i, false);
  if (name == "lastIndexOf" && t && (a.size() == 1 || (a.size() == 2 && i))) return index_of(s, *t, i, true);
  if (name == "split" && t && (a.size() == 1 || (a.size() == 2 && i))) return split(s, *t, i ? *i : -1, cost);
  if (name == "find" && t && a.size() == 1) {
    const Value all = find_all(s, *t, 1, cost);
    return all.is_error() ? all : all.get<List>()->empty() ? Value("") : all.get<List>()->front();
  }
  if (name == "findAll" && t && (a.size() == 1 || (a.size() == 2 && i))) return find_all(s, *t, i ? *i : -1, cost);
  if (name == "replace" && t && (a.size() == 2 || (a.size() == 3 && i)) && a[1].get<std::string>()) {
    return replace(s, *t, *a[1].get<std::string>(), i ? *i : -1, cost);
  }
  if (name == "format" && a.size() == 1 && a[0].get<List>()) return format_text(s, *a[0].get<List>(), cost);
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

}  // namespace api::cel
