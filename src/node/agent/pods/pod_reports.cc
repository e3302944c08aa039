// How statuses are made and written, and pods are finalized.
#include "node/agent/pods/pod_reports.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/pod/pod_plan.h"
#include "node/pod/pod_status.h"

namespace node {

using api::Json;

namespace {

// A patch that leaves a condition out would leave it in the pod.
void drop_old_conditions(const PodWorker& worker, Json& status) {
  for (const char* type : {"PodResizePending", "PodResizeInProgress"}) {
    const auto has = [&](const Json& list) {
      return std::ranges::any_of(list.items(), [&](const Json& one) { return one["type"].as_string() == type; });
    };
    if (has(status["conditions"]) || (!has(worker.pod["status"]["conditions"]) && !has(worker.reported["conditions"])))
      continue;
    status.edit("conditions").push_back(Json::object({{"$patch", "delete"}, {"type", type}}));
  }
}

}  // namespace

PodReports::PodReports(AgentLoop& loop, client::Client& client, const Options& options, const PodTable& pods,
                       PodSteps& steps, const PodDevices& devices, const PodClaims& claims)
    : loop_(loop), client_(client), options_(options), pods_(pods), steps_(steps), devices_(devices), claims_(claims) {}

void PodReports::finalize(PodWorker& worker) {
  if (worker.finalizing || worker.reporting || claims_.awaits_drivers(worker)) return;
  if (!worker.settled && worker.reported != status_of(worker)) {
    report(worker);
    if (worker.reporting) return;  // comes back when it is written
  }
  worker.finalizing = true;
  const std::string uid(api::uid_of(worker.pod));
  client::Request request{.verb = client::Verb::kDelete,
                          .resource = api::resources::kPods,
                          .ns = std::string(api::namespace_of(worker.pod)),
                          .name = std::string(api::name_of(worker.pod))};
  request.body = Json::object({{"kind", "DeleteOptions"},
                               {"apiVersion", "v1"},
                               {"gracePeriodSeconds", 0},
                               {"preconditions", Json::object({{"uid", uid}})}});
  client_.call(std::move(request), loop_.while_alive([this, uid](const base::Result<Json>& deleted) {
    if (deleted.ok() || !pods_.has(uid)) return;
    const base::Code code = deleted.error().code;
    if (code == base::Code::kNotFound || code == base::Code::kConflict) return;  // it is gone, or is another pod
    loop_.after(base::seconds(1), [this, uid] {
      PodWorker* still = pods_.find(uid);
      if (still == nullptr) return;
      still->finalizing = false;
      steps_.step(uid);
    });
  }));
}

// Times of conditions follow what was reported last, which the informer may not show yet.
Json PodReports::status_of(const PodWorker& worker) const {
  Json basis = worker.pod;
  if (!worker.reported.is_null()) {
    Json conditions = worker.reported["conditions"];
    const auto is_ours = [&](const Json& one) {
      return std::ranges::any_of(conditions.items(), [&](const Json& our) { return our["type"] == one["type"]; });
    };
    std::vector<Json> others;  // readiness gates are among them
    for (const Json& one : worker.pod["status"]["conditions"].items())
      if (!is_ours(one)) others.push_back(one);
    for (Json& one : others) conditions.push_back(std::move(one));
    basis.edit("status").set("conditions", std::move(conditions));
  }
  Json status = status_for(basis, worker.state, options_.host_ip, {loop_.uptime(), loop_.now()});
  add_health(worker, status);
  return status;
}

// The health of the devices that containers have, by claims and by resources.
void PodReports::add_health(const PodWorker& worker, Json& status) const {
  const std::string uid(api::uid_of(worker.pod));
  for (const ContainerState& container : worker.state.containers) {
    if (container.ephemeral) continue;
    const std::string list(status_list(container));
    for (std::size_t i = 0; i < status[list].size(); ++i) {
      if (status[list][i]["name"].as_string() != container.name) continue;
      Json health = devices_.manager().health_of(uid, container.name);
      if (has_claims(worker.pod)) {
        const Json by_claims = claims_.keeper().health_of(worker.pod, container_spec(worker.pod, container));
        for (const Json& one : by_claims.items()) health.push_back(one);
      }
      if (!health.empty()) status.edit(list).edit(i).set("allocatedResourcesStatus", std::move(health));
    }
  }
}

void PodReports::report(PodWorker& worker) {
  if (worker.settled || worker.reporting || worker.gone || worker.finalizing) return;
  // A reader who hears that a pod is over gives its devices to others.
  if (is_over(worker.pod, worker.state) && claims_.awaits_drivers(worker)) return;
  Json status = status_of(worker);
  if (status == worker.reported && !worker.stale_report) return;
  worker.reporting = true;
  Json changes = status;
  drop_old_conditions(worker, changes);
  worker.reported = std::move(status);
  worker.stale_report = false;
  write(worker, std::move(changes));
}

void PodReports::write(const PodWorker& worker, Json status) {
  const std::string uid(api::uid_of(worker.pod));
  client::Request request{.verb = client::Verb::kPatch,
                          .resource = api::resources::kPods,
                          .ns = std::string(api::namespace_of(worker.pod)),
                          .name = std::string(api::name_of(worker.pod)),
                          .subresource = "status"};
  request.patch_type = client::PatchType::kStrategic;
  request.field_manager = "kubelet";
  request.body = Json::object({{"metadata", Json::object({{"uid", uid}})}, {"status", std::move(status)}});
  client_.call(std::move(request), loop_.while_alive([this, uid](const base::Result<Json>& answer) {
    if (PodWorker* found = pods_.find(uid)) written(*found, answer);
  }));
}

void PodReports::written(PodWorker& worker, const base::Result<Json>& answer) {
  const std::string uid(api::uid_of(worker.pod));
  worker.reporting = false;
  if (answer.ok()) {
    worker.report_failures = 0;
    return steps_.step(uid);
  }
  const base::Code code = answer.error().code;
  if (code == base::Code::kNotFound || code == base::Code::kConflict) return steps_.step(uid);  // the informer will say
  if (++worker.report_failures == 1)
    base::log_warning("node", base::format("status of pod {}: {}", api::key_of(worker.pod), answer.error().message));
  worker.stale_report = true;
  loop_.after(base::seconds(std::min(30, worker.report_failures)), [this, uid] {
    if (PodWorker* still = pods_.find(uid)) report(*still);
  });
}

}  // namespace node
