// Reading a path into steps, and following them.
#include "api/json/json_path.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/format.h"

namespace api {

namespace {

constexpr std::size_t kPathBytesMax = 4096;
constexpr std::size_t kStepsMax = 64;
constexpr std::size_t kLooksMax = 10'000;

bool ends_name(char c) {
  return c == '.' || c == '[' || c == ' ' || c == ')' || c == '=' || c == '!' || c == '<' || c == '>';
}

}  // namespace

class JsonPath::Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  // Up to the end of the text, or of an operand in a filter.
  base::Result<std::vector<Step>> steps(bool in_filter, int depth = 0) {
    std::vector<Step> out;
    while (!rest_.empty() && out.size() < kStepsMax) {
      if (rest_.starts_with("..")) {
        rest_.remove_prefix(2);
        Step step{.kind = Step::Kind::kDeep, .name = name()};
        if (step.name.empty()) return wrong("a name must follow \"..\"");
        out.push_back(std::move(step));
      } else if (rest_[0] == '.') {
        rest_.remove_prefix(1);
        if (rest_.empty() || rest_[0] == '[') continue;
        Step step{.kind = Step::Kind::kMember, .name = name()};
        if (step.name.empty()) return wrong("a name must follow \".\"");
        if (step.name == "*") step.kind = Step::Kind::kAll;
        out.push_back(std::move(step));
      } else if (rest_[0] == '[') {
        TRY(Step step, brackets(depth));
        out.push_back(std::move(step));
      } else if (in_filter) {
        break;
      } else {
        return wrong("a step begins with \".\" or \"[\"");
      }
    }
    if (out.size() >= kStepsMax) return wrong("it has too many steps");
    return out;
  }

 private:
  static base::Error wrong(std::string_view why) { return base::make_error(base::Code::kInvalid, std::string(why)); }

  void skip_spaces() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }

  std::string name() {
    std::string out;
    while (!rest_.empty() && !ends_name(rest_[0])) {
      if (rest_[0] == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      out += rest_[0];
      rest_.remove_prefix(1);
    }
    return out;
  }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string> quoted() {
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return {};
    const char quote = rest_[0];
    std::string out;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == quote) {
        rest_.remove_prefix(i + 1);
        return out;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
      out += rest_[i];
    }
    return {};
  }

  std::optional<std::int64_t> integer() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  base::Result<Step> brackets(int depth) {
    rest_.remove_prefix(1);
    Step step;
    if (take("?(")) {
      if (depth > 3) return wrong("its filters are nested too deeply");
      TRY_VOID(filter(step, depth));
      if (!take(")")) return wrong("a filter ends with \")\"");
    } else if (take("*")) {
      step.kind = Step::Kind::kAll;
    } else if (auto text = quoted()) {
      step.name = *std::move(text);
    } else {
      TRY_VOID(range(step));
    }
    if (!take("]")) return wrong("unterminated array");
    return step;
  }

  base::Status range(Step& step) {
    const auto first = integer();
    step.begin = first.value_or(0);
    step.kind = Step::Kind::kIndex;
    // "[]" is the first item, as for Kubernetes' parser.
    if (!take(":"))
      return first || rest_.starts_with("]") ? base::Status() : base::Status(wrong("invalid array index"));
    step.kind = Step::Kind::kSlice;
    if (const auto last = integer()) {
      step.end = *last;
      step.has_end = true;
    }
    return {};
  }

  base::Status filter(Step& step, int depth) {
    step.kind = Step::Kind::kFilter;
    TRY_VOID(operand(step.left, step.left_is_path, step.left_value, depth));
    skip_spaces();
    for (const char* word : {"==", "!=", "<=", ">=", "<", ">"})
      if (step.compare.empty() && take(word)) step.compare = word;
    if (step.compare.empty()) return {};
    return operand(step.right, step.right_is_path, step.right_value, depth);
  }

  base::Status operand(std::vector<Step>& path, bool& is_path, Json& value, int depth) {
    skip_spaces();
    if (take("@")) {
      is_path = true;
      TRY(path, steps(true, depth + 1));
    } else if (auto text = quoted()) {
      value = Json(*text);
    } else {
      const std::size_t end = std::min(rest_.find_first_of(" )"), rest_.size());
      auto parsed = parse_json(rest_.substr(0, end));
      if (!parsed.ok()) return wrong(base::format("unrecognized value {:?} in a filter", rest_.substr(0, end)));
      value = *std::move(parsed);
      rest_.remove_prefix(end);
    }
    skip_spaces();
    return {};
  }

  std::string_view rest_;
};

