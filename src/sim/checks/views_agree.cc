// Somebody who only watches ends up with exactly what the server has.
#include <map>

#include "base/format.h"
#include "client/client.h"
#include "client/watch/informer.h"
#include "sim/checks/all.h"
#include "sim/world/env.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

class ViewsAgree final : public Check {
 public:
  explicit ViewsAgree(World& world) : world_(world) {}

  void begin() override {
    person_ = world_.make_person("observer");
    for (const api::ResourceId& resource :
         {api::resources::kJobs, api::resources::kPods, api::resources::kPodGroups, api::resources::kQueues,
          api::resources::kConfigMaps, api::resources::kCommands}) {
      auto informer = std::make_unique<client::Informer>(*person_->client, *person_->env, resource);
      informer->on_change(
          [this, resource](const Json* before, const Json* after, bool) { count(resource, before, after); });
      informer->start();
      views_.emplace_back(resource, std::move(informer));
    }
  }

  std::string unrest() override { return difference(false); }

  void finish() override {
    if (const std::string found = difference(true); !found.empty()) world_.chronicle().violation("views-agree", found);
  }

 private:
  // Announced changes must add up: nothing is added twice or deleted unseen.
  void count(const api::ResourceId& resource, const Json* before, const Json* after) {
    const std::string key = api::key_of(before ? *before : *after);
    bool& known = known_[resource][key];
    if (known != (before != nullptr))
      world_.chronicle().violation("views-agree",
                                   base::format("{} {} was announced out of turn", resource.plural, key));
    known = after != nullptr;
  }

  // Versions are compared often, whole objects once.
  std::string difference(bool whole) const {
    for (const auto& [resource, view] : views_) {
      const auto& truth = world_.truth().objects(resource);
      if (!view->synced()) return base::format("the view of {} is not complete", resource.plural);
      if (view->objects().size() != truth.size())
        return base::format("the view of {} has {} objects, the server {}", resource.plural, view->objects().size(),
                            truth.size());
      for (const auto& [key, object] : truth) {
        const Json* seen = view->find(key);
        const bool same =
            seen && api::resource_version_of(*seen) == api::resource_version_of(object) && (!whole || *seen == object);
        if (!same) return base::format("the view of {} {} is {}", resource.plural, key, seen ? "old" : "missing");
      }
    }
    return {};
  }

  World& world_;
  std::unique_ptr<Person> person_;
  std::vector<std::pair<api::ResourceId, std::unique_ptr<client::Informer>>> views_;
  std::map<api::ResourceId, std::map<std::string, bool>> known_;
};

}  // namespace

std::unique_ptr<Check> make_views_agree(World& world, Settings&, base::Random&) {
  return std::make_unique<ViewsAgree>(world);
}

}  // namespace sim
