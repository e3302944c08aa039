// Job plugins: from a Job to objects and pod edits, without a client (controllers.md 4).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/result.h"
#include "controllers/framework/plan.h"
#include "controllers/job/job.h"

namespace controllers::job {

using Args = std::vector<std::string>;

// An object that exists as long as the job's pods may run.
struct PluginObject {
  api::ResourceId resource;
  api::Json body;
  Addition addition = Addition::kNone;  // what is not in the body yet
  // An object of its name without this field gets its data; unset: one that exists is left alone.
  std::optional<DataField> existing_has = {};
  // Its data is rewritten when the job's tasks change.
  bool follows_job = false;
  std::string plugin = {};  // whose it is; filled in by plugin_objects
};

struct Plugin {
  std::string_view name;
  // Null: nothing to edit.
  base::Status (*edit_pod)(const Job& job, const Args& args, const Task& task, std::int64_t index, api::Json& pod);
  // Null: no objects.
  base::Status (*list_objects)(const Job& job, const Args& args, std::vector<PluginObject>& objects) = nullptr;
  // Whether status.controlledResources says "plugin-<name>" while it is in effect.
  bool marked = true;
};

// In the order in which they edit pods: later ones may read what earlier ones set (hcclrank reads pytorch's RANK).
std::span<const Plugin> all_plugins();

base::Status edit_with_plugins(const Job& job, const Task& task, std::int64_t index, api::Json& pod);
// The objects of all of the job's plugins; an error names the plugin.
base::Result<std::vector<PluginObject>> plugin_objects(const Job& job);

// The rows of all.cc.
base::Status edit_env(const Job&, const Args&, const Task&, std::int64_t, api::Json&);
base::Status edit_svc(const Job&, const Args&, const Task&, std::int64_t, api::Json&);
base::Status list_svc(const Job&, const Args&, std::vector<PluginObject>&);
base::Status edit_ssh(const Job&, const Args&, const Task&, std::int64_t, api::Json&);
base::Status list_ssh(const Job&, const Args&, std::vector<PluginObject>&);
base::Status edit_tensorflow(const Job&, const Args&, const Task&, std::int64_t, api::Json&);
base::Status edit_pytorch(const Job&, const Args&, const Task&, std::int64_t, api::Json&);
base::Status edit_mpi(const Job&, const Args&, const Task&, std::int64_t, api::Json&);
base::Status edit_ray(const Job&, const Args&, const Task&, std::int64_t, api::Json&);
base::Status list_ray(const Job&, const Args&, std::vector<PluginObject>&);
base::Status edit_hcclrank(const Job&, const Args&, const Task&, std::int64_t, api::Json&);

}  // namespace controllers::job
