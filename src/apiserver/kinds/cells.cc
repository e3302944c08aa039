// Texts as kubectl shows them.
#include "apiserver/kinds/cells.h"

#include "base/split.h"

namespace apiserver {

using api::Json;

Json time_since(const Json& timestamp, base::Time now, std::string_view fallback) {
  const auto time = base::parse_rfc3339(timestamp.as_string());
  return time ? Json(base::format_human_duration(now - *time)) : Json(fallback);
}

Json age_of(const Json& object, base::Time now) { return time_since(object["metadata"]["creationTimestamp"], now); }

Json text_or(const Json& value, std::string_view fallback) {
  return value.as_string().empty() ? Json(fallback) : value;
}

Json joined(const std::vector<std::string>& parts, std::string_view none) {
  return parts.empty() ? Json(none) : Json(base::join(parts, ","));
}

Json count_of(const Json& list) { return Json(static_cast<std::int64_t>(list.size())); }

}  // namespace apiserver
