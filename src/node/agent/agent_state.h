// The agent's inside, shared by its parts: pods (agent.cc, pod_worker.cc) and the Node (node_object.cc).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "client/watch/informer.h"
#include "node/agent/agent.h"
#include "node/agent/check.h"
#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_calls.h"
#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_steps.h"
#include "node/agent/core/pod_table.h"
#include "node/agent/node/disk_watch.h"
#include "node/agent/node/node_object.h"
#include "node/agent/node/node_policies.h"
#include "node/agent/node/node_services.h"
#include "node/devices/device_manager.h"
#include "node/dra/claim_keeper.h"
#include "node/dra/slice_wiper.h"
#include "node/machine/pull_slots.h"
#include "node/pod/lookups.h"
#include "node/pod/pod_plan.h"
#include "node/pod/resize.h"
#include "node/pod/volumes.h"
#include "rt/clock_steps.h"

namespace node {

std::string token_key(const api::Json& source);

struct Agent::State : std::enable_shared_from_this<Agent::State>, PodSteps {
  State(rt::Env& environment, client::Client& c, Options o, std::unique_ptr<Runtime> r, MachineFacts f,
        std::unique_ptr<DraDrivers> d);

  rt::Env& env;
  client::Client& client;
  Options options;
  std::shared_ptr<Runtime> runtime;  // work off the loop may outlive the agent
  AgentLoop loop;
  std::unique_ptr<api::PodStreams> streams;
  DeviceManager devices;
  std::unique_ptr<DraDrivers> drivers;  // null: none can register
  ClaimKeeper resource_claims;
  SliceWiper device_slices;
  PodEvents events;
  NodeObject node;
  std::unique_ptr<rt::GrpcIo> grpc;  // of probes, from the first of that kind on; goes after the workers, who have them
  PodTable pods;
  client::Informer config_maps, secrets, claims, volumes, runtime_classes;
  NodeServices services;
  NodePolicies policies;
  DiskWatch disk;
  std::map<std::string, RecoveredPod> recovered;                          // by uid, until the pod is seen
  std::map<std::string, std::pair<std::string, std::size_t>> containers;  // by id: pod uid, index
  std::map<std::string, ExitedContainer> early_exits;  // by id: ends that came before the start was reported
  std::function<void(base::Error)> failed;
  std::function<void()> stopped;
  std::map<std::string, Allocation> allocations;  // by uid, found on disk, until the pod is seen
  bool pods_known = false;                        // all that there are were seen
  bool opening = false;                           // the call that opens the runtime is under way
  PodCalls pod_calls;
  std::map<std::string, int> calls;  // by uid: blocking calls for the pod that wait or are under way
  std::set<std::string> to_erase;    // uids of pods that are gone, once no call for them is under way
  PullSlots pulls;
  std::set<VolumeObject> objects_changed;  // what volumes may come from, in this turn of the loop
  bool volumes_due = false;                // a look at those is posted
  bool stopping = false;
  bool impatient = false;  // the time that pods and calls had when stopping is over
  bool closing = false;
  std::string no_runtime;  // why there is none
  std::unique_ptr<rt::ClockSteps> clock_steps;

  // agent_recovery.cc
  void adopt(PodWorker& worker);
  void adopt_container(PodWorker& worker, std::size_t index, const RecoveredPod* here);
  void lose_sandbox(PodWorker& worker);
  void forget_strangers();
  base::Duration uptime_of(base::Time past) const;  // what lies in the future counts as now
  std::string last_words(const PodWorker& worker, const ContainerState& container) const;

  // agent.cc
  void open();
  void opened(base::Result<std::vector<RecoveredPod>> found);
  void pod_changed(const api::Json* before, const api::Json* after);
  void exited(const ExitedContainer& exit);
  void check_stopped();
  // Lays out the volumes of pods anew that come from the object, once per turn of the loop.
  void object_changed(const char* kind, const api::Json& object);
  void refresh_volumes_of(const std::string& uid, PodWorker& worker);
  void erase_pod(const std::string& uid);

  // pod_worker.cc
  void step(const std::string& uid) override;
  void admit(PodWorker& worker);  // or refuse it, before anything of it starts
  bool lacks_ports(const PodWorker& worker) const;
  std::optional<Shortage> shortage_for(const PodWorker& worker) const;
  void fail_predicate(PodWorker& worker, const char* name, const char* description);
  void step_after(const std::string& uid, base::Duration delay) override;
  void act(PodWorker& worker, const Action& action);
  void pull(PodWorker& worker, std::size_t index);
  std::string keys_for(const PodWorker& worker);
  void image_came(PodWorker& worker, std::size_t index, const std::string& image, const ImageAnswer& answer,
                  base::Duration took);
  void image_failed(PodWorker& worker, std::size_t index, const std::string& image, const base::Error& error);
  void start_container(PodWorker& worker, std::size_t index);
  void start_answered(PodWorker& worker, std::size_t index, base::Result<StartedContainer> started);
  void cannot_be_made(PodWorker& worker, ContainerState& container, const base::Error& why);
  void finalize(PodWorker& worker);
  void report(PodWorker& worker);
  api::Json status_of(const PodWorker& worker) const;
  Lookups lookups(const PodWorker& worker);
  void event(const api::Json& pod, const char* type, const char* reason, const std::string& message,
             const ContainerState* container = nullptr);
  void event(const api::Json& pod, const char* type, const char* reason, const std::string& message,
             const ContainerState& container) {
    event(pod, type, reason, message, &container);
  }

