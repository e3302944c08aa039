// The next step of a training job.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "controllers/framework/controller.h"
#include "controllers/framework/plan.h"
#include "controllers/framework/restart_pauses.h"
#include "controllers/training/framework.h"
#include "controllers/training/job.h"

namespace controllers::training {

// The document of a job as it was read. It stays as long as the document is the same, and is shared by its looks.
struct Reading {
  api::Json document;
  TrainingJob job;
  std::string problem;              // why no pod can be made from it; empty: nothing is wrong
  std::vector<NamedClass> classes;  // PriorityClasses, whose values may change

  bool is_valid() const { return problem.empty(); }
};

// Only messages and readings: what matters after a restart is in the status.
struct Memory {
  std::string uid = {};
  std::set<std::string> reported = {};
  std::shared_ptr<const Reading> reading = {};  // null: none yet
  // By uid of pods that failed: the restartCount that counts their being made again.
  std::map<std::string, std::int64_t> restarts = {};
  api::Json group = {};       // a group that was found to be as it should be for that reading; null: none
  RestartPauses pauses = {};  // by name of a pod
};

// The values of PriorityClasses by name; unset: there is no such class.
using PriorityValues = std::map<std::string, std::optional<std::int64_t>, std::less<>>;

struct Observed {
  std::shared_ptr<const Reading> reading = {};       // not null
  std::vector<const api::Json*> pods = {};           // that it controls
  std::vector<const api::Json*> services = {};       // that it controls
  const api::Json* launcher_job = nullptr;           // the Job that it controls and that makes its launcher
  std::vector<const api::Json*> launcher_pods = {};  // of that Job
  const api::Json* group = nullptr;                  // of the job's name, whoever made it
  const api::Json* autoscaler = nullptr;             // the same
  PriorityValues classes = {};                       // that the job names
  bool sees_classes = false;                         // any; not asked for a job that names none
};

// Finds an object of the job's namespace by its name. The names that a look needs follow from its decisions: it asks
// for those alone that it is about to give to new objects.
using FindTaken = std::function<const api::Json*(const api::ResourceId& resource, std::string_view name)>;

struct Decision {
  Plan plan = {};
  Memory memory = {};
  // Metrics to count once the plan has succeeded; those of jobs have the labels namespace and framework.
  std::vector<std::pair<std::string_view, int>> counted = {};
};

// The same reading as long as the document is the same.
std::shared_ptr<const Reading> reading_of(const Framework& framework, const api::Json& document, const Memory& memory);

Decision step(const Observed& seen, const FindTaken& find_taken, Memory memory, const Turn& turn,
              const Options& options);

}  // namespace controllers::training
