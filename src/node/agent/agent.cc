// Which pods the agent looks after: recovery, arrivals, ends of processes, the agent's own stop.
#include "node/agent/agent.h"

#include <algorithm>

#include "api/network_resources.h"
#include "base/format.h"
#include "base/log.h"
#include "node/agent/agent_state.h"
#include "node/dra/driver_host.h"
#include "node/machine/container_text.h"
#include "node/machine/huge_pages.h"
#include "node/pod/pod_specs.h"
#include "node/pod/probe.h"
#include "node/pod/volumes.h"

namespace node {

using api::Json;

namespace {

// How long the end of the agent waits for the machine, after pods have had their time.
constexpr base::Duration kCloseGrace = base::seconds(10);
// Threads for calls that hang, on the average of all pods.
constexpr std::size_t kCallsOfPod = 4;

const api::ResourceId kRuntimeClasses{"node.k8s.io", "v1", "runtimeclasses"};

}  // namespace

Agent::State::State(rt::Env& environment, client::Client& c, Options o, std::unique_ptr<Runtime> r, MachineFacts f,
                    std::unique_ptr<DraDrivers> d)
    : env(environment),
      client(c),
      options(std::move(o)),
      runtime(std::move(r)),
      loop(environment, runtime),
      streams(runtime ? runtime->streams() : nullptr),
      devices(environment, options.devices, options.data_dir + "/devices", device_callbacks()),
      drivers(std::move(d)),
      resource_claims(environment, c, drivers.get(), {claims_folder(), options.devices.cdi_folders, options.metrics},
                      claim_callbacks()),
      device_slices(environment, c, options.node_name),
      events(c, environment, options.node_name),
      node(loop, c, options, std::move(f), devices),
      pods(c, environment, options.node_name),
      config_maps(c, environment, api::resources::kConfigMaps),
      secrets(c, environment, api::resources::kSecrets),
      claims(c, environment, api::resources::kPersistentVolumeClaims),
      volumes(c, environment, api::resources::kPersistentVolumes),
      runtime_classes(c, environment, kRuntimeClasses),
      services(loop, c, options, pods, events),
      policies(loop, c, pods, events,
               [this](const std::string& uid, const base::Status& set) { sandbox_made(uid, set); }),
      disk(loop, pods, events, *this),
      pod_calls(environment, kCallsOfPod * static_cast<std::size_t>(options.pods_max)) {}

void Agent::State::open() {
  const std::weak_ptr<State> weak = weak_from_this();
  rt::Loop& mail = env.loop();
  opening = true;
  const auto held = std::make_shared<std::vector<HeldPod>>();
  const auto set_aside = std::make_shared<std::vector<Allocation>>();
  const auto claimed = std::make_shared<LocalClaims>();
  off_loop<base::Result<std::vector<RecoveredPod>>>(
      [weak, &mail, held, set_aside, claimed, folder = options.data_dir + "/devices", allocated = allocations_folder(),
       claims = claims_folder()](Runtime& machine) {
        *held = read_held(folder);
        *set_aside = read_allocations(allocated);
        *claimed = read_local_claims(claims);
        return machine.open([weak, &mail](const ExitedContainer& exit) {
          mail.post([weak, exit] {
            if (const auto self = weak.lock()) self->exited(exit);
          });
        });
      },
      [this, held, set_aside, claimed](base::Result<std::vector<RecoveredPod>> found) {
        opening = false;
        for (Allocation& one : *set_aside) allocations[one.uid] = std::move(one);
        if (stopping) return check_stopped();
        if (found.ok()) {
          devices.start(std::move(*held), runtime->name() == "process");
          begin_claims(std::move(*claimed));
        }
        opened(std::move(found));
      });
}

void Agent::State::opened(base::Result<std::vector<RecoveredPod>> found) {
  if (!found.ok()) {
    const std::string why = reason_text(found.error().message);
    base::log_error("node", why);
    node.fail(why);
    if (failed) std::exchange(failed, nullptr)(found.take_error());
    return;
  }
  clock_steps = std::make_unique<rt::ClockSteps>(env, [this] { renew_all_tokens(); });
  for (RecoveredPod& pod : *found) recovered[pod.uid] = std::move(pod);
  pods.watch().on_change([this](const Json* before, const Json* after, bool) { pod_changed(before, after); });
  const auto follow = [this](client::Informer& informer, const char* kind) {
    informer.on_change([this, kind](const Json* before, const Json* after, bool initial) {
      if (!initial) object_changed(kind, after != nullptr ? *after : *before);
    });
  };
  follow(config_maps, "ConfigMap");
  follow(secrets, "Secret");
  services.start();
  policies.start();
  pods.watch().on_synced([this] {
    forget_strangers();
    services.refresh();
    policies.refresh();
  });
  config_maps.start();
  secrets.start();
  claims.start();
  volumes.start();
  runtime_classes.start();
  node.start();
  // A pod's first look at its volumes and its variables must not come before their objects are known.
  const auto first = {&config_maps,  &secrets,          &claims,
                      &volumes,      &services.watch(), &runtime_classes,
                      &node.watch(), &policies.watch(), &policies.namespaces()};
  auto left = std::make_shared<std::size_t>(first.size());
  for (client::Informer* informer : first)
    informer->on_synced([this, left] {
      if (--*left == 0) pods.watch().start();
    });
  disk.start();
}

void Agent::State::pod_changed(const Json* before, const Json* after) {
  const std::string uid(api::uid_of(after != nullptr ? *after : *before));
  if (after == nullptr) {
    PodWorker* worker = find(uid);
    if (worker == nullptr) return;
    worker->gone = true;
    *worker->given_up = true;
    if (worker->timer != 0) env.loop().cancel(worker->timer);
    for (const ContainerState& container : worker->state.containers) containers.erase(container.id);
    pods.erase(uid);
    devices.release(uid);
    services.refresh();
    policies.refresh();
    retry_resizes();
    return erase_pod(uid);
  }
  PodWorker* worker = find(uid);
  if (worker == nullptr) {
    if (stopping) return;
    worker = &pods.add(uid);
    worker->pod = *after;
    adopt(*worker);
    begin_allocation(*worker);
  }
  take_spec(*worker, *after);
  // Also of a pod that was taken up again: its objects may have changed while nobody looked.
  if (before != nullptr && (*before)["metadata"]["labels"] != (*after)["metadata"]["labels"]) policies.refresh();
  if (before == nullptr || may_change_volumes(*before, *after)) refresh_volumes_of(uid, *worker);
  if (!worker->settled) (void)add_ephemeral_containers(worker->pod, worker->state);
  step(uid);
}

// A start that is under way would leave a container behind that belongs to nobody.
void Agent::State::erase_pod(const std::string& uid) {
  if (calls.contains(uid)) {
    to_erase.insert(uid);
    return;
  }
  call_for<int>(
      uid,
      [uid, folder = allocations_folder()](Runtime& machine) {
        machine.remove(uid, true);
        erase_allocation(folder, uid);
        return 0;
      },
      [this, uid](int) {
        resource_claims.release(uid);
        check_stopped();
      });
}

void Agent::State::exited(const ExitedContainer& exit) {
  const auto found = containers.find(exit.id);
  if (found == containers.end()) return;
  PodWorker* worker = find(found->second.first);
  if (worker == nullptr) return;
  ContainerState& container = worker->state.containers[found->second.second];
  if (container.id != exit.id) return;
  if (container.phase == RunPhase::kStarting) {
    early_exits[exit.id] = exit;
    return;
  }
  if (container.phase != RunPhase::kRunning) return;
  std::erase_if(worker->checks, [&](const auto& check) { return check.first.starts_with(exit.id); });
  container.phase = RunPhase::kEnded;
  container.ended = {exit.id, container.started, exit.finished, exit.exit_code, {}, {}};
  if (container.ended.finished < container.started) container.ended.finished = container.started;
  container.ended_at = env.uptime();
  container.ended.reason = exit.out_of_memory ? "OOMKilled" : exit.exit_code == 0 ? "Completed" : "Error";
  container.ended.message = last_words(*worker, container);
  const bool first = container.attempt == 0;
  const bool forgiven = container.ended_at - container.started_at >= kBackOffForgiven;
  container.back_off = first || forgiven ? base::Duration{} : next_back_off(container.back_off);
  if (container.back_off > base::Duration{} && will_restart(worker->pod, container) && !api::is_deleting(worker->pod) &&
      !is_over(worker->pod, worker->state) && !stopping)
    event(worker->pod, "Warning", "BackOff",
          base::format("Back-off restarting failed container {} in pod {}_{}({})", container.name,
                       api::name_of(worker->pod), api::namespace_of(worker->pod), api::uid_of(worker->pod)),
          container);
  if (!api::is_deleting(worker->pod) && !stopping &&
      restart_rule(container_spec(worker->pod, container), exit.exit_code) == "RestartAllContainers") {
    const base::Duration back_off = container.back_off;
    restart_all(worker->state);
    container.back_off = back_off;
    worker->state.sandbox = Sandbox::kLost;
  }
  // A start forgets this run, and with it what was found.
  const std::string uid = found->second.first;
  step(uid);
}

void Agent::State::object_changed(const char* kind, const Json& object) {
  objects_changed.emplace(kind, api::key_of(object));
  if (std::exchange(volumes_due, true)) return;
  env.loop().post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->volumes_due = false;
    const std::set<VolumeObject> changed = std::exchange(self->objects_changed, {});
    for (const auto& [uid, worker] : self->pods.workers())
      if (std::ranges::any_of(live_objects_of(worker->pod),
                              [&](const VolumeObject& object) { return changed.contains(object); }))
        self->refresh_volumes_of(uid, *worker);
  });
}

