// SLA: a group that has waited its time is admitted, and may start on promises.
#include <limits>

#include "base/format.h"
#include "base/saturate.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

class Sla final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    setup.depends_on_time();
    const std::string text = setup.arguments().get_string("sla-waiting-time", "");
    const auto span = base::parse_go_duration(text);
    if (span && span->ns > 0)
      default_ = *span;
    else if (!text.empty())
      setup.arguments().warn(
          base::format("sla-waiting-time: {} is not a positive duration; groups may wait for ever", text));
    setup.on<JobOrder>(
        [this](const Job& job) { return deadline(job).value_or(std::numeric_limits<std::int64_t>::max()); });
    const auto vote = [this](const Job& job) {
      const auto due = deadline(job);
      return due && now_.ns >= *due ? Vote::kPermit : Vote::kAbstain;
    };
    setup.on<JobEnqueueable>(vote);
    setup.on<JobPipelined>(vote);
  }

  void open(Session& session) override { now_ = session.input().now; }

 private:
  std::optional<std::int64_t> deadline(const Job& job) const {
    const auto span = job.extras().waiting_time ? job.extras().waiting_time : default_;
    if (!span) return std::nullopt;
    return base::saturating_add(job.created_ns, span->ns);
  }

  std::optional<base::Duration> default_;
  base::Time now_;
};

}  // namespace

std::unique_ptr<Plugin> make_sla() { return std::make_unique<Sla>(); }

}  // namespace scheduler
