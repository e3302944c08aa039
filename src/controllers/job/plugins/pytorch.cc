// pytorch: where the master listens, how many processes there are, and which one this is.
#include <array>

#include "base/format.h"
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/plugins/plugin.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::array<Flag, 6> kFlags = {{{"master", Flag::Type::kText, "master"},
                                         {"worker", Flag::Type::kText, "worker"},
                                         {"port", Flag::Type::kNumber, "23456"},
                                         {"wait-master-enabled", Flag::Type::kBool, "false"},
                                         {"wait-master-timeout", Flag::Type::kNumber, "300"},
                                         {"wait-master-image", Flag::Type::kText, "busybox:1.36.1"}}};

Json wait_for_master(const std::string& image, const std::string& host, std::int64_t port, std::int64_t timeout) {
  const std::string script = base::format(
      "left={2}\n"
      "until nc -z {0} {1} 2>/dev/null || (exec 3<>/dev/tcp/{0}/{1}) 2>/dev/null; do\n"
      "  if [ \"$left\" -le 0 ]; then echo \"master {0}:{1} did not answer within {2} seconds\" >&2; exit 1; fi\n"
      "  left=$((left - 2)); sleep 2\n"
      "done\n",
      host, port, timeout);
  return Json::object({{"name", "wait-for-master"}, {"image", image}, {"command", Json::array({"sh", "-c", script})}});
}

}  // namespace

base::Status edit_pytorch(const Job& job, const Args& args, const Task& task, std::int64_t index, Json& pod) {
  const Flags flags(kFlags, args);
  const Task* master = job.find_task(flags.text("master"));
  if (!master) return {};
  const Task* worker = job.find_task(flags.text("worker"));
  const std::int64_t port = flags.number("port");
  const std::string master_host = address(job, *master, 0);
  const bool is_worker = task.name == flags.text("worker");
  bool waits = false;
  for (const Json& container : pod["spec"]["initContainers"].items())
    waits = waits || container["name"].as_string() == "wait-for-master";
  if (is_worker && !waits && flags.on("wait-master-enabled"))
    pod.edit("spec")
        .edit("initContainers")
        .push_back(
            wait_for_master(flags.text("wait-master-image"), master_host, port, flags.number("wait-master-timeout")));
  for_containers(pod, false, [&](Json& container) {
    open_port(container, "pytorchjob-port", port);
    add_env(container, "MASTER_ADDR", master_host);
    add_env(container, "MASTER_PORT", std::to_string(port));
    add_env(container, "WORLD_SIZE", std::to_string(master->replicas + (worker ? worker->replicas : 0)));
    if (task.name == master->name)
      add_env(container, "RANK", "0");
    else if (is_worker)
      add_env(container, "RANK", std::to_string(index + 1));
  });
  return {};
}

}  // namespace controllers::job
