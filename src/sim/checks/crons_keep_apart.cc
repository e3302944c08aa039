// No run of a CronJob is made twice, a policy other than Allow has no two Jobs at work at a time, and in the end no
// Job is listed that has ended.
#include <set>

#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

bool is_at_work(const Json& job) {
  const std::string_view phase = job["status"]["state"]["phase"].as_string();
  return !api::is_deleting(job) && phase != "Completed" && phase != "Failed" && phase != "Terminated";
}

class CronsKeepApart final : public Check {
 public:
  explicit CronsKeepApart(World& world) : world_(world) {}

  void begin() override {
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource == api::resources::kJobs && !before && after) made(*after);
    });
  }

  std::string unrest() override {
    for (const auto& [key, cronjob] : world_.truth().objects(api::resources::kCronJobs))
      if (!cronjob["status"]["active"].empty()) return base::format("cronjob {} lists active jobs", key);
    return {};
  }

  void finish() override { world_.chronicle().record(base::format("{} runs of cronjobs", runs_.size())); }

 private:
  void made(const Json& job) {
    const Json& owner = api::controller_of(job);
    if (owner["kind"].as_string() != "CronJob") return;
    if (!runs_.insert(std::string(api::name_of(job))).second)
      world_.chronicle().violation("crons-keep-apart", base::format("run {} was made twice", api::name_of(job)));
    const Json* cronjob = world_.truth().find(api::resources::kCronJobs, "default/" + owner["name"].str());
    if (!cronjob || (*cronjob)["spec"]["concurrencyPolicy"].as_string() == "Allow") return;
    for (const auto& [key, other] : world_.truth().objects(api::resources::kJobs))
      if (api::uid_of(other) != api::uid_of(job) && api::controller_of(other)["uid"] == owner["uid"] &&
          is_at_work(other))
        world_.chronicle().violation("crons-keep-apart", base::format("{} was made while {} was at work",
                                                                      api::name_of(job), api::name_of(other)));
  }

  World& world_;
  std::set<std::string> runs_;
};

}  // namespace

std::unique_ptr<Check> make_crons_keep_apart(World& world, Settings&, base::Random&) {
  return std::make_unique<CronsKeepApart>(world);
}

}  // namespace sim
