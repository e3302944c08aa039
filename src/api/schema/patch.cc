// Merge patch, there and back.
#include "api/schema/patch.h"

#include <set>

#include "api/json/json_bulk.h"

namespace api {

Json apply_merge_patch(Json document, const Json& patch) {
  if (!patch.is_object()) return patch;
  Json result = document.is_object() ? std::move(document) : Json::object();
  std::set<std::string, std::less<>> gone;
  for (const Json::Member& member : patch.members()) {
    if (member.value.is_null()) {
      gone.emplace(member.name());
    } else if (member.value.is_object()) {
      Json& there = result.edit(member.name());
      there = apply_merge_patch(std::move(there), member.value);
    } else {
      result.set(member.name(), member.value);
    }
  }
  erase_members(result, gone);
  return result;
}

Json make_merge_patch(const Json& before, const Json& after) {
  Json patch = Json::object();
  for (const Json::Member& member : after.members()) {
    const Json* old = before.find(member.name());
    if (old && *old == member.value) continue;
    if (old && old->is_object() && member.value.is_object())
      patch.set(member.name(), make_merge_patch(*old, member.value));
    else
      patch.set(member.name(), member.value);
  }
  for (const Json::Member& member : before.members())
    if (!after.has(member.name())) patch.set(member.name(), Json());
  return patch;
}

}  // namespace api
