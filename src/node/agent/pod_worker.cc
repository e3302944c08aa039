// How a plan becomes effects, and effects become a pod's state and status.
#include <algorithm>
#include <csignal>

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "api/pods/tolerations.h"
#include "base/format.h"
#include "base/log.h"
#include "node/agent/agent_state.h"
#include "node/machine/container_text.h"
#include "node/machine/image_name.h"
#include "node/machine/registry_keys.h"
#include "node/machine/security_context.h"
#include "node/machine/service_rules.h"
#include "node/pod/disk_limits.h"
#include "node/pod/pod_specs.h"
#include "node/pod/pod_status.h"
#include "node/pod/probe.h"

namespace node {

using api::Json;

namespace {

constexpr std::string_view kConfigError = "CreateContainerConfigError";

}  // namespace

void Agent::State::event(const Json& pod, const char* type, const char* reason, const std::string& message,
                         const ContainerState* container) {
  events.record(pod, type, reason, message, container);
}

Lookups Agent::State::lookups(const PodWorker& worker) {
  Lookups look;
  look.find = [this](std::string_view kind, std::string_view ns, std::string_view name) -> const Json* {
    const std::string key = ns.empty() ? std::string(name) : base::format("{}/{}", ns, name);
    if (kind == "ConfigMap") return config_maps.find(key);
    if (kind == "Secret") return secrets.find(key);
    if (kind == "PersistentVolumeClaim") return claims.find(key);
    return volumes.find(key);
  };
  look.allocatable = node.allocatable();
  look.host_ip = options.host_ip;
  const std::string& of_machine = options.api_host_of_machine.empty() ? options.host_ip : options.api_host_of_machine;
  look.api_host =
      worker.pod["spec"]["hostNetwork"].as_bool() || options.api_host.empty() ? of_machine : options.api_host;
  look.api_port = options.api_port;
  look.services = services.linked_to(worker.pod);
  look.token = [&worker](const Json& source) -> const std::string* {
    const auto found = worker.tokens.find(token_key(source));
    return found == worker.tokens.end() || found->second.text.empty() ? nullptr : &found->second.text;
  };
  look.pod_ip = worker.state.ip.empty() ? options.host_ip : worker.state.ip;
  return look;
}

// In a kubelet's words.
void Agent::State::fail_predicate(PodWorker& worker, const char* name, const char* description) {
  const std::string text = base::format("Predicate {} failed: {}", name, description);
  worker.refused = true;
  worker.state.failure_reason = name;
  worker.state.failure_message = "Pod was rejected: " + text;
  event(worker.pod, "Warning", name, text);
}

// A pod that names its node was not seen by a scheduler. Pods that are being deleted count no more: a scheduler learns
// of their end in its own time, and what it places must not be refused for what is about to go.
std::optional<Shortage> Agent::State::shortage_for(const PodWorker& worker) const {
  if (!pods_known || worker.pod["spec"]["priority"].as_int() >= kCriticalPriority) return std::nullopt;
  api::ResourceList others;
  std::int64_t count = 0;
  for (const auto& [uid, other] : pods.workers()) {
    if (other.get() == &worker || !has_begun(*other) || api::is_deleting(other->pod)) continue;
    api::add(others, taken_by(other->pod));
    ++count;
  }
  others["pods"] = api::Quantity::from_int(count);
  return lacks_room(worker.pod, node.allocatable(), others);
}

// Whether a pod that has begun already has a port that this one asks for.
bool Agent::State::lacks_ports(const PodWorker& worker) const {
  const std::vector<HostPort> wanted = host_ports_of(worker.pod, {});
  if (wanted.empty()) return false;
  return std::ranges::any_of(pods.workers(), [&](const auto& entry) {
    const PodWorker& other = *entry.second;
    return &other != &worker && has_begun(other) && share_a_port(wanted, host_ports_of(other.pod, {}));
  });
}

void Agent::State::admit(PodWorker& worker) {
  auto why = shape_refusal(worker.pod);
  if (!why) why = runtime->refusal(worker.pod);
  if (why) {
    worker.refused = true;
    worker.state.failure_reason = "UnsupportedByNode";
    worker.state.failure_message = reason_text("Pod was rejected: " + *why);
    return event(worker.pod, "Warning", "UnsupportedByNode", worker.state.failure_message);
  }
  if (!worker.state.start_time.is_set()) {
    if (const auto shortage = shortage_for(worker)) {
      worker.refused = true;
      worker.state.failure_reason = "OutOf" + shortage->resource;
      worker.state.failure_message = "Pod was rejected: " + shortage->message;
      return event(worker.pod, "Warning", worker.state.failure_reason.c_str(), shortage->message);
    }
    if (lacks_ports(worker))
      return fail_predicate(worker, "NodePorts", "node(s) didn't have free ports for the requested pod ports");
    // Other effects say where new pods are placed, which is over.
    const Json* seen = node.seen();
    if (seen != nullptr && api::has_taint_against(worker.pod["spec"], *seen, {"NoExecute"}))
      return fail_predicate(worker, "TaintToleration", "node(s) had taints that the pod didn't tolerate");
  }
  if (lacks_devices(worker)) worker.refused = true;
}

void Agent::State::step(const std::string& uid) {
  PodWorker* worker = find(uid);
  if (worker == nullptr || worker->stepping || worker->gone) return;
  if (worker->settled && !api::is_deleting(worker->pod) && worker->state.sandbox == Sandbox::kGone) {
    release_claims(*worker);  // an agent that stopped has not waited for it
    return check_stopped();
  }
  worker->stepping = true;
  if (!worker->settled && !worker->refused && worker->state.failure_reason.empty() &&
      is_to_be_made(worker->state.sandbox))
    admit(*worker);
  if (!worker->settled && worker->state.sandbox == Sandbox::kReady) fetch_tokens(*worker);
  if (api::is_deleting(worker->pod) || !worker->state.failure_reason.empty()) *worker->given_up = true;
  const Moment now{env.uptime(), env.now()};
  const Plan plan = plan_pod(worker->pod, worker->state, now);
  for (const Action& action : plan.actions) act(*worker, action);
  const Json& deadline = worker->pod["spec"]["activeDeadlineSeconds"];
  if (deadline.is_number() && worker->state.start_time.is_set() && worker->state.failure_reason.empty() &&
      !worker->settled && !is_over(worker->pod, worker->state) &&
      now.wall >= worker->state.start_time + base::seconds(deadline.as_int())) {
    worker->state.failure_reason = "DeadlineExceeded";
    worker->state.failure_message = "Pod was active on the node longer than the specified deadline";
    event(worker->pod, "Normal", "DeadlineExceeded", worker->state.failure_message);
  }
  if (worker->timer != 0) env.loop().cancel(std::exchange(worker->timer, 0));
  if (plan.wake) {
    worker->timer = env.loop().after(*plan.wake - now.uptime + base::milliseconds(1), [weak = weak_from_this(), uid] {
      const auto self = weak.lock();
      if (!self) return;
      if (PodWorker* found = self->find(uid)) found->timer = 0;
      self->step(uid);
    });
  }
  worker->stepping = false;
  release_devices(*worker);
  release_claims(*worker);
  carry_out_resize(*worker);
  report(*worker);
  check_stopped();
}

void Agent::State::act(PodWorker& worker, const Action& action) {
  const std::string uid(api::uid_of(worker.pod));
  switch (action.kind) {
    case ActionKind::kPrepare: return prepare(worker);
    case ActionKind::kPull: return pull(worker, action.container);
    case ActionKind::kStart: return start_container(worker, action.container);
    case ActionKind::kRemove: return remove(worker);
    case ActionKind::kFinalize: return finalize(worker);
    case ActionKind::kProbe: return probe(worker, action.container, action.probe);
    case ActionKind::kTerminate:
    case ActionKind::kKill: break;
  }
  ContainerState& container = worker.state.containers[action.container];
  const bool first = !container.term_sent && !container.kill_sent;
  if (first)
    event(worker.pod, "Normal", "Killing",
          container.doom.empty() ? base::format("Stopping container {}", container.name) : container.doom, container);
  if (action.kind == ActionKind::kKill) {
    container.kill_sent = container.term_sent = true;
    return runtime->signal(uid, container.id, SIGKILL);
  }
  base::Duration grace = action.grace;
  if (worker.state.stopping && options.stop_grace < grace) grace = options.stop_grace;
  terminate(worker, action.container, grace);
}

void Agent::State::step_after(const std::string& uid, base::Duration delay) {
  env.loop().after(delay, [weak = weak_from_this(), uid] {
    if (const auto self = weak.lock()) self->step(uid);
  });
}

void Agent::State::pull(PodWorker& worker, std::size_t index) {
  ContainerState& container = worker.state.containers[index];
  const Json& json = container_spec(worker.pod, container);
  const std::string uid(api::uid_of(worker.pod));
  const std::string image = json["image"].str();
  const PullPolicy policy = pull_policy(json);
  container.image_busy = true;
  const bool asks_registry = runtime->would_pull(image, policy);
  const std::string registry = registry_of(image);
  if (asks_registry && !pulls.take(registry)) {
    env.loop().after(base::milliseconds(200), [weak = weak_from_this(), uid, index] {
      const auto self = weak.lock();
      PodWorker* found = self ? self->find(uid) : nullptr;
      if (found == nullptr) return;
      found->state.containers[index].image_busy = false;
      self->step(uid);
    });
    return;
  }
  if (asks_registry && !runtime->image_present(image))
    event(worker.pod, "Normal", "Pulling", base::format("Pulling image \"{}\"", image), container);
  const base::Duration began = env.uptime();
  off_loop<base::Result<ImageAnswer>>(
      [wish = ImageWish{image, policy, keys_for(worker), worker.given_up}](Runtime& machine) {
        return machine.ensure_image(wish);
      },
      [this, uid, index, image, began, asks_registry, registry](base::Result<ImageAnswer> answer) {
        if (asks_registry) pulls.give_back(registry);
        PodWorker* found = find(uid);
        if (found == nullptr) return;
        found->state.containers[index].image_busy = false;
        if (*found->given_up) return step(uid);
        if (answer.ok())
          image_came(*found, index, image, *answer, env.uptime() - began);
        else
          image_failed(*found, index, image, answer.error());
        step(uid);
      });
}

std::string Agent::State::keys_for(const PodWorker& worker) {
  std::vector<const Json*> found;
  std::string missing;
  for (const Json& reference : worker.pod["spec"]["imagePullSecrets"].items()) {
    const std::string_view name = reference["name"].as_string();
    if (const Json* secret = secrets.find(base::format("{}/{}", api::namespace_of(worker.pod), name)))
      found.push_back(secret);
    else
      missing += base::format("{}{}", missing.empty() ? "" : ", ", name);
  }
  if (!missing.empty())
    event(worker.pod, "Warning", "FailedToRetrieveImagePullSecret",
          base::format("Unable to retrieve some image pull secrets ({}); attempting to pull the image may not succeed.",
                       missing));
  return registry_keys(found);
}

void Agent::State::image_came(PodWorker& worker, std::size_t index, const std::string& image, const ImageAnswer& answer,
                              base::Duration waited) {
  ContainerState& of = worker.state.containers[index];
  of.image_ready = true;
  of.image_id = answer.id;
  of.retry_at = {};
  of.retry_back_off = {};
  of.waiting_reason.clear();
  of.waiting_message.clear();
  const std::string took = base::format_go_duration(base::milliseconds(waited.ns / 1'000'000));
  const std::string text =
      answer.pulled
          ? base::format("Successfully pulled image \"{}\" in {} ({} including waiting). Image size: {} bytes.", image,
                         took, took, answer.bytes)
      : !answer.note.empty() ? answer.note
                             : base::format("Container image \"{}\" already present on machine", image);
  event(worker.pod, "Normal", "Pulled", text, of);
}

void Agent::State::image_failed(PodWorker& worker, std::size_t index, const std::string& image,
                                const base::Error& error) {
  ContainerState& of = worker.state.containers[index];
  const std::string uid(api::uid_of(worker.pod));
  const std::string why = reason_text(error.message);
  const bool never = error.code == base::Code::kNotFound;
  const bool malformed = error.code == base::Code::kInvalid;
  const bool tried = !never && !malformed;
  if (tried) event(worker.pod, "Warning", "Failed", base::format("Failed to pull image \"{}\": {}", image, why), of);
  const char* reason = never ? "ErrImageNeverPull" : malformed ? "InvalidImageName" : "ErrImagePull";
  event(worker.pod, "Warning", "Failed", base::format("Error: {}", reason), of);
  of.waiting_reason = reason;
  of.waiting_message = why;
  of.retry_back_off = next_back_off(of.retry_back_off);
  of.retry_at = env.uptime() + of.retry_back_off;
  if (tried) {
    // A moment later the container says that it waits, as users know it.
    env.loop().after(base::seconds(2), [weak = weak_from_this(), uid, index, image, why] {
      const auto self = weak.lock();
      PodWorker* waiting = self ? self->find(uid) : nullptr;
      if (waiting == nullptr || waiting->state.containers[index].waiting_reason != "ErrImagePull") return;
      if (api::is_deleting(waiting->pod) || is_over(waiting->pod, waiting->state)) return;
      ContainerState& still = waiting->state.containers[index];
      still.waiting_reason = "ImagePullBackOff";
      still.waiting_message = base::format("Back-off pulling image \"{}\": ErrImagePull: {}", image, why);
      self->event(waiting->pod, "Normal", "BackOff", base::format("Back-off pulling image \"{}\"", image), still);
      self->event(waiting->pod, "Warning", "Failed", "Error: ImagePullBackOff", still);
      self->report(*waiting);
    });
  }
}

// The container cannot be made, as things are: it waits, and is tried again.
void Agent::State::cannot_be_made(PodWorker& worker, ContainerState& container, const base::Error& why) {
  container.waiting_reason = kConfigError;
  container.waiting_message = reason_text(why.message);
  event(worker.pod, "Warning", "Failed", "Error: " + why.message, container);
  container.retry_back_off = doubled(container.retry_back_off, base::seconds(2), base::seconds(30));
  container.retry_at = env.uptime() + container.retry_back_off;
  step_after(std::string(api::uid_of(worker.pod)), container.retry_back_off + base::milliseconds(1));
}

void Agent::State::start_container(PodWorker& worker, std::size_t index) {
  ContainerState& container = worker.state.containers[index];
  const std::string uid(api::uid_of(worker.pod));
  if (container.phase == RunPhase::kEnded) {
    container.last = container.ended;
    containers.erase(container.id);
    container.ended = {};
    ++container.attempt;
    container.phase = RunPhase::kNone;
    container.term_sent = container.kill_sent = false;
    reset_probes(container_spec(worker.pod, container), container);
  }
  auto spec = spec_to_start(worker, container);
  if (!give_devices(worker, spec) || !give_claims(worker, container, spec)) return;
  if (!spec.ok()) return cannot_be_made(worker, container, spec.error());
  if (container.waiting_reason != kConfigError) {  // which stays until it is known to be over
    container.waiting_reason.clear();
    container.waiting_message.clear();
  }
  container.phase = RunPhase::kStarting;
  container.held = effective_resources(worker.pod, container_spec(worker.pod, container));
  container.actual = {};
  container.id = spec->id;
  spec->given_up = worker.given_up;
  containers[container.id] = {uid, index};
  call_for<base::Result<StartedContainer>>(
      uid,
      [started_spec = *spec, write = allocation_write(worker)](Runtime& machine) -> base::Result<StartedContainer> {
        TRY_VOID(write());
        return machine.start(started_spec);
      },
      [this, uid, index](base::Result<StartedContainer> started) {
        if (PodWorker* found = find(uid)) start_answered(*found, index, std::move(started));
      });
}

void Agent::State::start_answered(PodWorker& worker, std::size_t index, base::Result<StartedContainer> started) {
  const std::string uid(api::uid_of(worker.pod));
  ContainerState& of = worker.state.containers[index];
  if (!started.ok() && started.error().code == base::Code::kForbidden) {
    containers.erase(of.id);
    of.id.clear();
    of.phase = RunPhase::kNone;
    cannot_be_made(worker, of, started.error());
    return step(uid);  // a pod that ends meanwhile has waited for this
  }
  if (!started.ok() && started.error().code == base::Code::kGone) {
    of.phase = RunPhase::kEnded;
    of.ended = {of.id, {}, env.now(), 137, "ContainerStatusUnknown", reason_text(started.error().message)};
    lose_sandbox(worker);
    return step(uid);
  }
  of.waiting_reason.clear();
  of.waiting_message.clear();
  of.retry_at = {};
  of.retry_back_off = {};
  event(worker.pod, "Normal", "Created", base::format("Created container: {}", of.name), of);
  if (started.ok()) {
    of.phase = RunPhase::kRunning;
    of.started = started->started;
    of.started_at = env.uptime();
    of.actual = runtime->actual_resources(uid, of.id, of.held);
    event(worker.pod, "Normal", "Started", base::format("Started container {}", of.name), of);
    post_start(worker, index);
    if (const auto early = early_exits.find(of.id); early != early_exits.end()) {
      const ExitedContainer exit = early->second;
      early_exits.erase(early);
      return exited(exit);
    }
  } else {
    of.phase = RunPhase::kEnded;
    of.started = env.now();
    of.started_at = of.ended_at = env.uptime();
    of.ended = {of.id, {}, env.now(), 128, "StartError", message_text(started.error().message)};
    of.back_off = of.attempt == 0 ? base::Duration{} : next_back_off(of.back_off);
    event(worker.pod, "Warning", "Failed", "Error: " + started.error().message, of);
  }
  step(uid);
}

// The server keeps a pod with a deletion timestamp until its node says that nothing of it runs.
void Agent::State::finalize(PodWorker& worker) {
  if (worker.finalizing || worker.reporting || awaits_drivers(worker)) return;
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
  client.call(std::move(request), [weak = weak_from_this(), uid](const base::Result<Json>& deleted) {
    const auto self = weak.lock();
    PodWorker* found = self ? self->find(uid) : nullptr;
    if (found == nullptr || deleted.ok()) return;
    const base::Code code = deleted.error().code;
    if (code == base::Code::kNotFound || code == base::Code::kConflict) return;  // it is gone, or is another pod
    self->env.loop().after(base::seconds(1), [weak, uid] {
      const auto again = weak.lock();
      PodWorker* still = again ? again->find(uid) : nullptr;
      if (still == nullptr) return;
      still->finalizing = false;
      again->step(uid);
    });
  });
}

// Times of conditions follow what was reported last, which the informer may not show yet.
Json Agent::State::status_of(const PodWorker& worker) const {
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
  Json status = status_for(basis, worker.state, options.host_ip, {env.uptime(), env.now()});
  tell_health(worker, status);
  return status;
}

void Agent::State::report(PodWorker& worker) {
  if (worker.settled || worker.reporting || worker.gone || worker.finalizing) return;
  // A reader who hears that a pod is over gives its devices to others.
  if (is_over(worker.pod, worker.state) && awaits_drivers(worker)) return;
  Json status = status_of(worker);
  if (status == worker.reported && !worker.stale_report) return;
  worker.reporting = true;
  Json told = status;
  drop_old_conditions(worker, told);
  worker.reported = std::move(status);
  worker.stale_report = false;
  const std::string uid(api::uid_of(worker.pod));
  client::Request request{.verb = client::Verb::kPatch,
                          .resource = api::resources::kPods,
                          .ns = std::string(api::namespace_of(worker.pod)),
                          .name = std::string(api::name_of(worker.pod)),
                          .subresource = "status"};
  request.patch_type = client::PatchType::kStrategic;
  request.field_manager = "kubelet";
  request.body = Json::object({{"metadata", Json::object({{"uid", uid}})}, {"status", std::move(told)}});
  client.call(std::move(request), [weak = weak_from_this(), uid](const base::Result<Json>& written) {
    const auto self = weak.lock();
    PodWorker* found = self ? self->find(uid) : nullptr;
    if (found == nullptr) return;
    found->reporting = false;
    if (written.ok()) {
      found->report_failures = 0;
      return self->step(uid);
    }
    const base::Code code = written.error().code;
    if (code == base::Code::kNotFound || code == base::Code::kConflict)
      return self->step(uid);  // the informer will say
    if (++found->report_failures == 1)
      base::log_warning("node", base::format("status of pod {}: {}", api::key_of(found->pod), written.error().message));
    found->stale_report = true;
    self->env.loop().after(base::seconds(std::min(30, found->report_failures)), [weak, uid] {
      const auto again = weak.lock();
      PodWorker* still = again ? again->find(uid) : nullptr;
      if (still != nullptr) again->report(*still);
    });
  });
}

}  // namespace node
