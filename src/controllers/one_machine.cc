// The list of these controllers.
#include "controllers/one_machine.h"

#include <functional>
#include <string_view>

#include "base/format.h"
#include "controllers/cluster/evictions.h"
#include "controllers/cluster/protection.h"
#include "controllers/workloads/batch_job.h"
#include "controllers/workloads/cron_job.h"
#include "controllers/workloads/daemon_set.h"
#include "controllers/workloads/deployment.h"
#include "controllers/workloads/disruption.h"
#include "controllers/workloads/replica_set.h"
#include "controllers/workloads/stateful_set.h"

namespace controllers::workloads {

namespace {

struct Row {
  std::string_view name;
  std::function<std::unique_ptr<Controller>(const Options&)> make;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"certificatesigningrequest-cleaner", [](const Options&) { return cluster::make_certificate_cleaner(); }},
      {"certificatesigningrequest-signing",
       [](const Options& options) { return cluster::make_certificate_controller(options.sign_request); }},
      {"cronjob", [](const Options& options) { return make_batch_cron_job_controller(options.local_zone); }},
      {"daemonset", [](const Options&) { return make_daemon_set_controller(); }},
      {"deployment", [](const Options&) { return make_deployment_controller(); }},
      {"disruption", [](const Options&) { return make_disruption_controller(); }},
      {"horizontal-pod-autoscaler",
       [](const Options& options) { return autoscaling::make_autoscaler_controller(options.pod_usage); }},
      {"job", [](const Options&) { return make_batch_job_controller(); }},
      {"persistentvolume-protection", [](const Options&) { return cluster::make_volume_protection(); }},
      {"persistentvolumeclaim-protection", [](const Options&) { return cluster::make_claim_protection(); }},
      {"pod-garbage-collector",
       [](const Options& options) { return cluster::make_pod_garbage_collector(options.finished_pods); }},
      {"replicaset", [](const Options&) { return make_replica_set_controller(); }},
      {"replicationcontroller", [](const Options&) { return make_replication_controller(); }},
      {"statefulset", [](const Options&) { return make_stateful_set_controller(); }},
      {"taint-eviction", [](const Options&) { return cluster::make_taint_eviction_controller(); }},
      {"ttl-after-finished", [](const Options&) { return make_ttl_controller(); }},
  };
  return all;
}

std::string_view bare(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  constexpr std::string_view kSuffix = "-controller";
  if (word.ends_with(kSuffix)) word.remove_suffix(kSuffix.size());
  return word;
}

// The first hit decides. Controllers that are not named run with "*", and if all that is said is what does not run.
bool is_on(const Options& options, std::string_view name) {
  bool star = true;
  for (const std::string_view word : options.enabled) star = star && word.starts_with('-');
  for (const std::string_view word : options.enabled) {
    if (word == "*")
      star = true;
    else if (bare(word) == name)
      return !word.starts_with('-');
  }
  return star;
}

}  // namespace

base::Status check(const Options& options) {
  std::string names;
  for (const Row& row : rows()) names += (names.empty() ? "" : ", ") + std::string(row.name);
  for (const std::string& word : options.enabled) {
    bool known = word == "*";
    for (const Row& row : rows()) known = known || bare(word) == row.name;
    if (!known)
      return base::make_error(base::Code::kInvalid,
                              base::format("\"{}\" is none of *, {}, with - before it or not", word, names));
  }
  return {};
}

std::vector<std::unique_ptr<Controller>> make_controllers(const Options& options) {
  std::vector<std::unique_ptr<Controller>> made;
  for (const Row& row : rows())
    if (is_on(options, row.name)) made.push_back(row.make(options));
  return made;
}

}  // namespace controllers::workloads
