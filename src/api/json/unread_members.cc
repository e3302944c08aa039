// Walks a document along the places that are read.
#include "api/json/unread_members.h"

#include <algorithm>

#include "base/format.h"

namespace api {
namespace {

struct Walk {
  std::span<const std::string_view> read;
  std::vector<std::string> out;

  bool leads_on(std::string_view place) const {
    return std::ranges::any_of(read, [&](std::string_view one) {
      return one.starts_with(place) && one.size() > place.size() &&
             (one[place.size()] == '.' || one[place.size()] == '[');
    });
  }
  bool is_read(std::string_view place) const { return std::ranges::find(read, place) != read.end() || leads_on(place); }

  // `place` is one of `read`, or leads to some; `shown` is the same in the document.
  void look(const Json& value, const std::string& place, const std::string& shown) {
    if (!place.empty() && !leads_on(place)) return;
    const auto items = value.items();
    for (std::size_t i = 0; i < items.size(); ++i) look(items[i], place + "[]", base::format("{}[{}]", shown, i));
    const std::string dot = place.empty() ? "" : ".";
    for (const Json::Member& member : value.members()) {
      const std::string path = base::format("{}{}{}", shown, dot, member.name());
      const std::string named = base::format("{}{}{}", place, dot, member.name()), any = place + dot + "*";
      if (is_read(named))
        look(member.value, named, path);
      else if (is_read(any))
        look(member.value, any, path);
      else
        out.push_back(path);
    }
  }
};

}  // namespace

std::vector<std::string> unread_members(const Json& document, std::span<const std::string_view> read) {
  Walk walk{.read = read, .out = {}};
  walk.look(document, "", "");
  return std::move(walk.out);
}

}  // namespace api