void Agent::State::refresh_volumes_of(const std::string& uid, PodWorker& worker) {
  if (worker.state.sandbox != Sandbox::kReady || worker.settled) return;
  std::size_t room = kVolumeBytesMax;
  const Lookups look = lookups(worker);
  for (const Json& volume : worker.pod["spec"]["volumes"].items()) {
    if (!is_live_volume(volume)) continue;
    auto spec = volume_of(worker.pod, volume, look, room);
    if (!spec.ok()) continue;                                     // running pods keep what they have
    if (worker.volumes_under_way.contains(spec->name)) continue;  // looked at again when that is done
    std::string version = version_of(*spec);
    std::string& known = worker.volume_versions[spec->name];
    if (known == version) continue;
    known = std::move(version);
    worker.volumes_under_way.insert(spec->name);
    call_for<base::Status>(
        uid, [uid, spec = *spec](Runtime& machine) { return machine.update_volume(uid, spec); },
        [this, uid, name = spec->name](base::Status updated) {
          if (!updated.ok()) base::log_error("node", updated.error().message);
          PodWorker* its = find(uid);
          if (its == nullptr) return;
          its->volumes_under_way.erase(name);
          refresh_volumes_of(uid, *its);
        });
  }
}

void Agent::State::check_stopped() {
  if (!stopping || closing) return;
  // A start under way would leave a container behind, and a runtime that is just opening does not know yet what to
  // clear.
  if ((opening || !calls.empty() || resource_claims.is_busy()) && !impatient) return;
  if (!options.leave_pods) {
    for (const auto& [uid, worker] : pods.workers()) {
      const PodState& state = worker->state;
      if (state.sandbox != Sandbox::kGone && state.sandbox != Sandbox::kNone) return;
      if (worker->reporting) return;
    }
  }
  closing = true;
  services.close();
  policies.close();
  devices.stop();
  if (drivers) drivers->stop();
  const auto end = [this] {
    if (stopped) std::exchange(stopped, nullptr)();
  };
  off_loop<int>(
      [leave = options.leave_pods](Runtime& machine) {
        machine.close(leave);
        return 0;
      },
      [end](int) { end(); });
  // A call that hangs (a dead network file system, a disk) does not keep the program.
  env.loop().after(kCloseGrace, [weak = weak_from_this(), end] {
    const auto self = weak.lock();
    if (!self || !self->stopped) return;
    base::log_error("node", "the machine does not answer: what pods have left there is cleared at the next start");
    end();
  });
}