  // pod_sandbox.cc
  void prepare(PodWorker& worker);
  // The handler of the pod's class; empty: it names none.
  base::Result<std::string> handler_of(const api::Json& pod) const;
  void sandbox_made(const std::string& uid, const base::Status& made);
  void prepare_failed(PodWorker& worker, const char* reason, const std::string& message);
  void remove(PodWorker& worker);

  // agent_ephemeral.cc
  base::Result<ContainerSpec> spec_to_start(const PodWorker& worker, const ContainerState& container);

  // pod_checks.cc
  void check(PodWorker& worker, std::size_t index, std::string what, const api::Json& handler, base::Duration timeout,
             void (State::*done)(PodWorker&, ContainerState&, const std::string&, const CheckAnswer&));
  void probe(PodWorker& worker, std::size_t index, ProbeKind kind);
  void probed(PodWorker& worker, ContainerState& container, const std::string& what, const CheckAnswer& answer);
  void post_start(PodWorker& worker, std::size_t index);
  void post_started(PodWorker& worker, ContainerState& container, const std::string& what, const CheckAnswer& answer);
  void terminate(PodWorker& worker, std::size_t index, base::Duration grace);
  void pre_stopped(PodWorker& worker, ContainerState& container, const std::string& what, const CheckAnswer& answer);
  void send_term(PodWorker& worker, ContainerState& container);

  // agent_resize.cc
  std::string allocations_folder() const;  // empty: nothing is kept
  Allocation allocation_of(const PodWorker& worker) const;
  void begin_allocation(PodWorker& worker);
  void forget_allocations();  // of pods that no longer exist
  void take_spec(PodWorker& worker, const api::Json& pod);
  api::ResourceList taken_by_others(const PodWorker& worker) const;
  void decide_resize(PodWorker& worker);
  void retry_resizes();
  void carry_out_resize(PodWorker& worker);
  void apply_resize(PodWorker& worker, const ResizeStep& next);
  void resized(PodWorker& worker, const PodResize& change, const Allocation& after, const base::Status& done);
  // Writes what is set aside, unless that is what is written; blocks, off the loop.
  std::function<base::Status()> allocation_write(PodWorker& worker);
  void keep_allocation(PodWorker& worker);
  void drop_old_conditions(const PodWorker& worker, api::Json& status) const;

  // pod_tokens.cc
  void renew_all_tokens();
  bool fetch_tokens(PodWorker& worker);  // true while one that the pod needs is not there
  void ask_for_token(PodWorker& worker, const api::Json& source, PodToken& token);
  void token_came(const std::string& uid, const std::string& key, base::Result<api::Json> answer);

  // agent_devices.cc
  DeviceManager::Callbacks device_callbacks();
  bool lacks_devices(PodWorker& worker);  // and the pod is refused
  bool waits_for_devices(PodWorker& worker);
  bool give_devices(const PodWorker& worker, base::Result<ContainerSpec>& spec);  // false: comes back with them
  void release_devices(const PodWorker& worker);

  // agent_claims.cc
  std::string claims_folder() const;  // empty: nothing is kept
  ClaimKeeper::Callbacks claim_callbacks();
  void begin_claims(LocalClaims kept);
  void driver_came(const std::string& driver);
  // As give_devices(), for what the container gets by its resource claims.
  bool give_claims(const PodWorker& worker, const ContainerState& container, base::Result<ContainerSpec>& spec);
  void release_claims(const PodWorker& worker);
  void tell_health(const PodWorker& worker, api::Json& status) const;
  bool awaits_drivers(const PodWorker& worker) const;  // which have not taken back yet what it has

  PodWorker* find(const std::string& uid) { return pods.find(uid); }
  template <class T>
  void off_loop(std::function<T(Runtime&)> work, std::function<void(T)> done) {
    loop.off_loop<T>(std::move(work), std::move(done));
  }
  // The same for one pod, when its turn comes: its folder is not taken away meanwhile.
  template <class T>
  void call_for(const std::string& uid, std::function<T(Runtime&)> work, std::function<void(T)> done,
                PodCalls::Part part = PodCalls::Part::kGoesOn) {
    ++calls[uid];
    auto [piece, end] = loop.piece_of<T>(std::move(work), [this, uid, done = std::move(done)](T result) {
      if (--calls[uid] == 0) calls.erase(uid);
      done(std::move(result));
      if (!calls.contains(uid) && to_erase.erase(uid) != 0) erase_pod(uid);
      check_stopped();
    });
    pod_calls.run(uid, std::move(piece), std::move(end), part);
  }
};

}  // namespace node