struct JsonPath::Search {
  std::size_t looks = 0;

  using Found = std::vector<const Json*>;

  Found follow(const std::vector<Step>& steps, const Json& from) {
    Found at{&from};
    for (const Step& step : steps) {
      Found next;
      for (const Json* one : at) take(step, *one, next);
      at = std::move(next);
      if (at.empty()) break;
    }
    return at;
  }

  bool may_look() { return ++looks <= kLooksMax; }

  void take(const Step& step, const Json& from, Found& out) {
    if (!may_look()) return;
    const auto size = static_cast<std::int64_t>(from.items().size());
    const auto place = [size](std::int64_t index) {
      return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
    };
    switch (step.kind) {
      case Step::Kind::kMember:
        if (const Json* member = from.find(step.name)) out.push_back(member);
        return;
      case Step::Kind::kIndex: {
        const std::int64_t index = step.begin < 0 ? step.begin + size : step.begin;
        if (index >= 0 && index < size) out.push_back(&from[static_cast<std::size_t>(index)]);
        return;
      }
      case Step::Kind::kSlice:
        for (std::int64_t i = place(step.begin); i < (step.has_end ? place(step.end) : size) && may_look(); ++i)
          out.push_back(&from[static_cast<std::size_t>(i)]);
        return;
      case Step::Kind::kAll:
      case Step::Kind::kFilter:
        for (const Json& item : from.items())
          if (may_look() && (step.kind == Step::Kind::kAll || passes(step, item))) out.push_back(&item);
        for (const Json::Member& member : from.members())
          if (may_look() && (step.kind == Step::Kind::kAll || passes(step, member.value))) out.push_back(&member.value);
        return;
      case Step::Kind::kDeep: return deep(step.name, from, out);
    }
  }

  void deep(const std::string& name, const Json& from, Found& out) {
    if (!may_look()) return;
    if (const Json* member = from.find(name)) out.push_back(member);
    for (const Json& item : from.items()) deep(name, item, out);
    for (const Json::Member& member : from.members()) deep(name, member.value, out);
  }

  bool passes(const Step& step, const Json& item) {
    const Json* left = side(step.left, step.left_is_path, step.left_value, item);
    if (step.compare.empty()) return left != nullptr;
    const Json* right = side(step.right, step.right_is_path, step.right_value, item);
    if (left == nullptr || right == nullptr) return false;
    if (step.compare == "==") return *left == *right;
    if (step.compare == "!=") return !(*left == *right);
    if (left->is_string() && right->is_string())
      return ordered(step.compare, left->as_string().compare(right->as_string()));
    if (!left->is_number() || !right->is_number()) return false;
    const double a = left->as_double(), b = right->as_double();
    return ordered(step.compare, a < b ? -1 : a > b ? 1 : 0);
  }

  static bool ordered(std::string_view compare, int order) {
    if (compare == "<") return order < 0;
    if (compare == "<=") return order <= 0;
    return compare == ">" ? order > 0 : order >= 0;
  }

  const Json* side(const std::vector<Step>& path, bool is_path, const Json& value, const Json& item) {
    if (!is_path) return &value;
    const Found found = follow(path, item);
    return found.empty() ? nullptr : found.front();
  }
};

base::Result<JsonPath> JsonPath::parse(std::string_view text) {
  if (text.size() > kPathBytesMax) return base::make_error(base::Code::kInvalid, "it is too long");
  JsonPath path;
  TRY(path.steps_, Parser(text).steps(false));
  return path;
}

std::vector<const Json*> JsonPath::find(const Json& from) const { return Search().follow(steps_, from); }

}  // namespace api
