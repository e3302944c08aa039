// How the configuration is read and kept, and the offer switched.
#include "colocation/config_keeper.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "colocation/policy/offer.h"
#include "colocation/policy/words.h"

namespace colocation {

using api::Json;
namespace resources = api::resources;

namespace {

// On a node whose label the agent has set to false itself.
constexpr std::string_view kSwitchedOff = "volcano.sh/oversubscription-switched-off";

}  // namespace

ConfigKeeper::ConfigKeeper(const AgentMeans& means, const NodeView& view, AgentEvents& events,
                           std::function<void()> applied)
    : means_(means), view_(view), events_(events), applied_(std::move(applied)) {}

void ConfigKeeper::start() {
  maps_ = std::make_unique<client::Informer>(
      means_.client, means_.env, resources::kConfigMaps,
      client::InformerOptions{.ns = means_.options.pod_namespace,
                              .field_selector = base::format("metadata.name={}", kConfigMapName)});
  maps_->on_change([this](const Json*, const Json*, bool) { refresh(); });
  maps_->on_synced([this] { refresh(); });
  maps_->start();
}

void ConfigKeeper::keep_map() {
  if (!maps_->synced() || map_under_way_) return;
  const AgentOptions& options = means_.options;
  const Json* present = maps_->find(base::format("{}/{}", options.pod_namespace, kConfigMapName));
  client::Request request{
      .verb = client::Verb::kCreate, .resource = resources::kConfigMaps, .ns = options.pod_namespace};
  if (present == nullptr) {
    request.body =
        Json::object({{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", Json::object({{"name", kConfigMapName}, {"namespace", options.pod_namespace}})},
                      {"data", Json::object({{kConfigKey, default_config_text(options.one_machine)}})}});
  } else {
    const auto completed = completed_config_text((*present)["data"][kConfigKey].as_string());
    if (!completed.ok() || completed->empty()) return;
    request.verb = client::Verb::kPatch;
    request.name = kConfigMapName;
    request.body = Json::object({{"metadata", Json::object({{"resourceVersion", api::resource_version_of(*present)}})},
                                 {"data", Json::object({{kConfigKey, *completed}})}});
  }
  map_under_way_ = true;
  means_.client.call(std::move(request), means_.guard.while_alive([this](const base::Result<Json>& kept) {
    map_under_way_ = false;
    const bool raced =
        !kept.ok() && (kept.error().code == base::Code::kAlreadyExists || kept.error().code == base::Code::kConflict);
    if (!kept.ok() && !raced)
      events_.warn_once(
          "config map", "ConfigApplyFailed",
          base::format("ConfigMap {}/{}: {}", means_.options.pod_namespace, kConfigMapName, kept.error().message));
  }));
}

void ConfigKeeper::refresh() {
  const Json* present = view_.node();
  if (present == nullptr || !maps_ || !maps_->synced() || stopped_) return;
  const AgentOptions& options = means_.options;
  const Json* map = maps_->find(base::format("{}/{}", options.pod_namespace, kConfigMapName));
  const std::string text = map                   ? (*map)["data"][kConfigKey].str()
                           : options.one_machine ? default_config_text(true)
                                                 : std::string();
  const Json& labels = (*present)["metadata"]["labels"];
  if (known_ && text == text_ && labels == labels_) return switch_offer();
  known_ = true;
  text_ = text;
  labels_ = labels;
  auto read = map || options.one_machine ? config_for(text, labels) : base::Result<Config>(default_config_for(labels));
  if (options.metrics) options.metrics->gauge("volcano_agent_config_applied").set(read.ok() ? 1 : 0);
  if (!read.ok()) {
    error_ = read.error().message;
    base::log_warning("colocation", base::format("the configuration is refused: {}", error_));
    return events_.record_own("Warning", "ConfigApplyFailed", base::format("Failed to apply config({})", error_));
  }
  error_.clear();
  config_ = *std::move(read);
  applied_();
  events_.record_own("Normal", "ConfigApplySuccess", "Successfully applied config");
  switch_offer();
}

void ConfigKeeper::set_node_marks(Json labels, Json annotations) {
  if (marks_under_way_) return;
  marks_under_way_ = true;
  Json metadata = Json::object();
  if (!labels.empty()) metadata.set("labels", std::move(labels));
  if (!annotations.empty()) metadata.set("annotations", std::move(annotations));
  means_.client.call({.verb = client::Verb::kPatch,
                      .resource = resources::kNodes,
                      .ns = {},
                      .name = means_.options.node_name,
                      .subresource = {},
                      .body = Json::object({{"metadata", std::move(metadata)}})},
                     means_.guard.while_alive([this](const base::Result<Json>& set) {
                       marks_under_way_ = false;
                       if (!set.ok())
                         events_.warn_once("marks", "NodeUpdateFailed",
                                           base::format("node {}: {}", means_.options.node_name, set.error().message));
                     }));
}

void ConfigKeeper::switch_offer() {
  if (!means_.supported.has(Feature::kOversubscription) || !known_ || !error_.empty()) return;
  const AgentOptions& options = means_.options;
  const Json& node = *view_.node();
  const Json& metadata = node["metadata"];
  const std::string_view label = metadata["labels"][kOversubscriptionLabel].as_string();
  const bool labelled = is_true(label), marked = metadata["annotations"].has(kSwitchedOff);
  if (!config_.sells) {
    if (labelled || had_offer_ || reports_offer(node, options.names)) cleaning_ = true;
    had_offer_ = false;
    if (labelled)
      set_node_marks(Json::object({{kOversubscriptionLabel, "false"}}), Json::object({{kSwitchedOff, "true"}}));
    return;
  }
  // COMPAT(colocation-label): an administrator's word on the label stays; only what the agent itself has switched off
  // comes back.
  if (marked) {
    Json labels = Json::object();
    if (!labelled && !label.empty()) labels.set(kOversubscriptionLabel, "true");
    return set_node_marks(std::move(labels), Json::object({{kSwitchedOff, Json()}}));
  }
  if (options.one_machine && label.empty())
    return set_node_marks(Json::object({{kOversubscriptionLabel, "true"}}), Json::object());
  if (!labelled && (had_offer_ || reports_offer(node, options.names))) cleaning_ = true;
  if (labelled) cleaning_ = false;
  had_offer_ = labelled;
}

}  // namespace colocation
