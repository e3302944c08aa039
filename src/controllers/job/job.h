// A Job document, read once into the words the controller thinks in. Absent is told apart from zero where the rules do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/array_indexes.h"
#include "api/json/json.h"
#include "base/time.h"

namespace controllers::job {

enum class Phase : std::uint8_t {
  kNone,
  kPending,
  kAborting,
  kAborted,
  kRunning,
  kRestarting,
  kCompleting,
  kCompleted,
  kTerminating,
  kTerminated,
  kFailed
};
std::string_view name_of(Phase phase);
// Unknown words count as no phase at all.
Phase parse_phase(std::string_view word);
bool is_finished(Phase phase);  // Completed, Failed, Terminated

struct Policy {
  std::vector<std::string> events;  // `events` and `event`
  std::string action;
  std::optional<std::int64_t> exit_code;
  std::optional<base::Duration> timeout;
};

struct Partition {
  std::int64_t total = 0;
  std::int64_t size = 0;
  std::int64_t min = 0;
  api::Json network_topology;
};

struct Task {
  std::string name;  // "default" where the user gave none
  std::int64_t replicas = 0;
  std::optional<std::int64_t> min_available;
  std::int64_t max_retry = 0;
  api::Json pod_template;
  std::string topology_policy;
  std::vector<Policy> policies;
  std::vector<std::string> depends_on;
  bool depends_on_any = false;
  std::optional<Partition> partition;
};

struct Volume {
  std::string mount_path;
  std::string claim_name;
  api::Json claim;  // null: an existing claim is meant
};

struct Job {
  api::Json object;  // the whole document, so that writers keep what they do not know
  std::string ns;
  std::string name;
  std::string uid;
  std::string queue;
  std::string scheduler_name;
  std::string priority_class;
  std::int64_t min_available = 0;
  std::int64_t max_retry = 0;
  std::optional<std::int64_t> min_success;
  std::vector<Task> tasks;
  std::map<std::string, std::size_t, std::less<>> task_places;  // by name; of equal names the first
  std::vector<Policy> policies;
  std::vector<Volume> volumes;
  std::vector<std::pair<std::string, std::vector<std::string>>> plugins;  // name and arguments, sorted by name
  api::Json network_topology;
  std::optional<api::ArrayIndexes> array;  // of an array of runs (runs.h); one that cannot be read is none

  Phase phase = Phase::kNone;
  std::int64_t version = 0;
  std::int64_t retry_count = 0;
  bool deleting = false;
  base::Time created;

  std::string key() const { return ns + "/" + name; }
  std::string group_name() const { return name + "-" + uid; }
  std::int64_t replicas_total() const;
  const Task* find_task(std::string_view task) const;  // of equal names the first
  std::string_view annotation(std::string_view key) const;
  std::string_view label(std::string_view key) const;
};

Job read_job(const api::Json& object);

// "<job>-<task>-<index>".
std::string pod_name(const Job& job, const Task& task, std::int64_t index);
// The partition of a task that has any: the value of its pods' label.
std::string partition_of(const Task& task, std::int64_t index);
// The name that a task's pod answers to, and its domain: the template's own or the pod's and the job's.
std::string host_name(const Job& job, const Task& task, std::int64_t index);
std::string domain_name(const Job& job, const Task& task);

}  // namespace controllers::job
