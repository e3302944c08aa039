// A training job of whatever framework, read once and with its defaults (training.md 2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/time.h"

namespace controllers::training {

struct Framework;  // training/framework.h

// The pods of one type, in the order in which types are judged.
struct Replica {
  std::string type;        // "Worker"; as it was written where the framework does not know it
  std::string lower;       // "worker"
  std::int64_t count = 0;  // below 0 only in a job that has a problem
  std::string restart_policy;
  bool names_policy = false;  // or else it is the framework's
  api::Json pod_template;
  bool tried_again = false;  // a pod that failed is made again

  // The container that the framework is told to, or null.
  const api::Json* key_container(std::string_view name) const;
  std::optional<std::int64_t> port(std::string_view container, std::string_view port_name) const;
};

struct TrainingJob {
  const Framework* framework = nullptr;
  api::Json object;  // the whole document
  std::string ns;
  std::string name;
  std::string uid;
  std::vector<Replica> replicas;

  std::string clean_pod_policy;
  std::optional<base::Duration> time_to_live;
  std::optional<base::Duration> deadline;
  std::optional<std::int64_t> backoff_limit;
  bool suspended = false;
  std::string managed_by;

  const api::Json& spec() const { return object["spec"]; }
  // The key of an object of that name in the job's namespace.
  std::string key(std::string_view of_name) const { return ns + "/" + std::string(of_name); }
  bool owns(const api::Json& other) const { return api::controller_of(other)["uid"].as_string() == uid; }
  const Replica* find(std::string_view type) const;
  std::int64_t total() const;
  // For MPIJobs of v2beta1: whether the launcher is made only when all workers are ready.
  bool launcher_waits() const { return spec()["launcherCreationPolicy"].as_string() == "WaitForWorkersReady"; }
  // The port of the framework's name on the key container of `replica`; its default where there is none.
  std::int64_t port_of(const Replica& replica) const;
  // "<job>-<type>-<index>", also the host name at which others find the pod.
  std::string pod_name(const Replica& replica, std::int64_t index) const;
};

TrainingJob read_job(const Framework& framework, const api::Json& object);

// Why no pod can be made from this job; empty: nothing is wrong.
std::string problem_of(const TrainingJob& job);

// The PriorityClasses that the document of a job names, each with the path of the field.
struct NamedClass {
  std::string path;
  std::string name;
};
std::vector<NamedClass> priority_classes_of(const Framework& framework, const api::Json& object);

}  // namespace controllers::training
