// Which texts follow the rules that Kubernetes has names for, and what does it say of the others?
#include <re2/re2.h>

#include <algorithm>

#include "api/cel/syntax.h"
#include "base/format.h"
#include "base/time.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;
using Problems = std::vector<std::string>;

constexpr std::string_view kLabel = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kSubdomain = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr std::string_view kOldLabel = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr std::string_view kName = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

bool is_alphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
bool is_lower(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_label(std::string_view text) {
  return !text.empty() && is_lower(text.front()) && is_lower(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower(c) || c == '-'; });
}

bool is_subdomain(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_name(std::string_view text) {
  return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

std::string must_match(std::string_view rule, std::string_view pattern, std::string_view examples) {
  return base::format("{} (e.g. {}, regex used for validation is '{}')", rule, examples, pattern);
}
std::string too_long(std::size_t size_max) { return base::format("must be no more than {} characters", size_max); }

Problems label(std::string_view text) {
  Problems out;
  if (text.size() > 63) out.push_back(too_long(63));
  if (is_label(text)) return out;
  if (is_subdomain(text))
    out.emplace_back("must not contain dots");
  else
    out.push_back(must_match(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
        "with an alphanumeric character",
        kLabel, "'my-name',  or '123-abc'"));
  return out;
}

Problems subdomain(std::string_view text) {
  Problems out;
  if (text.size() > 253) out.push_back(too_long(253));
  if (!is_subdomain(text))
    out.push_back(must_match(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start "
        "and end with an alphanumeric character",
        kSubdomain, "'example.com'"));
  return out;
}

Problems old_label(std::string_view text) {
  Problems out;
  if (text.size() > 63) out.push_back(too_long(63));
  if (!is_label(text) || (text[0] >= '0' && text[0] <= '9'))
    out.push_back(must_match(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
        "character, and end with an alphanumeric character",
        kOldLabel, "'my-name',  or 'abc-123'"));
  return out;
}

Problems qualified_name(std::string_view text) {
  static constexpr std::string_view kRule =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  static constexpr std::string_view kExamples = "'MyName',  or 'my.name',  or '123-abc'";
  Problems out;
  std::string_view name = text;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos)
      return {"a qualified name " + must_match(kRule, kName, kExamples) +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    if (prefix.empty())
      out.emplace_back("prefix part must be non-empty");
    else
      for (const std::string& one : subdomain(prefix)) out.push_back("prefix part " + one);
  }
  if (name.empty())
    out.emplace_back("name part must be non-empty");
  else if (name.size() > 63)
    out.push_back("name part " + too_long(63));
  if (!is_name(name)) out.push_back("name part " + must_match(kRule, kName, kExamples));
  return out;
}

Problems label_value(std::string_view text) {
  Problems out;
  if (text.size() > 63) out.push_back(too_long(63));
  if (!text.empty() && !is_name(text))
    out.push_back(must_match(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character",
        "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", "'MyValue',  or 'my_value',  or '12345'"));
  return out;
}

// The beginning of a name: whatever comes behind a dash at its end makes it good.
template <Problems (*kRule)(std::string_view)>
Problems prefix_of(std::string_view text) {
  if (text.size() <= 1 || !text.ends_with('-')) return kRule(text);
  return kRule(std::string(text.substr(0, text.size() - 2)) + "a");
}

Problems uri(std::string_view text) {
  std::string problem;
  if (parse_url(text, problem)) return {};
  return {problem};
}

Problems uuid(std::string_view text) {
  static const RE2 kPattern("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}");
  if (RE2::FullMatch(re2::StringPiece(text.data(), text.size()), kPattern)) return {};
  return {"does not match the UUID format"};
}

Problems base64(std::string_view text) {
  const std::size_t end = std::min(text.find('='), text.size());
  const bool letters = std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end),
                                   [](char c) { return is_alphanumeric(c) || c == '+' || c == '/'; });
  const std::string_view padding = text.substr(end);
  if (letters && !text.empty() && text.size() % 4 == 0 && (padding.empty() || padding == "=" || padding == "=="))
    return {};
  return {"invalid base64"};
}

bool is_date(std::string_view text) {
  return text.size() == 10 && base::parse_rfc3339(std::string(text) + "T00:00:00Z").has_value();
}
Problems date(std::string_view text) { return is_date(text) ? Problems{} : Problems{"invalid date"}; }

Problems date_time(std::string_view text) {
  static const RE2 kTime("(?i)([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})");
  const bool good = text.size() > 11 && (text[10] == 'T' || text[10] == 't') && is_date(text.substr(0, 10)) &&
                    RE2::FullMatch(re2::StringPiece(text.data() + 11, text.size() - 11), kTime);
  return good ? Problems{} : Problems{"invalid datetime"};
}

struct Rule {
  std::string_view name;
  Problems (*check)(std::string_view text);
};
constexpr Rule kRules[] = {
    {"dns1123Label", label},
    {"dns1123Subdomain", subdomain},
    {"dns1035Label", old_label},
    {"qualifiedName", qualified_name},
    {"dns1123LabelPrefix", prefix_of<label>},
    {"dns1123SubdomainPrefix", prefix_of<subdomain>},
    {"dns1035LabelPrefix", prefix_of<old_label>},
    {"labelValue", label_value},
    {"uri", uri},
    {"uuid", uuid},
    {"byte", base64},
    {"date", date},
    {"datetime", date_time},
};

template <std::size_t kAt>
constexpr FunctionRow row(std::string_view name) {
  return {name, [](const Values& a, std::uint64_t&) {
            return a.empty() ? Value(NamedFormat{kRules[kAt].name})
                             : no_overload("format." + std::string(kRules[kAt].name));
          }};
}
constexpr FunctionRow kFunctions[] = {
    row<0>("format.dns1123Label"),
    row<1>("format.dns1123Subdomain"),
    row<2>("format.dns1035Label"),
    row<3>("format.qualifiedName"),
    row<4>("format.dns1123LabelPrefix"),
    row<5>("format.dns1123SubdomainPrefix"),
    row<6>("format.dns1035LabelPrefix"),
    row<7>("format.labelValue"),
    row<8>("format.uri"),
    row<9>("format.uuid"),
    row<10>("format.byte"),
    row<11>("format.date"),
    row<12>("format.datetime"),
    {"format.named",
     [](const Values& a, std::uint64_t&) {
       const auto* name = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       if (name == nullptr) return no_overload("format.named");
       for (const Rule& rule : kRules) {
         if (rule.name == *name) return some(NamedFormat{rule.name});
       }
       return Value(Optional{});
     }},
};

constexpr MethodRow kMethods[] = {
    {"validate",
     [](const Value& o, const Values& a, std::uint64_t& cost) {
       const NamedFormat* format = o.get<NamedFormat>();
       const auto* text = a.size() == 1 ? a[0].get<std::string>() : nullptr;
       if (format == nullptr || text == nullptr) return no_overload("validate");
       cost += text->size() / 4 + 1;
       List out;
       for (const Rule& rule : kRules) {
         if (rule.name != format->name) continue;
         for (std::string& problem : rule.check(*text)) out.push_back(std::move(problem));
       }
       return out.empty() ? Value(Optional{}) : some(std::move(out));
     }},
};

}  // namespace

Library named_format_library() { return {kFunctions, kMethods}; }

}  // namespace api::cel
