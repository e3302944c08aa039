// Cells of HorizontalPodAutoscaler: what is measured, beside what is wanted.
#include "apiserver/documents/autoscaler_table.h"

#include <string>

#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

constexpr std::size_t kMetricsShown = 2;

std::string number_of(const Json& value, bool percent) {
  if (value.is_null()) return "<unknown>";
  return percent ? base::format("{}%", value.as_int()) : value.is_string() ? value.str() : value.dump();
}

// "cpu: 12%/80%"
std::string target_of(const Json& metric, const Json& statuses) {
  const std::string_view type = metric["type"].as_string();
  const char* field = type == "Resource" ? "resource" : type == "ContainerResource" ? "containerResource" : "";
  if (*field == '\0') return base::format("<unknown>/{}", type);
  const Json& target = metric[field];
  const Json* now = nullptr;
  for (const Json& status : statuses.items())
    if (status["type"] == metric["type"] && status[field]["name"] == target["name"] &&
        status[field]["container"] == target["container"])
      now = &status[field]["current"];
  const bool percent = !target["target"]["averageUtilization"].is_null();
  const char* key = percent ? "averageUtilization" : "averageValue";
  static const Json none;
  return base::format("{}: {}/{}", target["name"].as_string(), number_of(now ? (*now)[key] : none, percent),
                      number_of(target["target"][key], percent));
}

std::string targets_of(const Json& object) {
  const Json& metrics = object["spec"]["metrics"];
  std::string text;
  std::size_t shown = 0;
  for (const Json& metric : metrics.items()) {
    if (shown == kMetricsShown) return base::format("{} + {} more...", text, metrics.size() - shown);
    text += (shown++ == 0 ? "" : ", ") + target_of(metric, object["status"]["currentMetrics"]);
  }
  return text.empty() ? "<none>" : text;
}

std::vector<Json> cells(const Json& object, base::Time now) {
  const Json& spec = object["spec"];
  const auto made = base::parse_rfc3339(object["metadata"]["creationTimestamp"].as_string());
  return {Json(base::format("{}/{}", spec["scaleTargetRef"]["kind"].as_string(),
                            spec["scaleTargetRef"]["name"].as_string())),
          Json(targets_of(object)),
          spec["minReplicas"].is_null() ? Json("<unset>") : Json(std::to_string(spec["minReplicas"].as_int())),
          Json(spec["maxReplicas"].as_int()),
          Json(object["status"]["currentReplicas"].as_int()),
          made ? Json(base::format_human_duration(now - *made)) : Json("<unknown>")};
}

}  // namespace

const Printer& autoscaler_printer() {
  static const Printer printer = {{{"Reference", ""},
                                   {"Targets", ""},
                                   {"MinPods", ""},
                                   {"MaxPods", "", "integer"},
                                   {"Replicas", "", "integer"},
                                   {"Age", ""}},
                                  cells};
  return printer;
}

}  // namespace apiserver
