// The watches of the scheduler: one informer for each resource that decisions read.
#include "scheduler/object_watches.h"

#include <utility>

#include "scheduler/cache/intake_fields.h"
#include "scheduler/cache/read_resources.h"

namespace scheduler {

ObjectWatches::ObjectWatches(rt::Env& env, client::Client& client, const Model& model, OnChange on_change,
                             std::function<void()> on_synced)
    : env_(env),
      client_(client),
      known_pods_(model),
      known_groups_(model),
      on_change_(std::move(on_change)),
      on_synced_(std::move(on_synced)) {}

void ObjectWatches::add(const std::vector<api::ResourceId>& resources, PodIdentities pods) {
  for (const api::ResourceId& id : resources) {
    client::InformerOptions options;
    if (pods == PodIdentities::kOfModel && id == api::resources::kPods) options.known = &known_pods_;
    if (id == api::resources::kPodGroups) options.known = &known_groups_;
    client::Informer& informer = watch(id, std::move(options));
    if (id == api::resources::kNumatopologies) numatopologies_ = &informer;
    if (id == api::resources::kNodes) nodes_ = &informer;
  }
}

void ObjectWatches::add_device_configs(const Config& config) {
  for (const DeviceConfigSource& source : device_config_sources(config)) {
    if (!device_configs_.insert(source).second) continue;
    watch(api::resources::kConfigMaps,
          {.ns = source.ns, .label_selector = source.label_selector, .field_selector = source.field_selector});
  }
}

client::Informer& ObjectWatches::watch(const api::ResourceId& id, client::InformerOptions options) {
  options.keep = client::InformerOptions::Keep::kIdentities;
  options.may_be_absent = may_be_absent(id);
  options.only = &fields_read(id);
  informers_.push_back(std::make_unique<client::Informer>(client_, env_, id, std::move(options)));
  client::Informer& informer = *informers_.back();
  informer.on_change(
      [this, id](const api::Json* before, const api::Json* after, bool) { on_change_(id, before, after); });
  informer.on_synced([this] { on_synced_(); });
  return informer;
}

void ObjectWatches::start() {
  while (started_ < informers_.size()) informers_[started_++]->start();
}

std::string ObjectWatches::why_not_synced() const {
  if (informers_.empty()) return "the watches have not begun";
  for (const auto& one : informers_)
    if (!one->synced()) return one->trouble().empty() ? "the first lists are not complete" : one->trouble();
  return "";
}

bool ObjectWatches::has_node(std::string_view name) const {
  return nodes_ != nullptr && nodes_->identity(name).has_value();
}

std::optional<std::string> ObjectWatches::numatopology_uid(std::string_view node) const {
  if (numatopologies_ == nullptr) return {};
  const auto known = numatopologies_->identity(node);
  if (!known) return {};
  return std::string(known->uid);
}

}  // namespace scheduler
