// Which texts follow the rules that Kubernetes has names for, and what does it say of the others?
#include <re2/re2.h>

#include <algorithm>

#include "api/cel/syntax.h"
#include "api/schema/names.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/unix_time.h"

namespace api::cel {
namespace {

using Values = std::vector<Value>;
using Problems = std::vector<std::string>;

// Expressions count characters.
Problems label(std::string_view text) {
  Problems out = check_dns_label(text, "characters");
  if (!out.empty() && out.back() == kDnsLabelRule && matches_dns_subdomain(text)) out.back() = "must not contain dots";
  return out;
}
Problems subdomain(std::string_view text) { return check_dns_subdomain(text, "characters"); }
Problems old_label(std::string_view text) { return check_dns1035_label(text, "characters"); }
Problems qualified_name(std::string_view text) { return check_qualified_name(text, "characters"); }
Problems label_value(std::string_view text) { return check_label_value(text, "characters"); }

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
  const bool one_line = !text.empty() && text.find_first_of("\r\n") == std::string_view::npos;
  return one_line && base::base64_decode(text).ok() ? Problems{} : Problems{"invalid base64"};
}

bool is_date(std::string_view text) {
  return text.size() == 10 && base::parse_rfc3339_unix(std::string(text) + "T00:00:00Z").has_value();
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
