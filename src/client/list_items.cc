// What does a list hold?
#include "client/list_items.h"

namespace client {

std::vector<api::Json> items_of(const api::Json& list, const api::ResourceId& resource) {
  std::string kind = list["kind"].str();
  if (kind.ends_with("List")) kind.resize(kind.size() - 4);
  std::vector<api::Json> out;
  for (api::Json item : list["items"].items()) {
    if (!item.has("kind") && !kind.empty()) item.set("kind", kind);
    if (!item.has("apiVersion")) item.set("apiVersion", resource.api_version());
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace client
