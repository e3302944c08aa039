// No job ends because of a refusal that time would cure: of those of a world, what is invalid or a bad request stays
// so.
#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

class RefusalsCure final : public Check {
 public:
  explicit RefusalsCure(World& world) : world_(world) {}

  void begin() override {
    world_.truth().on_change([this](const api::ResourceId& resource, const Json* before, const Json* after) {
      if (resource == api::resources::kJobs && after != nullptr) look(before, *after);
    });
  }

 private:
  void look(const Json* before, const Json& job) {
    const std::string_view message = job["status"]["state"]["message"].as_string();
    if (before && (*before)["status"]["state"]["message"].as_string() == message) return;
    // As faults/refuse.cc words it.
    const bool ends = message.starts_with("TerminateJob: ") && message.find("the rules of this world") != message.npos;
    if (ends && !message.ends_with("(invalid)") && !message.ends_with("(bad-request)"))
      world_.chronicle().violation("refusals-cure", base::format("job {}: {}", api::key_of(job), message));
  }

  World& world_;
};

}  // namespace

std::unique_ptr<Check> make_refusals_cure(World& world, Settings&, base::Random&) {
  return std::make_unique<RefusalsCure>(world);
}

}  // namespace sim
