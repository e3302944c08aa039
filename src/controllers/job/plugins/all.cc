// Every job plugin, in the order in which they edit pods.
#include <algorithm>
#include <array>

#include "api/batch/v1alpha1/job_plugins.h"
#include "base/format.h"
#include "controllers/job/plugins/plugin.h"

namespace controllers::job {

std::span<const Plugin> all_plugins() {
  static constexpr std::array<Plugin, 8> kPlugins = {{
      {"svc", edit_svc, list_svc},
      {"ssh", edit_ssh, list_ssh},
      {"env", edit_env},
      {"tensorflow", edit_tensorflow},
      {"pytorch", edit_pytorch},
      {"mpi", edit_mpi},
      {"ray", edit_ray, list_ray},
      {.name = "hcclrank", .edit_pod = edit_hcclrank, .marked = false},
  }};
  static_assert(std::equal(kPlugins.begin(), kPlugins.end(), api::kJobPlugins.begin(), api::kJobPlugins.end(),
                           [](const Plugin& plugin, std::string_view name) { return plugin.name == name; }));
  return kPlugins;
}

namespace {

const Args* args_of(const Job& job, std::string_view plugin) {
  for (const auto& [name, args] : job.plugins)
    if (name == plugin) return &args;
  return nullptr;
}

base::Status all_known(const Job& job) {
  const auto plugins = all_plugins();
  for (const auto& [name, args] : job.plugins) {
    const bool known =
        std::any_of(plugins.begin(), plugins.end(), [&n = name](const Plugin& p) { return p.name == n; });
    if (!known) return base::make_error(base::Code::kInvalid, base::format("failed to get plugin {}", name));
  }
  return {};
}

}  // namespace

base::Status edit_with_plugins(const Job& job, const Task& task, std::int64_t index, api::Json& pod) {
  TRY_VOID(all_known(job));
  for (const Plugin& plugin : all_plugins())
    if (const Args* args = args_of(job, plugin.name)) TRY_VOID(plugin.edit_pod(job, *args, task, index, pod));
  return {};
}

base::Result<std::vector<PluginObject>> plugin_objects(const Job& job) {
  TRY_VOID(all_known(job));
  std::vector<PluginObject> objects;
  for (const Plugin& plugin : all_plugins())
    if (const Args* args = args_of(job, plugin.name); args && plugin.list_objects) {
      const std::size_t before = objects.size();
      TRY_VOID(plugin.list_objects(job, *args, objects));
      for (std::size_t i = before; i < objects.size(); ++i) objects[i].plugin = std::string(plugin.name);
    }
  return objects;
}

}  // namespace controllers::job
