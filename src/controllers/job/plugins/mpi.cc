// mpi: the master learns the workers' hosts; every container opens the port that ssh logs in by.
#include <array>

#include "controllers/job/plugins/arguments.h"
#include "controllers/job/plugins/plugin.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::array<Flag, 3> kFlags = {{{"master", Flag::Type::kText, "master"},
                                         {"worker", Flag::Type::kText, "worker"},
                                         {"port", Flag::Type::kNumber, "22"}}};

}  // namespace

base::Status edit_mpi(const Job& job, const Args& args, const Task& task, std::int64_t, Json& pod) {
  const Flags flags(kFlags, args);
  const bool is_master = task.name == flags.text("master");
  const Task* worker = job.find_task(flags.text("worker"));
  if (is_master && !worker) return {};
  const Json hosts = is_master ? join(addresses(job, *worker), ",") : "";
  for_containers(pod, true, [&](Json& container) {
    open_port(container, "mpijob-port", flags.number("port"));
    if (is_master) add_env(container, "MPI_HOST", hosts);
  });
  return {};
}

}  // namespace controllers::job
