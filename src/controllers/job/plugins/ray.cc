// ray: the head and the workers start with the commands that join them into one cluster.
#include <array>

#include "base/format.h"
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/plugins/plugin.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::array<Flag, 7> kFlags = {{{"head", Flag::Type::kText, "head"},
                                         {"headContainer", Flag::Type::kText, "head"},
                                         {"worker", Flag::Type::kText, "worker"},
                                         {"workerContainer", Flag::Type::kText, "worker"},
                                         {"port", Flag::Type::kNumber, "6379"},
                                         {"dashboardPort", Flag::Type::kNumber, "8265"},
                                         {"clientPort", Flag::Type::kNumber, "10001"}}};

struct Port {
  const char* name;
  const char* flag;
};
constexpr std::array<Port, 3> kPorts = {
    {{"gcs", "port"}, {"dashboard", "dashboardPort"}, {"client-server", "clientPort"}}};

void set_command(Json& container, const std::string& script) {
  container.set("command", Json::array({"sh", "-c", script}));
}

base::Error no_head(const std::string& name) {
  return base::make_error(base::Code::kInvalid, base::format("plugin ray: the job has no head task {}", name));
}

}  // namespace

base::Status edit_ray(const Job& job, const Args& args, const Task& task, std::int64_t, Json& pod) {
  const Flags flags(kFlags, args);
  const Task* head = job.find_task(flags.text("head"));
  if (!head) return no_head(flags.text("head"));
  for_containers(pod, false, [&](Json& container) {
    const std::string_view name = container["name"].as_string();
    if (task.name == head->name && name == flags.text("headContainer")) {
      for (const Port& port : kPorts) open_port(container, port.name, flags.number(port.flag));
      set_command(container,
                  base::format("ray start --head --block --dashboard-host=0.0.0.0 --port={} --dashboard-port={} "
                               "--ray-client-server-port={}",
                               flags.number("port"), flags.number("dashboardPort"), flags.number("clientPort")));
    } else if (task.name == flags.text("worker") && name == flags.text("workerContainer")) {
      set_command(container,
                  base::format("ray start --block --address={}:{}", address(job, *head, 0), flags.number("port")));
    }
  });
  return {};
}

base::Status list_ray(const Job& job, const Args& args, std::vector<PluginObject>& objects) {
  const Flags flags(kFlags, args);
  const Task* head = job.find_task(flags.text("head"));
  if (!head) return no_head(flags.text("head"));
  Json selector = job_selector(job);
  selector.set("volcano.sh/task-spec", head->name);
  Json ports = Json::array();
  for (const Port& port : kPorts)
    ports.push_back(Json::object(
        {{"name", port.name}, {"port", flags.number(port.flag)}, {"protocol", "TCP"}, {"targetPort", port.name}}));
  Json service = owned_object(job, "v1", "Service", job.name + "-head-svc");
  service.set("spec",
              Json::object({{"ports", std::move(ports)}, {"selector", std::move(selector)}, {"type", "ClusterIP"}}));
  objects.push_back({.resource = api::resources::kServices, .body = std::move(service)});
  return {};
}

}  // namespace controllers::job
