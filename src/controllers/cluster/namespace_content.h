// The objects left in a namespace that goes, as the conditions of the namespace say them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/time.h"

namespace controllers::cluster {

class NamespaceContent {
 public:
  void add(const api::ResourceId& resource, const std::vector<const api::Json*>& objects);
  bool empty() const { return objects_.empty(); }
  // The conditions of `space`, with Kubernetes' texts; nothing: it has them already.
  std::optional<api::Json> conditions(const api::Json& space, base::Time now) const;

 private:
  std::map<std::string, std::int64_t> objects_;     // by "PLURAL.GROUP"
  std::map<std::string, std::int64_t> finalizers_;  // how many objects have each
};

}  // namespace controllers::cluster
