// Bulk edits, extents and identities of values.
#include "api/json/json_bulk.h"

#include <algorithm>

#include "api/json/work.h"
#include "base/utf8.h"

namespace api {
namespace {

// False beyond a limit. `levels` are those above `value`.
bool add_extent(const Json& value, const ExtentLimits& most, std::size_t levels, Extent& sum) {
  count_work(1);
  if (++sum.values > most.values) return false;
  switch (value.type()) {
    case Json::Type::kString: sum.bytes += value.as_string().size() + 2; break;
    case Json::Type::kArray:
    case Json::Type::kObject: sum.bytes += 2; break;
    case Json::Type::kNull:
    case Json::Type::kBool: sum.bytes += 4; break;
    default: sum.bytes += value.dump().size();
  }
  if (value.is_array() || value.is_object()) {
    sum.levels = std::max(sum.levels, ++levels);
    if (levels > most.levels) return false;
  }
  if (sum.bytes > most.bytes) return false;
  for (const Json& item : value.items()) {
    sum.bytes += 1;
    if (!add_extent(item, most, levels, sum)) return false;
  }
  for (const Json::Member& member : value.members()) {
    sum.bytes += member.name().size() + 4;
    if (!add_extent(member.value, most, levels, sum)) return false;
  }
  return true;
}

}  // namespace

std::size_t erase_members(Json& object, const std::function<bool(const Json::Member&)>& gone) {
  const auto members = object.members();
  count_work(members.size());
  const auto first = std::ranges::find_if(members, gone);
  if (first == members.end()) return 0;
  Json kept = Json::object_of_size(members.size());
  for (auto at = members.begin(); at != first; ++at) kept.set(at->name(), at->value);
  for (auto at = std::next(first); at != members.end(); ++at)
    if (!gone(*at)) kept.set(at->name(), at->value);
  const std::size_t before = members.size();
  object = std::move(kept);
  return before - object.size();
}

std::size_t erase_members(Json& object, const std::set<std::string, std::less<>>& names) {
  if (names.size() == 1) return object.erase(*names.begin()) ? 1 : 0;
  if (names.empty()) return 0;
  return erase_members(object, [&](const Json::Member& member) { return names.contains(member.name()); });
}

std::optional<Extent> extent_within(const Json& value, const ExtentLimits& most) {
  Extent sum;
  if (!add_extent(value, most, 0, sum)) return std::nullopt;
  return sum;
}

void record_duplicate(std::vector<std::string>& paths, std::string_view path) {
  constexpr std::size_t kPathsMax = 100;  // Kubernetes' own
  constexpr std::size_t kPathMax = 1024;
  if (paths.size() < kPathsMax) paths.emplace_back(base::utf8_prefix(path, kPathMax));
}

std::string identity_of(const Json& value) {
  if (value.is_string()) {
    std::string text = "\"";
    text += value.as_string();
    return text;
  }
  return value.is_array() || value.is_object() ? value.sorted().dump() : value.dump();
}

}  // namespace api