Agent::Agent(rt::Env& env, client::Client& client, Options options) {
  MachineFacts facts = read_machine_facts(options.data_dir);
  if (options.node_name.empty()) options.node_name = facts.hostname;
  auto runtime = make_runtime(options);
  auto drivers =
      options.plugins_registry.empty() ? nullptr : make_driver_host(env, options.plugins_registry, options.metrics);
  state_ = std::make_shared<State>(env, client, std::move(options), runtime.ok() ? std::move(*runtime) : nullptr,
                                   std::move(facts), std::move(drivers));
  state_->loop.belong_to(state_);
  if (!runtime.ok()) state_->no_runtime = runtime.error().message;
}
Agent::Agent(rt::Env& env, client::Client& client, Options options, std::unique_ptr<Runtime> runtime,
             MachineFacts facts, std::unique_ptr<DraDrivers> drivers)
    : state_(std::make_shared<State>(env, client, std::move(options), std::move(runtime), std::move(facts),
                                     std::move(drivers))) {
  state_->loop.belong_to(state_);
}
Agent::~Agent() = default;

void Agent::start(std::function<void(base::Error)> failed) {
  state_->failed = std::move(failed);
  if (!state_->runtime) return state_->opened(base::make_error(base::Code::kUnavailable, state_->no_runtime));
  state_->open();
}

