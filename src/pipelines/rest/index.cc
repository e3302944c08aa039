// Informers that keep little; an id that a later object of the same name has taken over is forgotten.
#include "pipelines/rest/index.h"

#include "api/argo/v1alpha1/workflow.h"
#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/recurring_run.h"
#include "pipelines/argo/run_workflow.h"

namespace pipelines::rest {

using api::Json;

namespace {

const api::Projection& few_fields() {
  static const api::Projection only{"metadata.name",
                                    "metadata.namespace",
                                    "metadata.uid",
                                    "metadata.resourceVersion",
                                    "metadata.creationTimestamp",
                                    "metadata.annotations",
                                    "spec.displayName",
                                    "spec.description",
                                    "spec.pipelineName",
                                    "spec.pipelineVersionName",
                                    "spec.versionName",
                                    "spec.experimentName",
                                    "spec.storageState",
                                    "spec.mode",
                                    "spec.scheduledAt",
                                    "spec.recurringRunName",
                                    "spec.serviceAccountName",
                                    "spec.maxConcurrency",
                                    "status.state",
                                    "status.phase",
                                    "status.finishedAt",
                                    "status.lastRunCreatedAt",
                                    "status.lastRunTime"};
  return only;
}

// Annotations of runs are kept, and no others, which may be as large as a document.
Json few_of(const Json& object) {
  auto few = api::parse_json(object.dump(), few_fields());
  if (!few.ok()) return Json::object();
  Json kept = Json::object();
  for (const Json::Member& one : (*few)["metadata"]["annotations"].members())
    if (one.name().starts_with(argo::kRunPrefix)) kept.set(one.name(), one.value);
  few->edit("metadata").set("annotations", std::move(kept));
  return *std::move(few);
}

std::string name_in(const ObjectKey& key) { return key.ns + "/" + key.name; }

void forget(auto& table, const std::string& id) {
  const auto found = table.keys.find(id);
  if (found == table.keys.end()) return;
  const auto row = table.rows.find(name_in(found->second));
  if (row != table.rows.end() && api::uid_of(row->second) == id) table.rows.erase(row);
  table.keys.erase(found);
}

void remember(auto& table, const Json& object) {
  const std::string id(api::uid_of(object));
  const ObjectKey key{std::string(api::namespace_of(object)), std::string(api::name_of(object))};
  if (id.empty()) return;
  if (const auto held = table.rows.find(name_in(key)); held != table.rows.end() && api::uid_of(held->second) != id)
    forget(table, std::string(api::uid_of(held->second)));
  table.rows[name_in(key)] = few_of(object);
  table.keys[id] = key;
}

}  // namespace

Index::Index(client::Client& client, rt::Env& env, const std::string& ns) : ns_(ns) {
  namespace resources = api::resources;
  for (const api::ResourceId& resource :
       {resources::kPipelines, resources::kPipelineVersions, resources::kPipelineExperiments, resources::kPipelineRuns,
        resources::kRecurringRuns, resources::kWorkflows}) {
    Table& table = tables_[resource.plural];
    client::InformerOptions options{.ns = ns};
    options.may_be_absent = true;
    options.only = &few_fields();
    options.keep = client::InformerOptions::Keep::kIdentities;
    table.informer = std::make_unique<client::Informer>(client, env, resource, std::move(options));
    table.informer->on_change([&table](const Json* before, const Json* after, bool) { change(table, before, after); });
    table.informer->start();
  }
}

bool Index::synced() const {
  for (const auto& [plural, table] : tables_)
    if (!table.informer->synced()) return false;
  return true;
}

std::string Index::trouble() const {
  for (const auto& [plural, table] : tables_)
    if (!table.informer->synced() && !table.informer->trouble().empty()) return table.informer->trouble();
  return {};
}

void Index::on_synced(std::function<void()> callback) {
  const auto shared = std::make_shared<std::function<void()>>(std::move(callback));
  for (const auto& [plural, table] : tables_)
    table.informer->on_synced([this, shared] {
      if (synced() && *shared) std::exchange(*shared, nullptr)();
    });
}

void Index::change(Table& table, const Json* before, const Json* after) {
  if (after != nullptr) return remember(table, *after);
  if (before != nullptr) forget(table, std::string(api::uid_of(*before)));
}

void Index::record(const api::ResourceId& resource, const Json& object) {
  if (const auto table = tables_.find(resource.plural); table != tables_.end()) remember(table->second, object);
}

std::optional<ObjectKey> Index::find(const api::ResourceId& resource, std::string_view id) const {
  const auto table = tables_.find(resource.plural);
  if (table == tables_.end()) return std::nullopt;
  const auto found = table->second.keys.find(id);
  return found == table->second.keys.end() ? std::nullopt : std::optional(found->second);
}

std::string Index::id_of(const api::ResourceId& resource, const ObjectKey& key) const {
  const auto table = tables_.find(resource.plural);
  if (table == tables_.end()) return {};
  const auto found = table->second.rows.find(name_in(key));
  return found == table->second.rows.end() ? std::string() : std::string(api::uid_of(found->second));
}

std::optional<std::vector<Json>> Index::rows(const api::ResourceId& resource, const std::string& ns) const {
  const auto table = tables_.find(resource.plural);
  if (table == tables_.end() || (!ns_.empty() && ns != ns_)) return std::nullopt;
  std::vector<Json> rows;
  const std::string begin = ns + "/";
  for (auto row = table->second.rows.lower_bound(begin);
       row != table->second.rows.end() && row->first.starts_with(begin); ++row)
    rows.push_back(row->second);
  return rows;
}

}  // namespace pipelines::rest
