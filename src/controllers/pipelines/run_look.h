// One look at a run: what is known of it, and the writes that follow.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/schema/quantity.h"
#include "controllers/framework/controller.h"
#include "controllers/pipelines/options.h"
#include "controllers/pipelines/values.h"
#include "pipelines/ir/pipeline.h"
#include "pipelines/stage/stores.h"

namespace controllers::pipelines {

inline constexpr const char* kCacheLabel = "pipelines.kubeflow.org/cache-key";
inline constexpr const char* kTaskAnnotation = "pipelines.volcano.sh/task";
inline constexpr const char* kByRun = "run";
inline constexpr const char* kByCacheKey = "cache-key";

// Known of a run from one look to the next; after a restart it is found out again.
struct Memory {
  std::string uid = {};
  api::Json spec = {}, platform = {};                     // the documents that were read
  std::shared_ptr<const ::pipelines::Pipeline> pipeline;  // null: they cannot be read
  std::string problem = {};                               // why
  // The steps of gangs in the turns of that document's loops (loop_gang.h).
  std::map<const ::pipelines::Component*, std::vector<std::string>> gang_steps = {};
  std::map<std::string, std::string> refused = {};  // by path: why the server did not take an object
  std::set<std::string> gone = {};                  // pods that the server does not have
  std::map<std::string, base::Time> failed = {};    // by pod: when its failure was seen
  std::optional<::pipelines::Stores> stores = {};   // nothing: not asked for yet
  std::string stores_problem = {};                  // why their ConfigMap cannot be read
  bool is_recorded = false;                         // in the run's experiment
  bool has_claim = false;                           // of the artifacts of the namespace
  bool has_stage = false;                           // the program that moves artifacts of stores
  bool has_surroundings = false;                    // the objects that every run of the namespace needs
};

// How a task stands after the look.
struct Standing {
  bool is_over = false;
  // Its end, and that of all that is inside it, is in the view: a graph whose end is written before the ends of its
  // tasks would never be looked into again, should one of those writes fail.
  bool is_settled = false;
  std::string state = {};  // empty: it never begins, because of one before it; or it waits
  std::string error = {};
  Values outputs = {};

  bool has_succeeded() const { return state == "SUCCEEDED" || state == "CACHED"; }
};

// The objects that a look at a run may see. The names and keys that it needs follow from its decisions.
struct RunObjects {
  // By name, in the run's namespace.
  std::function<const api::Json*(const api::ResourceId& resource, std::string_view name)> named;
  // By the run's label, whoever made them.
  std::function<std::vector<const api::Json*>(const api::ResourceId& resource)> of_run;
  // Tasks of the namespace, of whatever run, by the key of their result.
  std::function<std::vector<const api::Json*>(const std::string& key)> tasks_of_key;
};

struct RunLook {
  const RunObjects& objects;
  const Turn& turn;
  const Options& options;
  const api::Json& run;
  const RunFacts& facts;
  const ::pipelines::Pipeline& pipeline;
  const ::pipelines::Stores& stores;
  Memory& memory;
  bool ends = false;                                                // somebody wants the run to end
  std::map<std::string, const api::Json*, std::less<>> tasks = {};  // by path
  std::vector<std::string> asked = {};                              // pods that the plan asks the server for, in order
  std::map<std::string, std::string> changed = {};                  // by path of a leaf: the state that the plan writes
  std::size_t begun = 0;                                            // tasks that this look makes
  // By loop and step: what a pod of a gang asks for that the look makes.
  std::map<std::pair<std::string, std::string>, api::ResourceList> gang_pods = {};

  Plan programs = {};  // that pods have as volumes: made before them
  Plan making = {};    // objects that are made or removed
  Plan statuses = {};  // written after them
};

}  // namespace controllers::pipelines
