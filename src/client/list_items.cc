// The items of a list.
#include "client/list_items.h"

#include <utility>

namespace client {

std::vector<api::Json> items_of(api::Json list, const api::ResourceId& resource) {
  std::string kind = list["kind"].str();
  if (kind.ends_with("List")) kind.resize(kind.size() - 4);
  const api::Json kind_of_each = kind, version_of_each = resource.api_version();
  std::vector<api::Json> out;
  if (!list["items"].is_array()) return out;
  api::Json& items = list.edit("items");
  out.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    api::Json& item = out.emplace_back(std::move(items.edit(i)));
    if (!item.has("kind") && !kind.empty()) item.set("kind", kind_of_each);
    if (!item.has("apiVersion")) item.set("apiVersion", version_of_each);
  }
  return out;
}

}  // namespace client
