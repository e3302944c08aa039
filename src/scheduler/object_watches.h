// The watches of the scheduler: one informer for each resource that decisions read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "client/client.h"
#include "client/watch/informer.h"
#include "rt/env.h"
#include "scheduler/cache/known_objects.h"
#include "scheduler/sources/device_config_sources.h"

namespace scheduler {

// Which objects nobody else keeps. Pods of the model are identified by it, unless the scheduler has to know of pods
// that the model does not hold.
enum class PodIdentities : std::uint8_t { kOfModel, kOfWatch };

// Loop thread only. The model keeps what decisions read; the objects themselves are not kept.
class ObjectWatches {
 public:
  // An object came (`before` is null), changed, or went (`after` is null).
  using OnChange = std::function<void(const api::ResourceId& id, const api::Json* before, const api::Json* after)>;

  // Environment, client and model outlive the watches. `on_synced`: one more list has arrived.
  ObjectWatches(rt::Env& env, client::Client& client, const Model& model, OnChange on_change,
                std::function<void()> on_synced);

  void add(const std::vector<api::ResourceId>& resources, PodIdentities pods);
  // The ConfigMaps that describe devices, where the configuration shares them out.
  void add_device_configs(const Config& config);
  // Starts each watch that was added since the last call.
  void start();
  // Why not every watch has delivered its first list yet; empty: each has.
  std::string why_not_synced() const;

  bool has_node(std::string_view name) const;
  // The uid of a node's NumaTopology; unset without one.
  std::optional<std::string> numatopology_uid(std::string_view node) const;

 private:
  client::Informer& watch(const api::ResourceId& id, client::InformerOptions options);

  rt::Env& env_;
  client::Client& client_;
  const KnownPods known_pods_;
  const KnownGroups known_groups_;
  OnChange on_change_;
  std::function<void()> on_synced_;
  std::vector<std::unique_ptr<client::Informer>> informers_;
  std::size_t started_ = 0;
  std::set<DeviceConfigSource> device_configs_;
  client::Informer* nodes_ = nullptr;
  client::Informer* numatopologies_ = nullptr;  // where they are watched
};

}  // namespace scheduler
