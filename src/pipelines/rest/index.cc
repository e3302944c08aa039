// Informers that keep names only; an id that a later object of the same name has taken over is forgotten.
#include "pipelines/rest/index.h"

#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/recurring_run.h"

namespace pipelines::rest {
namespace {

const api::Projection& names_only() {
  static const api::Projection only{"metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion"};
  return only;
}

void forget(auto& table, const std::string& id) {
  const auto found = table.keys.find(id);
  if (found == table.keys.end()) return;
  const auto name = table.ids.find(found->second.ns + "/" + found->second.name);
  if (name != table.ids.end() && name->second == id) table.ids.erase(name);
  table.keys.erase(found);
}

void remember(auto& table, const api::Json& object) {
  const std::string id(api::uid_of(object));
  const ObjectKey key{std::string(api::namespace_of(object)), std::string(api::name_of(object))};
  if (id.empty()) return;
  if (const auto held = table.ids.find(key.ns + "/" + key.name); held != table.ids.end() && held->second != id)
    forget(table, std::string(held->second));
  table.ids[key.ns + "/" + key.name] = id;
  table.keys[id] = key;
}

}  // namespace

Index::Index(client::Client& client, rt::Env& env, const std::string& ns) {
  namespace resources = api::resources;
  for (const api::ResourceId& resource :
       {resources::kPipelines, resources::kPipelineVersions, resources::kPipelineExperiments, resources::kPipelineRuns,
        resources::kRecurringRuns}) {
    Table& table = tables_[resource.plural];
    client::InformerOptions options{.ns = ns};
    options.may_be_absent = true;
    options.only = &names_only();
    options.keep = client::InformerOptions::Keep::kIdentities;
    table.informer = std::make_unique<client::Informer>(client, env, resource, std::move(options));
    table.informer->on_change(
        [&table](const api::Json* before, const api::Json* after, bool) { change(table, before, after); });
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

void Index::change(Table& table, const api::Json* before, const api::Json* after) {
  if (after != nullptr) return remember(table, *after);
  if (before != nullptr) forget(table, std::string(api::uid_of(*before)));
}

void Index::note(const api::ResourceId& resource, const api::Json& object) {
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
  const auto found = table->second.ids.find(key.ns + "/" + key.name);
  return found == table->second.ids.end() ? std::string() : found->second;
}

}  // namespace pipelines::rest
