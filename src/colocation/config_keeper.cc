// The configuration as it comes and changes, and the switch of the offer (agent.md 3.2 to 3.4, 6.4).
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "colocation/agent_state.h"
#include "colocation/policy/words.h"

namespace colocation {

using api::Json;
namespace resources = api::resources;

namespace {

// On a node whose label the agent has set to false itself.
constexpr std::string_view kSwitchedOff = "volcano.sh/oversubscription-switched-off";

}  // namespace

// The map is made where it is absent, and gets the sections that an older one lacks.
void Agent::State::keep_config_map() {
  if (!config_maps->synced() || config_map_under_way) return;
  const Json* present = config_maps->find(base::format("{}/{}", options.pod_namespace, kConfigMapName));
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
  config_map_under_way = true;
  client.call(std::move(request), [weak = weak_from_this()](const base::Result<Json>& kept) {
    const auto self = weak.lock();
    if (!self) return;
    self->config_map_under_way = false;
    const bool raced =
        !kept.ok() && (kept.error().code == base::Code::kAlreadyExists || kept.error().code == base::Code::kConflict);
    if (!kept.ok() && !raced)
      self->event_once(
          "config map", "ConfigApplyFailed",
          base::format("ConfigMap {}/{}: {}", self->options.pod_namespace, kConfigMapName, kept.error().message));
  });
}

void Agent::State::refresh_config() {
  const Json* present = node();
  if (present == nullptr || !config_maps->synced() || ending) return;
  const Json* map = config_maps->find(base::format("{}/{}", options.pod_namespace, kConfigMapName));
  const std::string text = map                   ? (*map)["data"][kConfigKey].str()
                           : options.one_machine ? default_config_text(true)
                                                 : std::string();
  const Json& labels = (*present)["metadata"]["labels"];
  if (configured && text == config_text && labels == config_labels) return switch_offer();
  configured = true;
  config_text = text;
  config_labels = labels;
  auto read = map || options.one_machine ? config_for(text, labels) : base::Result<Config>(default_config_for(labels));
  if (options.metrics) options.metrics->gauge("volcano_agent_config_applied").set(read.ok() ? 1 : 0);
  if (!read.ok()) {
    config_error = read.error().message;
    base::log_warning("colocation", base::format("the configuration is refused: {}", config_error));
    return event(own_object(), "Warning", "ConfigApplyFailed",
                 base::format("Failed to apply config({})", config_error));
  }
  config_error.clear();
  config = *std::move(read);
  pressure.reset();
  throttle = {};
  throttle_wish.reset();
  said.erase(kNetworkWord);
  event(own_object(), "Normal", "ConfigApplySuccess", "Successfully applied config");
  dirty = true;
  switch_offer();
}

void Agent::State::set_node_marks(Json labels, Json annotations) {
  if (marks_under_way) return;
  marks_under_way = true;
  Json metadata = Json::object();
  if (!labels.empty()) metadata.set("labels", std::move(labels));
  if (!annotations.empty()) metadata.set("annotations", std::move(annotations));
  client.call({.verb = client::Verb::kPatch,
               .resource = resources::kNodes,
               .ns = {},
               .name = options.node_name,
               .subresource = {},
               .body = Json::object({{"metadata", std::move(metadata)}})},
              [weak = weak_from_this()](const base::Result<Json>& set) {
                const auto self = weak.lock();
                if (!self) return;
                self->marks_under_way = false;
                if (!set.ok())
                  self->event_once("marks", "NodeUpdateFailed",
                                   base::format("node {}: {}", self->options.node_name, set.error().message));
              });
}

void Agent::State::switch_offer() {
  if (!supported.has(Feature::kOversubscription) || !configured || !config_error.empty()) return;
  const Json& metadata = (*node())["metadata"];
  const std::string_view label = metadata["labels"][kOversubscriptionLabel].as_string();
  const bool labelled = is_true(label), marked = metadata["annotations"].has(kSwitchedOff);
  if (!config.sells) {
    if (labelled || had_offer || tells_offer(*node(), options.names)) cleaning = true;
    had_offer = false;
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
  if (!labelled && (had_offer || tells_offer(*node(), options.names))) cleaning = true;
  if (labelled) cleaning = false;
  had_offer = labelled;
}

}  // namespace colocation
