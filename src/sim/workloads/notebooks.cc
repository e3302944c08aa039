// People make profiles and notebooks, stop and start these, and delete some; one of them wants a namespace that others
// have.
#include "api/kubeflow/v1/notebook.h"
#include "api/kubeflow/v1/profile.h"
#include "base/format.h"
#include "client/client.h"
#include "sim/workloads/submitter.h"
#include "sim/world/nodes.h"

namespace sim {

using api::Json;

namespace {

constexpr const char* kStopped = "kubeflow-resource-stopped";

Json profile(const std::string& name) {
  Json quota = Json::object({{"hard", Json::object({{"pods", "20"}})}});
  Json owner = Json::object({{"kind", "User"}, {"name", base::format("{}@example.com", name)}});
  return Json::object({{"metadata", Json::object({{"name", name}})},
                       {"spec", Json::object({{"owner", owner}, {"resourceQuotaSpec", std::move(quota)}})}});
}

Json notebook(const std::string& name) {
  Json container = Json::object({{"name", name}, {"image", "jupyter"}});
  container.edit_path({"resources", "requests"}).set("cpu", "100m");
  Json pod = Json::object({{"schedulerName", "volcano"}, {"containers", Json::array({container})}});
  return Json::object(
      {{"metadata", Json::object({{"name", name}, {"annotations", Json::object({{kRunsFor, "1000h"}})}})},
       {"spec", Json::object({{"template", Json::object({{"spec", std::move(pod)}})}})}});
}

class Notebooks final : public Submitter {
 public:
  Notebooks(World& world, Settings& settings, base::Random& dice)
      : Submitter(world, settings, dice, "notebooks", "notebooks", base::seconds(10)),
        deletes_(settings.fraction("deletes", 0.3, dice)) {}

 private:
  void prepare() override {
    create(api::resources::kNamespaces, "", Json::object({{"metadata", Json::object({{"name", "taken"}})}}),
           [this] { create(api::resources::kProfiles, "", profile("taken")); });
    create(api::resources::kProfiles, "", profile("ann"));
  }

  // A notebook's life: it is stopped after a while, started again, and deleted in the end or not.
  void submit() override {
    const std::string name = base::format("nb-{}", made_++);
    create(api::resources::kNotebooks, "default", notebook(name));
    later([this, name] { mark(name, "2026-01-01T00:00:00Z"); });
    if (dice_.chance(0.7)) later([this, name] { mark(name, Json()); });
    if (!dice_.chance(deletes_)) return;
    later([this, name] {
      ask({.verb = client::Verb::kDelete, .resource = api::resources::kNotebooks, .ns = "default", .name = name});
    });
  }

  // Whichever comes first, in whatever order the dice say.
  void later(rt::Task task) {
    after(base::milliseconds(static_cast<std::int64_t>(dice_.below(20'000))), std::move(task));
  }

  void mark(const std::string& name, Json stopped) {
    Json annotations = Json::object();
    annotations.set(kStopped, std::move(stopped));
    ask({.verb = client::Verb::kPatch,
         .resource = api::resources::kNotebooks,
         .ns = "default",
         .name = name,
         .body = Json::object({{"metadata", Json::object({{"annotations", std::move(annotations)}})}})});
  }

  double deletes_;
};

}  // namespace

std::unique_ptr<Workload> make_notebooks(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<Notebooks>(world, settings, dice);
}

}  // namespace sim
