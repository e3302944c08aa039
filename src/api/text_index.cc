// The text of each object, and the objects of each text.
#include "api/text_index.h"

namespace api {

std::string TextField::of(const Json& object) const {
  const Json* at = &object;
  for (const std::string& name : path) at = &(*at)[name];
  return at->is_bool() ? (at->as_bool() ? "true" : "false") : at->str();
}

void TextIndex::put(const std::string& key, Json object) {
  if (const auto old = texts_.find(key); old != texts_.end()) {
    const auto group = objects_.find(old->second);
    group->second.erase(key);
    if (group->second.empty()) objects_.erase(group);
    texts_.erase(old);
  }
  std::string text = field_.of(object);
  if (text.empty()) return;
  objects_[text].emplace(key, std::move(object));
  texts_.emplace(key, std::move(text));
}

std::vector<Json> TextIndex::find(std::string_view value, bool as_prefix) const {
  std::map<std::string_view, const Json*> found;
  for (auto at = objects_.lower_bound(value); at != objects_.end(); ++at) {
    if (as_prefix ? !at->first.starts_with(value) : at->first != value) break;
    for (const auto& [key, object] : at->second) found.emplace(key, &object);
  }
  std::vector<Json> objects;
  objects.reserve(found.size());
  for (const auto& [key, object] : found) objects.push_back(*object);
  return objects;
}

}  // namespace api
