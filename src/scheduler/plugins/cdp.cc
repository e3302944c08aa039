// Cool-down protection: a pod that started a short while ago is not evicted.
#include "scheduler/framework/plugin.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

class Cdp final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    Model& model = setup.model();
    setup.depends_on_time();  // protection ends
    const auto unprotected = [this, &model](const Task&, const std::vector<TaskId>& candidates) {
      Victims out;
      for (const TaskId id : candidates) {
        const Task& task = model.task(id);
        const bool fresh = task.status == TaskStatus::kRunning && task.protected_until_ns > now_.ns;
        if (!fresh) out.tasks.push_back(id);
      }
      return out;
    };
    setup.on<Preemptable>(unprotected);
    setup.on<Reclaimable>(unprotected);
  }

  void open(Session& session) override { now_ = session.input().now; }

 private:
  base::Time now_;
};

}  // namespace

std::unique_ptr<Plugin> make_cdp() { return std::make_unique<Cdp>(); }

}  // namespace scheduler
