// Which pods the agent looks after: recovery, arrivals, ends of processes, the agent's own stop.
#include "node/agent/agent.h"

#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/agent/agent_state.h"
#include "node/dra/driver_host.h"
#include "node/machine/container_text.h"
#include "node/pod/pod_plan.h"
#include "node/pod/volumes.h"

namespace node {

using api::Json;

namespace {

// How long the end of the agent waits for the machine, after pods have had their time.
constexpr base::Duration kCloseGrace = base::seconds(10);
// Threads for calls that hang, on the average of all pods.
constexpr std::size_t kCallsOfPod = 4;

}  // namespace

Agent::State::State(rt::Env& env, client::Client& client, Options o, std::unique_ptr<Runtime> runtime,
                    MachineFacts facts, std::unique_ptr<DraDrivers> drivers)
    : options(std::move(o)),
      loop(env, std::move(runtime)),
      events(client, env, options.node_name),
      pods(client, env, options.node_name),
      work(loop, kCallsOfPod * static_cast<std::size_t>(options.pods_max), PodResizes::folder(options),
           {.erased = [this](const std::string& uid) { claims.keeper().release(uid); },
            .ended = [this] { check_stopped(); }}),
      devices(env, options, events, *this, [this] { node.refresh(); }),
      node(loop, client, options, std::move(facts), devices.manager()),
      claims(loop, client, options, std::move(drivers), pods, events, *this, [this] { check_stopped(); }),
      services(loop, client, options, pods, events),
      policies(loop, client, pods, events,
               [this](const std::string& uid, const base::Status& set) { sandboxes.made(uid, set); }),
      disk(loop, pods, events, *this),
      tokens(loop, client, pods, events, *this, [this](const std::string& uid) { volumes.refresh(uid); }),
      lookups(loop, client, options, node, services, tokens,
              [this](const char* kind, const Json& object) { volumes.object_changed(kind, object); }),
      volumes(loop, pods, work, lookups),
      resizes(loop, PodResizes::folder(options), node, pods, work, events, *this),
      reports(loop, client, options, pods, *this, devices, claims),
      checks(loop, options, pods, events, *this),
      images(loop, pods, events, *this, lookups, reports),
      sandboxes({.loop = loop,
                 .pods = pods,
                 .work = work,
                 .events = events,
                 .steps = *this,
                 .lookups = lookups,
                 .tokens = tokens,
                 .devices = devices,
                 .claims = claims,
                 .resizes = resizes,
                 .volumes = volumes,
                 .services = services,
                 .policies = policies},
                client),
      containers({.loop = loop,
                  .pods = pods,
                  .work = work,
                  .events = events,
                  .steps = *this,
                  .lookups = lookups,
                  .devices = devices,
                  .claims = claims,
                  .resizes = resizes,
                  .checks = checks}),
      admission(loop, pods, node, devices, events),
      recovery(loop, work, containers),
      plans({.loop = loop,
             .options = options,
             .pods = pods,
             .events = events,
             .admission = admission,
             .tokens = tokens,
             .devices = devices,
             .claims = claims,
             .resizes = resizes,
             .images = images,
             .sandboxes = sandboxes,
             .containers = containers,
             .checks = checks,
             .reports = reports},
            [this] { check_stopped(); }) {}

void Agent::State::open() {
  const std::weak_ptr<State> weak = weak_from_this();
  rt::Loop& mail = loop.env().loop();
  opening = true;
  const auto held = std::make_shared<std::vector<HeldPod>>();
  const auto set_aside = std::make_shared<std::vector<Allocation>>();
  const auto claimed = std::make_shared<LocalClaims>();
  loop.off_loop<base::Result<std::vector<RecoveredPod>>>(
      [weak, &mail, held, set_aside, claimed, folder = options.data_dir + "/devices",
       allocated = PodResizes::folder(options), claims = PodClaims::folder(options)](Runtime& machine) {
        *held = read_held(folder);
        *set_aside = read_allocations(allocated);
        *claimed = read_local_claims(claims);
        return machine.open([weak, &mail](const ExitedContainer& exit) {
          mail.post([weak, exit] {
            if (const auto self = weak.lock()) self->containers.exited(exit);
          });
        });
      },
      [this, held, set_aside, claimed](base::Result<std::vector<RecoveredPod>> found) {
        opening = false;
        resizes.start(std::move(*set_aside));
        if (stopping) return check_stopped();
        if (found.ok()) {
          devices.manager().start(std::move(*held), loop.runtime()->name() == "process");
          claims.start(std::move(*claimed));
        }
        opened(std::move(found));
      });
}

void Agent::State::cannot_run_pods(base::Error why) {
  const std::string text = reason_text(why.message);
  base::log_error("node", text);
  node.fail(text);
  if (failed) std::exchange(failed, nullptr)(std::move(why));
}

void Agent::State::opened(base::Result<std::vector<RecoveredPod>> found) {
  if (!found.ok()) return cannot_run_pods(found.take_error());
  tokens.start();
  recovery.start(std::move(*found));
  services.start();
  policies.start();
  lookups.start();
  sandboxes.watch().start();
  node.start();
  follow_pods();
  disk.start();
}

// A pod's first look at its volumes and its variables must not come before their objects are known.
void Agent::State::follow_pods() {
  pods.watch().on_change([this](const Json* before, const Json* after, bool) { pod_changed(before, after); });
  pods.watch().on_synced([this] { know_all_pods(); });
  std::vector<client::Informer*> first = lookups.watches();
  first.insert(first.end(),
               {&services.watch(), &sandboxes.watch(), &node.watch(), &policies.watch(), &policies.namespaces()});
  auto left = std::make_shared<std::size_t>(first.size());
  for (client::Informer* informer : first)
    informer->on_synced([this, left] {
      if (--*left == 0) pods.watch().start();
    });
}

void Agent::State::know_all_pods() {
  recovery.forget_others();
  resizes.forget_others();
  pods.set_complete();
  resizes.retry();
  devices.manager().keep_only([this](const std::string& uid) { return pods.has(uid); });
  // A pod that is being cleared gives its claims back when nothing of it runs.
  claims.keeper().keep_only([this](const std::string& uid) { return pods.has(uid) || work.has(uid); });
  services.refresh();
  policies.refresh();
}

void Agent::State::pod_gone(const std::string& uid) {
  PodWorker* worker = pods.find(uid);
  if (worker == nullptr) return;
  worker->gone = true;
  *worker->given_up = true;
  if (worker->timer != 0) loop.cancel(worker->timer);
  containers.forget(*worker);
  checks.forget(uid);
  tokens.forget(uid);
  volumes.forget(uid);
  pods.erase(uid);
  devices.manager().release(uid);
  services.refresh();
  policies.refresh();
  resizes.retry();
  work.erase(uid);
}

void Agent::State::pod_changed(const Json* before, const Json* after) {
  const std::string uid(api::uid_of(after != nullptr ? *after : *before));
  if (after == nullptr) return pod_gone(uid);
  PodWorker* worker = pods.find(uid);
  if (worker == nullptr) {
    if (stopping) return;
    worker = &pods.add(uid);
    worker->pod = *after;
    recovery.adopt(*worker);
    resizes.begin(*worker);
  }
  resizes.take_spec(*worker, *after);
  // Also of a pod that was taken up again: its objects may have changed while nobody looked.
  if (before != nullptr && (*before)["metadata"]["labels"] != (*after)["metadata"]["labels"]) policies.refresh();
  if (before == nullptr || may_change_volumes(*before, *after)) volumes.refresh(uid);
  if (!worker->settled) (void)add_ephemeral_containers(worker->pod, worker->state);
  step(uid);
}

void Agent::State::stop() {
  stopping = true;
  disk.stop();
  node.stop();
  claims.stop();
  resizes.stop();
  containers.stop();
  tokens.stop();
  if (loop.runtime() == nullptr) return std::exchange(stopped, nullptr)();
  if (!options.leave_pods) end_pods();
  // A container that does not end in time is killed when the runtime closes.
  loop.after(options.stop_grace + base::seconds(5), [this] { give_up_waiting(); });
  check_stopped();
}

void Agent::State::end_pods() {
  std::vector<std::string> uids;
  for (const auto& [uid, worker] : pods.workers()) {
    uids.push_back(uid);
    worker->state.stopping = true;
    if (worker->settled || is_over(worker->pod, worker->state)) continue;
    worker->state.failure_reason = kTerminated;
    worker->state.failure_message = "Pod was terminated in response to imminent node shutdown.";
  }
  for (const std::string& uid : uids) step(uid);
}

void Agent::State::give_up_waiting() {
  if (closing) return;
  impatient = true;
  for (const auto& [uid, worker] : pods.workers()) {
    worker->state.sandbox = Sandbox::kGone;
    worker->reporting = false;
  }
  check_stopped();
}

bool Agent::State::waits_for_pods() const {
  for (const auto& [uid, worker] : pods.workers()) {
    const Sandbox sandbox = worker->state.sandbox;
    if ((sandbox != Sandbox::kGone && sandbox != Sandbox::kNone) || worker->reporting) return true;
  }
  return false;
}

void Agent::State::check_stopped() {
  if (!stopping || closing) return;
  // A start under way would leave a container behind, and a runtime that is just opening does not know yet what to
  // clear.
  if ((opening || !work.is_idle() || claims.keeper().is_busy()) && !impatient) return;
  if (options.leave_pods || !waits_for_pods()) close();
}

void Agent::State::close() {
  closing = true;
  services.close();
  policies.close();
  devices.manager().stop();
  claims.close();
  const auto end = [this] {
    if (stopped) std::exchange(stopped, nullptr)();
  };
  loop.off_loop<int>(
      [leave = options.leave_pods](Runtime& machine) {
        machine.close(leave);
        return 0;
      },
      [end](int) { end(); });
  // A call that hangs (a dead network file system, a disk) does not keep the program.
  loop.after(kCloseGrace, [this, end] {
    if (!stopped) return;
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
  state_->loop.guard().belong_to(state_);
  if (!runtime.ok()) state_->no_runtime = runtime.error().message;
}
Agent::Agent(rt::Env& env, client::Client& client, Options options, std::unique_ptr<Runtime> runtime,
             MachineFacts facts, std::unique_ptr<DraDrivers> drivers)
    : state_(std::make_shared<State>(env, client, std::move(options), std::move(runtime), std::move(facts),
                                     std::move(drivers))) {
  state_->loop.guard().belong_to(state_);
}
Agent::~Agent() = default;

void Agent::start(std::function<void(base::Error)> failed) {
  state_->failed = std::move(failed);
  if (state_->loop.runtime() == nullptr)
    return state_->cannot_run_pods(base::make_error(base::Code::kUnavailable, state_->no_runtime));
  state_->open();
}

void Agent::stop(std::function<void()> done) {
  state_->stopped = std::move(done);
  state_->stop();
}

std::string Agent::ends_of_stop() const {
  if (state_->options.leave_pods || state_->loop.runtime() == nullptr) return {};
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

std::string Agent::gpus() const { return state_->devices.manager().summary(); }

const std::string& Agent::node_name() const { return state_->options.node_name; }

}  // namespace node
