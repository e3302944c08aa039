// Parsing and matching of selectors.
#include "api/selector.h"

#include <algorithm>

#include "api/json/problems.h"
#include "api/schema/names.h"
#include "base/format.h"
#include "base/number.h"

namespace api {
namespace {

using base::Code;
using base::make_error;
using base::Result;
using Op = Requirement::Operator;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.' || c == '/';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() {
    blanks();
    return at_ == text_.size();
  }
  bool take(std::string_view token) {
    blanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }
  std::string word() {
    blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }
  bool peek(char c) {
    blanks();
    return at_ < text_.size() && text_[at_] == c;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

base::Error bad(std::string_view text, std::string_view why) {
  return make_error(Code::kBadRequest,
                    base::format("unable to parse requirement: {} in selector \"{}\"", why, shortened(text)));
}

Result<std::vector<std::string>> value_list(Scanner& scanner, std::string_view text) {
  std::vector<std::string> values;
  if (!scanner.take("(")) return bad(text, "found no '(' after the operator");
  while (!scanner.take(")")) {
    if (scanner.at_end()) return bad(text, "found no ')'");
    values.push_back(scanner.word());
    if (!scanner.take(",") && !scanner.peek(')')) return bad(text, "expected ',' or ')'");
  }
  if (values.empty()) values.emplace_back();
  std::ranges::sort(values);
  return values;
}

// A key or value that no label has would choose nothing, or with '!' everything.
base::Status check_words(const Requirement& r, std::string_view text) {
  if (const auto why = check_qualified_name(r.key); !why.empty())
    return bad(text, base::format("key: Invalid value: \"{}\": {}", shortened(r.key), why.front()));
  if (r.op == Op::kGreaterThan || r.op == Op::kLessThan) return {};  // a number
  for (const std::string& value : r.values)
    if (const auto why = check_label_value(value); !why.empty())
      return bad(text, base::format("value: Invalid value: \"{}\": {}", shortened(value), why.front()));
  return {};
}

Result<Requirement> requirement(Scanner& scanner, std::string_view text) {
  Requirement r;
  if (scanner.take("!")) {
    r.op = Op::kDoesNotExist;
    r.key = scanner.word();
    if (r.key.empty()) return bad(text, "expected a label key after '!'");
    return r;
  }
  r.key = scanner.word();
  if (r.key.empty()) return bad(text, "expected a label key");
  if (scanner.at_end() || scanner.peek(',')) {
    r.op = Op::kExists;
  } else if (scanner.take("==") || scanner.take("=")) {
    r.values.push_back(scanner.word());
  } else if (scanner.take("!=")) {
    r.op = Op::kNotIn;
    r.values.push_back(scanner.word());
  } else if (const bool greater = scanner.take(">"); greater || scanner.take("<")) {
    r.op = greater ? Op::kGreaterThan : Op::kLessThan;
    r.values.push_back(scanner.word());
    if (!base::parse_number<std::int64_t>(r.values[0]))
      return bad(text, "for 'Gt', 'Lt' operators, the value must be an integer");
  } else {
    const std::string word = scanner.word();
    if (word != "in" && word != "notin") return bad(text, base::format("'{}' is not an operator", word));
    r.op = word == "in" ? Op::kIn : Op::kNotIn;
    TRY(r.values, value_list(scanner, text));
  }
  return r;
}

}  // namespace

// Values are sorted by whoever made the requirement.
bool Requirement::matches(const std::string_view* value) const {
  switch (op) {
    case Op::kExists: return value != nullptr;
    case Op::kDoesNotExist: return value == nullptr;
    case Op::kIn: return value && std::ranges::binary_search(values, *value);
    case Op::kNotIn: return !value || !std::ranges::binary_search(values, *value);
    case Op::kGreaterThan:
    case Op::kLessThan: {
      if (!value || values.size() != 1) return false;
      const auto have = base::parse_number<std::int64_t>(*value), want = base::parse_number<std::int64_t>(values[0]);
      return have && want && (op == Op::kGreaterThan ? *have > *want : *have < *want);
    }
  }
  return false;
}

bool LabelSelector::matches(const Json& labels) const {
  return std::ranges::all_of(requirements, [&](const Requirement& r) {
    const Json* value = labels.find(r.key);
    if (!value) return r.matches(nullptr);
    const std::string_view text = value->as_string();
    return r.matches(&text);
  });
}

Result<LabelSelector> parse_label_selector(std::string_view text) {
  LabelSelector selector;
  Scanner scanner(text);
  while (!scanner.at_end()) {
    TRY(Requirement r, requirement(scanner, text));
    TRY_VOID(check_words(r, text));
    selector.requirements.push_back(std::move(r));
    if (scanner.at_end()) break;
    if (!scanner.take(",")) return bad(text, "expected ',' between requirements");
    if (scanner.at_end()) return bad(text, "expected a requirement after ','");
  }
  return selector;
}

Result<LabelSelector> label_selector_from(const Json& json) {
  LabelSelector selector;
  for (const Json::Member& member : json["matchLabels"].members())
    selector.requirements.push_back({std::string(member.name()), Op::kIn, {member.value.str()}});
  for (const Json& expression : json["matchExpressions"].items()) {
    Requirement r;
    r.key = expression["key"].str();
    const std::string_view op = expression["operator"].as_string();
    if (op == "In")
      r.op = Op::kIn;
    else if (op == "NotIn")
      r.op = Op::kNotIn;
    else if (op == "Exists")
      r.op = Op::kExists;
    else if (op == "DoesNotExist")
      r.op = Op::kDoesNotExist;
    else
      return make_error(Code::kInvalid, base::format("\"{}\" is not a valid label selector operator", op));
    for (const Json& value : expression["values"].items()) r.values.push_back(value.str());
    std::ranges::sort(r.values);
    selector.requirements.push_back(std::move(r));
  }
  std::ranges::stable_sort(selector.requirements, {}, &Requirement::key);
  return selector;
}

Result<std::vector<FieldTerm>> parse_field_selector(std::string_view text) {
  std::vector<FieldTerm> terms;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const std::size_t sign = part.find('=');
    if (sign == std::string_view::npos || sign == 0)
      return make_error(Code::kBadRequest, base::format("invalid field selector: {}", part));
    FieldTerm term;
    term.equal = part[sign - 1] != '!';
    term.path = part.substr(0, term.equal ? sign : sign - 1);
    std::string_view value = part.substr(sign + 1);
    if (term.equal && value.starts_with('=')) value.remove_prefix(1);
    term.value = value;
    terms.push_back(std::move(term));
  }
  return terms;
}

std::string field_text(const Json& object, std::string_view path) {
  const Json* at = &object;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    at = &(*at)[path.substr(0, dot)];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  if (at->is_null()) return "";
  return at->is_string() ? at->str() : at->dump();
}

bool matches(const std::vector<FieldTerm>& terms, const Json& object) {
  return std::ranges::all_of(
      terms, [&](const FieldTerm& term) { return (field_text(object, term.path) == term.value) == term.equal; });
}

}  // namespace api
