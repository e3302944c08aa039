// Items by the identity of their keys.
#include "api/schema/structural/old_items.h"

#include "api/json/json_bulk.h"

namespace api {

Json key_of_item(const Structural& list, const Json& item) {
  Json key = Json::object();
  for (const std::string& name : list.list_keys) {
    const Structural* schema = list.items ? list.items->member(name) : nullptr;
    if (const Json* part = item.find(name))
      key.set(name, *part);
    else if (schema != nullptr && schema->has_default)
      key.set(name, schema->default_value);
  }
  return key;
}

OldItems::OldItems(const Structural& list, const Json* before) : list_(list) {
  if (list.list_type != Schema::ListType::kMap || before == nullptr) return;
  for (const Json& item : before->items()) by_key_.emplace(identity_of(key_of_item(list, item)), &item);
}

const Json* OldItems::of(const Json& item) const {
  if (by_key_.empty()) return nullptr;
  const auto found = by_key_.find(identity_of(key_of_item(list_, item)));
  return found == by_key_.end() ? nullptr : found->second;
}

const Json* old_member(const Json* before, std::string_view name) {
  return before == nullptr ? nullptr : before->find(name);
}

}  // namespace api
