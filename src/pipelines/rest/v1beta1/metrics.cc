// The rules are those of Kubeflow: a name, a node and a number; the first report of one holds.
#include "pipelines/rest/v1beta1/metrics.h"

#include <algorithm>

#include "base/format.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/rest/objects.h"

namespace pipelines::rest::v1beta1 {

using api::Json;

namespace {

constexpr std::size_t kMetricsMax = 200, kNameMax = 191;

std::string annotation() { return base::format("{}metrics", argo::kRunPrefix); }

bool is_letter(char one) { return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z'); }
bool is_plain(char one) { return is_letter(one) || (one >= '0' && one <= '9'); }

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameMax && is_letter(name.front()) && is_plain(name.back()) &&
         std::ranges::all_of(name, [](char one) { return is_plain(one) || one == '-' || one == '_'; });
}

struct Verdict {
  std::string_view status = "OK";
  std::string message = {};
};

Verdict judge(const Json& known, const std::string& name, const std::string& node, const Json& value) {
  const auto invalid = [](std::string why) { return Verdict{"INVALID_ARGUMENT", std::move(why)}; };
  if (!is_name(name))
    return invalid(
        base::format("name: {:?} is not a letter, then letters, digits, - and _, {} at most", name, kNameMax));
  if (node.empty() || node.size() > kNameMax) return invalid(base::format("node_id: it has 1 to {} bytes", kNameMax));
  if (!value.is_number()) return invalid("number_value: it is required");
  for (const Json& one : known.items())
    if (one["name"].as_string() == name && one["node_id"].as_string() == node)
      return {"DUPLICATE_REPORTING", base::format("the metric {} of {} was reported before", name, node)};
  if (known.size() >= kMetricsMax) return invalid(base::format("a run has {} metrics at most", kMetricsMax));
  return {};
}

}  // namespace

Json metrics_of(const Json& object) {
  const auto metrics = api::parse_json(object["metadata"]["annotations"][annotation()].as_string());
  return metrics.ok() && metrics->is_array() ? *metrics : Json::array();
}

base::Result<Reply> report_metrics(const Call& call, Facts& facts) {
  const bool is_workflow = !facts.find(kRunNoun.resource, call.names[0]);
  const Noun& noun = is_workflow ? kWorkflowNoun : kRunNoun;
  TRY(const Json run, object_of(facts, noun, call.names[0]));
  Json metrics = metrics_of(run), results = Json::array();
  const std::size_t before = metrics.size();
  for (const Json& one : call.body["metrics"].items()) {
    if (results.size() >= kMetricsMax)
      return base::make_error(base::Code::kInvalid, base::format("metrics: there are more than {}", kMetricsMax));
    const std::string name = text(one, "name"), node = text(one, "node_id"), format = text(one, "format");
    const Json& value = member(one, "number_value");
    Verdict verdict = judge(metrics, name, node, value);
    Json result = Json::object({{"metric_name", name}, {"metric_node_id", node}, {"status", verdict.status}});
    set_text(result, "message", verdict.message);
    results.push_back(std::move(result));
    if (verdict.status != "OK") continue;
    const bool is_share = format == "PERCENTAGE";
    metrics.push_back(Json::object(
        {{"name", name}, {"node_id", node}, {"number_value", value}, {"format", is_share ? "PERCENTAGE" : "RAW"}}));
  }
  if (metrics.size() > before) {
    Json annotations = Json::object({{annotation(), metrics.dump()}});
    TRY_VOID(patch_as_read(facts, noun, run,
                           Json::object({{"metadata", Json::object({{"annotations", std::move(annotations)}})}})));
  }
  return Reply{Json::object({{"results", std::move(results)}})};
}

}  // namespace pipelines::rest::v1beta1
