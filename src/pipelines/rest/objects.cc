// An id leads to a name, and the object that is read under it must still have that id.
#include "pipelines/rest/objects.h"

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/recurring_run.h"
#include "base/format.h"
#include "client/list_items.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;
using client::Verb;

const Noun kExperimentNoun{api::resources::kPipelineExperiments, "experiment"};
const Noun kPipelineNoun{api::resources::kPipelines, "pipeline"};
const Noun kVersionNoun{api::resources::kPipelineVersions, "pipeline version"};
const Noun kRunNoun{api::resources::kPipelineRuns, "run"};
const Noun kRecurringNoun{api::resources::kRecurringRuns, "recurring run"};
const Noun kWorkflowNoun{api::resources::kWorkflows, "run"};

base::Error not_found(const Noun& noun, std::string_view id) {
  return make_error(Code::kNotFound, base::format("{} {} not found", noun.word, id));
}

base::Result<Json> object_of(Facts& facts, const Noun& noun, const std::string& id) {
  if (id.empty()) return make_error(Code::kInvalid, base::format("the id of the {} is missing", noun.word));
  const auto key = facts.find(noun.resource, id);
  if (!key) return not_found(noun, id);
  TRY(Json object, object_named(facts, noun, *key));
  if (api::uid_of(object) != id) return not_found(noun, id);
  return object;
}

base::Result<Json> object_named(Facts& facts, const Noun& noun, const ObjectKey& key) {
  return facts.ask({.verb = Verb::kGet, .resource = noun.resource, .ns = key.ns, .name = key.name, .subresource = {}});
}

base::Result<std::vector<Json>> objects_of(Facts& facts, const api::ResourceId& resource, const std::string& ns,
                                           const std::string& label_selector) {
  client::Request request{.verb = Verb::kList, .resource = resource, .ns = ns, .name = {}, .subresource = {}};
  request.label_selector = label_selector;
  TRY(Json list, facts.ask(std::move(request)));
  return client::items_of(std::move(list), resource);
}

base::Result<Json> create(Facts& facts, const Noun& noun, const std::string& ns, Json object) {
  client::Request request{.verb = Verb::kCreate, .resource = noun.resource, .ns = ns, .name = {}, .subresource = {}};
  request.body = std::move(object);
  return facts.ask(std::move(request));
}

base::Result<Json> patch_as_read(Facts& facts, const Noun& noun, const Json& object, Json changes) {
  changes.edit("metadata").set("resourceVersion", api::resource_version_of(object));
  return patch(facts, noun, object, std::move(changes));
}

base::Result<Json> patch(Facts& facts, const Noun& noun, const Json& object, Json changes) {
  changes.edit("metadata").set("uid", api::uid_of(object));
  client::Request request{.verb = Verb::kPatch,
                          .resource = noun.resource,
                          .ns = std::string(api::namespace_of(object)),
                          .name = std::string(api::name_of(object)),
                          .subresource = {}};
  request.body = std::move(changes);
  return facts.ask(std::move(request));
}

base::Result<Reply> remove(Facts& facts, const Noun& noun, const Json& object, std::string_view propagation) {
  client::Request request{.verb = Verb::kDelete,
                          .resource = noun.resource,
                          .ns = std::string(api::namespace_of(object)),
                          .name = std::string(api::name_of(object)),
                          .subresource = {}};
  request.body = Json::object({{"apiVersion", "v1"},
                               {"kind", "DeleteOptions"},
                               {"propagationPolicy", propagation},
                               {"preconditions", Json::object({{"uid", api::uid_of(object)}})}});
  TRY_VOID(facts.ask(std::move(request)));
  return Reply();
}

Json new_object(std::string_view kind, const std::string& name, Json spec) {
  return Json::object({{"apiVersion", "pipelines.kubeflow.org/v2beta1"},
                       {"kind", kind},
                       {"metadata", Json::object({{name.ends_with('-') ? "generateName" : "name", name}})},
                       {"spec", std::move(spec)}});
}

void set_text(Json& object, std::string_view name, std::string_view text) {
  if (!text.empty()) object.set(name, text);
}

std::string shown_name(const Json& object) {
  const std::string_view given = object["spec"]["displayName"].as_string();
  return std::string(given.empty() ? api::name_of(object) : given);
}

std::string created_at(const Json& object) { return object["metadata"]["creationTimestamp"].str(); }

std::string time_or_epoch(const Json& time) { return time.is_string() ? time.str() : "1970-01-01T00:00:00Z"; }

std::string storage_state(const Json& object) {
  const std::string_view given = object["spec"]["storageState"].as_string();
  return std::string(given.empty() ? "AVAILABLE" : given);
}

}  // namespace pipelines::rest
