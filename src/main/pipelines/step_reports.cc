// The token is bound to the pod, so that no step speaks for another one.
#include "main/pipelines/step_reports.h"

#include <utility>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/split.h"
#include "base/utf8.h"
#include "pipelines/launcher/sent_report.h"
#include "pipelines/rest/answers.h"

namespace volcano_main {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::string_view kPrefix = "/pipeline/internal/tasks/";

// The place that the path names.
std::optional<std::pair<std::string, std::string>> pod_in(std::string_view path) {
  const auto words = base::split_words(path.substr(kPrefix.size()), '/');
  if (words.size() != 2) return std::nullopt;
  return std::pair(std::string(words[0]), std::string(words[1]));
}

}  // namespace

bool StepReports::has(std::string_view path) { return path.starts_with(kPrefix); }

void StepReports::take(rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
  const auto refuse = [exchange](const base::Error& why) { exchange->respond(pipelines::rest::error_answer(why)); };
  const auto pod = pod_in(rt::parse_target(http.target).path);
  if (!pod || http.method != "POST") return refuse(make_error(Code::kNotFound, "reports are sent by POST for a pod"));
  if (http.body.size() > pipelines::kSentReportMax)
    return refuse(
        make_error(Code::kTooLarge, base::format("a report has {} bytes at most", pipelines::kSentReportMax)));
  if (!base::is_utf8(http.body))
    return refuse(make_error(Code::kInvalid, "the parameters and metadata of the step are not UTF-8 text"));
  const auto request = std::make_shared<rt::HttpRequest>(std::move(http));
  callers_.find_step(*request, [this, request, exchange, refuse, pod = *pod](base::Result<PipelineCaller> caller) {
    if (!caller.ok()) return refuse(caller.error());
    const auto& [ns, name] = pod;
    const std::string account = base::format("system:serviceaccount:{}:", ns);
    if (caller->pod != name || !caller->user.starts_with(account))
      return refuse(
          make_error(Code::kForbidden, base::format("the token is that of another pod than {}/{}", ns, name)));
    Json annotations = Json::object({{pipelines::kReportAnnotation, request->body}});
    client::Request patch{
        .verb = client::Verb::kPatch, .resource = api::resources::kPods, .ns = ns, .name = name, .subresource = {}};
    patch.body = Json::object({{"metadata", Json::object({{"annotations", std::move(annotations)}})}});
    client_.call(std::move(patch), [exchange, refuse](const base::Result<Json>& answer) {
      if (!answer.ok()) return refuse(answer.error());
      exchange->respond(pipelines::rest::json_answer(Json::object()));
    });
  });
}

}  // namespace volcano_main