void Agent::stop(std::function<void()> done) {
  State& state = *state_;
  state.stopped = std::move(done);
  state.stopping = true;
  state.disk.stop();
  state.node.stop();
  state.clock_steps.reset();
  if (!state.runtime) return std::exchange(state.stopped, nullptr)();
  if (!state.options.leave_pods) {
    std::vector<std::string> uids;
    for (const auto& [uid, worker] : state.pods.workers()) {
      uids.push_back(uid);
      worker->state.stopping = true;
      if (worker->settled || is_over(worker->pod, worker->state)) continue;
      worker->state.failure_reason = kTerminated;
      worker->state.failure_message = "Pod was terminated in response to imminent node shutdown.";
    }
    for (const std::string& uid : uids) state.step(uid);
  }
  // A container that does not end in time is killed when the runtime closes.
  state.env.loop().after(state.options.stop_grace + base::seconds(5), [weak = std::weak_ptr<State>(state_)] {
    const auto self = weak.lock();
    if (!self || self->closing) return;
    self->impatient = true;
    for (const auto& [uid, worker] : self->pods.workers()) {
      worker->state.sandbox = Sandbox::kGone;
      worker->reporting = false;
    }
    self->check_stopped();
  });
  state.check_stopped();
}

std::string Agent::ends_of_stop() const {
  if (state_->options.leave_pods || !state_->runtime) return {};
  int again = 0, gone = 0;
  for (const auto& [uid, worker] : state_->pods.workers()) {
    if (worker->settled || is_over(worker->pod, worker->state)) continue;
    const bool is_made_again =
        api::controller_of(worker->pod).is_object() && api::annotation_of(worker->pod, "volcano.sh/requeue") != "false";
    ++(is_made_again ? again : gone);
  }
  const auto pods = [](int count) { return count == 1 ? std::string("1 pod is") : base::format("{} pods are", count); };
  std::string text;
  if (again > 0)
    text += base::format("{} ended and {} again with the next `volcano up`\n", pods(again),
                         again == 1 ? "starts" : "start");
  if (gone > 0)
    text +=
        base::format("{} ended for good: no job or controller makes {} again\n", pods(gone), gone == 1 ? "it" : "them");
  return text;
}

std::string Agent::gpus() const { return state_->devices.summary(); }

const std::string& Agent::node_name() const { return state_->options.node_name; }

}  // namespace node
