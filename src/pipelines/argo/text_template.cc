// Tags are found by their braces; a value is put in once, and braces in it are plain text.
#include "pipelines/argo/text_template.h"

#include <algorithm>

#include "base/format.h"
#include "base/trim.h"

namespace pipelines::argo {

using api::Json;
using base::Code;

namespace {

// The next tag from `at`: its name, and the place behind it. npos: there is none.
struct Tag {
  std::size_t begin = std::string_view::npos, end = std::string_view::npos;
  std::string_view name = {};
};

// Scripts have braces of their own, such as {{range .items}} or {{ user.name }}, which stay as they are.
bool is_own(std::string_view name) {
  static constexpr std::string_view kWords[] = {"item", "retries"};
  static constexpr std::string_view kBegins[] = {"=",      "inputs.", "outputs.", "workflow.",  "tasks.",
                                                 "steps.", "item.",   "pod.",     "lastRetry.", "node."};
  // Parts of names that are misspelt, too.
  static constexpr std::string_view kParts[] = {".parameters.", ".artifacts.", ".outputs."};
  const auto begins = [name](std::string_view one) { return name.starts_with(one); };
  const auto has = [name](std::string_view one) { return name.find(one) != std::string_view::npos; };
  const bool is_name = name.find_first_of("{} \t\"'()[]") == std::string_view::npos;
  return std::ranges::find(kWords, name) != std::end(kWords) || std::ranges::any_of(kBegins, begins) ||
         (is_name && std::ranges::any_of(kParts, has));
}

// Braces that are not closed are left alone, unless what follows is a name. A brace more belongs to the text: {{{x}}}.
base::Result<Tag> next_tag(std::string_view text, std::size_t at) {
  for (;;) {
    Tag tag;
    tag.begin = text.find("{{", at);
    if (tag.begin == std::string_view::npos) return tag;
    const std::size_t close = text.find("}}", tag.begin);
    const std::string_view inside =
        text.substr(tag.begin + 2, close == std::string_view::npos ? 60 : close - tag.begin - 2);
    tag.name = base::trim(inside, base::kAllBlanks);
    if (!is_own(tag.name)) {
      at = tag.begin + 1;
      continue;
    }
    if (close == std::string_view::npos)
      return base::make_error(Code::kInvalid, base::format("{:?} has a {{{{ without }}}}", text.substr(tag.begin, 60)));
    tag.end = close + 2;
    if (tag.name.starts_with('='))
      return base::make_error(Code::kInvalid,
                              base::format("{{{{{}}}}} is an expression, which is not supported here; a "
                                           "script can compute it",
                                           tag.name.substr(0, 60)));
    return tag;
  }
}

}  // namespace

const std::string* Variables::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

void Variables::take(const Variables& other, std::string_view prefix) {
  for (auto it = other.values_.lower_bound(prefix); it != other.values_.end() && it->first.starts_with(prefix); ++it)
    values_.insert_or_assign(it->first, it->second);
}

base::Result<std::vector<std::string>> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0;;) {
    TRY(const Tag tag, next_tag(text, at));
    if (tag.begin == std::string_view::npos) return names;
    names.emplace_back(tag.name);
    at = tag.end;
  }
}

base::Result<std::string> fill(std::string_view text, const Variables& variables) {
  std::string out;
  for (std::size_t at = 0;;) {
    TRY(const Tag tag, next_tag(text, at));
    out += text.substr(at, tag.begin == std::string_view::npos ? tag.begin : tag.begin - at);
    if (tag.begin == std::string_view::npos) return out;
    const std::string* value = variables.find(tag.name);
    if (value == nullptr)
      return base::make_error(Code::kInvalid, base::format("{{{{{}}}}} has no value", tag.name.substr(0, 120)));
    if (out.size() + value->size() > kTextBytesMax)
      return base::make_error(Code::kInvalid, base::format("a text with {{{{{}}}}} has more than {} bytes",
                                                           tag.name.substr(0, 120), kTextBytesMax));
    out += *value;
    at = tag.end;
  }
}

base::Result<Json> fill_all(const Json& value, const Variables& variables) {
  if (value.is_string()) {
    if (value.as_string().find("{{") == std::string_view::npos) return Json(value);
    TRY(const std::string text, fill(value.as_string(), variables));
    return Json(text);
  }
  if (value.is_array()) {
    std::vector<Json> items;
    for (const Json& item : value.items()) {
      TRY(Json filled, fill_all(item, variables));
      items.push_back(std::move(filled));
    }
    return Json::array(std::move(items));
  }
  if (!value.is_object()) return Json(value);
  Json out = Json::object_of_size(value.size());
  for (const Json::Member& member : value.members()) {
    TRY(Json filled, fill_all(member.value, variables));
    out.set(member.name(), std::move(filled));
  }
  return out;
}

std::string text_of(const Json& value) { return value.is_string() ? value.str() : value.dump(); }

}  // namespace pipelines::argo
