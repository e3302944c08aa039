// The launcher's own part is send.inc.
#include "pipelines/launcher/sent_report.h"

#include "base/format.h"

namespace pipelines {

using api::Json;

namespace {

constexpr std::string_view kSentMark = "kfp sent";  // a newline at the end of a message is not kept by every node
constexpr const char* kReportFolder = "/kfp-report";

}  // namespace

std::string report_text(const Json& pod, std::string_view message) {
  const std::string_view line = message.ends_with('\n') ? message.substr(0, message.size() - 1) : message;
  if (line != kSentMark) return std::string(message);
  return pod["metadata"]["annotations"][std::string_view(kReportAnnotation)].str();
}

Json report_volume() {
  Json token = Json::object({{"audience", "pipelines.kubeflow.org"}, {"path", "token"}});
  Json sources = Json::array({Json::object({{"serviceAccountToken", std::move(token)}})});
  return Json::object({{"name", kReportVolume}, {"projected", Json::object({{"sources", std::move(sources)}})}});
}

Json report_mount() {
  return Json::object({{"name", kReportVolume}, {"mountPath", kReportFolder}, {"readOnly", true}});
}

void add_report_words(const std::string& address, std::string_view ns, std::string_view pod, std::vector<Json>& words) {
  if (address.empty()) return;
  words.emplace_back("--send");
  words.emplace_back(base::format("{}/pipeline/internal/tasks/{}/{}", address, ns, pod));
  words.emplace_back("--token");
  words.emplace_back(base::format("{}/token", kReportFolder));
}

}  // namespace pipelines
