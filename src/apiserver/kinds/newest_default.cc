// By the index of the marks.
#include "apiserver/kinds/newest_default.h"

namespace apiserver {

using api::Json;

std::string newest_default(const api::ObjectReader& objects, const api::ResourceId& classes,
                           std::span<const std::string_view> marks) {
  std::string time, name;
  for (const std::string_view mark : marks)
    for (const Json& one : objects.list_by({classes, {"metadata", "annotations", std::string(mark)}}, "true", false)) {
      const std::string its_time = one["metadata"]["creationTimestamp"].str(), its_name(api::name_of(one));
      if (!name.empty() && (its_time < time || (its_time == time && its_name >= name))) continue;
      time = its_time;
      name = its_name;
    }
  return name;
}

}  // namespace apiserver
