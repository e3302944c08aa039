// The few elements that are read of the document; the store may be anybody's.
#include "pipelines/stage/object_list.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/number.h"
#include "base/split.h"

namespace pipelines {

namespace {

using base::Code;
using base::make_error;

// The text between the first pair of tags; nothing: there is none.
std::optional<std::string_view> element(std::string_view text, std::string_view name) {
  const std::string open = base::format("<{}>", name), close = base::format("</{}>", name);
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = text.find(close, begin);
  if (end == std::string_view::npos) return std::nullopt;
  return text.substr(begin + open.size(), end - begin - open.size());
}

std::string unescaped(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 7> kNames{{{"&amp;", '&'},
                                                                            {"&lt;", '<'},
                                                                            {"&gt;", '>'},
                                                                            {"&quot;", '"'},
                                                                            {"&apos;", '\''},
                                                                            {"&#39;", '\''},
                                                                            {"&#34;", '"'}}};
  std::string out;
  while (!text.empty()) {
    const auto known = std::ranges::find_if(kNames, [text](const auto& one) { return text.starts_with(one.first); });
    out += known == kNames.end() ? text.front() : known->second;
    text.remove_prefix(known == kNames.end() ? 1 : known->first.size());
  }
  return out;
}

bool leads_out(std::string_view name) {
  if (name.find('\0') != std::string_view::npos) return true;
  const auto parts = base::split(name, '/');
  return std::ranges::any_of(parts, [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

}  // namespace

base::Result<ObjectPage> read_object_page(std::string_view document, std::string_view prefix) {
  if (document.find("<ListBucketResult") == std::string_view::npos)
    return make_error(Code::kUnavailable, "the store's answer is not a list of objects");
  ObjectPage page;
  page.next = unescaped(element(document, "NextContinuationToken").value_or(""));
  for (auto one = element(document, "Contents"); one; one = element(document, "Contents")) {
    document.remove_prefix(static_cast<std::size_t>(one->data() + one->size() - document.data()));
    const std::string key = unescaped(element(*one, "Key").value_or(""));
    if (!key.starts_with(prefix) || key.size() == prefix.size() || key.ends_with('/')) continue;
    ListedObject object{.name = key.substr(prefix.size())};
    if (leads_out(object.name))
      return make_error(Code::kInvalid, base::format("the object {:?} leads out of its folder", key.substr(0, 200)));
    object.size = base::parse_number<std::size_t>(element(*one, "Size").value_or("0")).value_or(0);
    object.modified = base::parse_rfc3339(element(*one, "LastModified").value_or("")).value_or(base::Time{});
    page.objects.push_back(std::move(object));
  }
  return page;
}

}  // namespace pipelines
