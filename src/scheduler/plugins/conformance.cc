// Conformance: pods the cluster itself lives on are never evicted.
#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"

namespace scheduler {
namespace {

class Conformance final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    Model& model = setup.model();
    const auto keep_critical = [&model](const auto&, const std::vector<TaskId>& candidates) {
      Victims out;
      for (const TaskId id : candidates) {
        if (!model.task(id).critical) out.tasks.push_back(id);
      }
      return out;
    };
    setup.on<Preemptable>(keep_critical);
    setup.on<Reclaimable>(keep_critical);
    setup.on<UnifiedEvictable>(keep_critical);
  }
};

}  // namespace

std::unique_ptr<Plugin> make_conformance() { return std::make_unique<Conformance>(); }

}  // namespace scheduler
