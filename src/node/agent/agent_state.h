// The agent's inside, shared by its parts: pods (agent.cc, pod_worker.cc) and the Node (node_object.cc).
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "client/events/event_recorder.h"
#include "client/watch/informer.h"
#include "node/agent/agent.h"
#include "node/agent/allocation_facts.h"
#include "node/agent/check.h"
#include "node/agent/pod_calls.h"
#include "node/devices/device_manager.h"
#include "node/dra/claim_keeper.h"
#include "node/dra/slice_wiper.h"
#include "node/machine/pull_slots.h"
#include "node/pod/lookups.h"
#include "node/pod/pod_plan.h"
#include "node/pod/resize.h"
#include "node/pod/volumes.h"
#include "node/policies/policy_book.h"
#include "rt/clock_steps.h"

namespace node {

// A token that a pod has in a volume.
struct PodToken {
  std::string text;           // empty: it has not come
  bool asked = false;         // a request is under way
  base::Duration renew_at{};  // the uptime at which it is asked for anew
  base::Duration ask_at{};    // not earlier, after a failure
};
std::string token_key(const api::Json& source);

// One pod of this node. Only the agent's loop touches it.
struct PodWorker {
  api::Json pod;     // as last seen, with what is set aside for it in place of what its spec asks for
  api::Json wanted;  // as last seen
  ContainerAmounts set_aside;
  std::optional<PodAmounts> pod_held;  // by its control group; nothing: not known
  Allocation written;                  // on disk
  std::shared_ptr<AllocationFile> allocation_file = std::make_shared<AllocationFile>();
  bool freed = false;  // it is over, and those that wait for room were told
  PodState state;
  bool settled = false;  // it was over before this agent began: nothing is reported
  bool gone = false;     // its object is deleted
  bool refused = false;
  bool finalizing = false;  // the last DELETE is on its way
  api::Json reported;       // the status last sent
  bool reporting = false;
  bool stale_report = false;  // a write failed: send again
  int report_failures = 0;
  rt::Loop::TimerId timer = 0;
  bool stepping = false;
  std::map<std::string, std::shared_ptr<Check>> checks;  // under way: "CONTAINER_ID Readiness"
  // The pod's containers will not be started any more: its pulls end.
  std::shared_ptr<std::atomic<bool>> given_up = std::make_shared<std::atomic<bool>>(false);
  std::map<std::string, PodToken> tokens;              // by token_key()
  std::map<std::string, std::string> volume_versions;  // of live volumes: what they were laid out from
  std::set<std::string> volumes_under_way;             // live volumes that are being laid out anew
};

struct Agent::State : std::enable_shared_from_this<Agent::State> {
  State(rt::Env& environment, client::Client& c, Options o, std::unique_ptr<Runtime> r, MachineFacts f,
        std::unique_ptr<DraDrivers> d);

  rt::Env& env;
  client::Client& client;
  Options options;
  std::shared_ptr<Runtime> runtime;  // work off the loop may outlive the agent
  std::unique_ptr<api::PodStreams> streams;
  MachineFacts facts;
  api::ResourceList capacity;
  DeviceManager devices;
  std::unique_ptr<DraDrivers> drivers;  // null: none can register
  ClaimKeeper resource_claims;
  SliceWiper device_slices;
  client::EventRecorder events;
  std::unique_ptr<rt::GrpcIo> grpc;  // of probes, from the first of that kind on; goes after the workers, who have them
  client::Informer pods, config_maps, secrets, claims, volumes, services, slices, runtime_classes, own_node, policies,
      namespaces;
  std::map<std::string, std::unique_ptr<PodWorker>> workers;              // by uid
  std::map<std::string, RecoveredPod> recovered;                          // by uid, until the pod is seen
  std::map<std::string, std::pair<std::string, std::size_t>> containers;  // by id: pod uid, index
  std::map<std::string, ExitedContainer> early_exits;  // by id: ends that came before the start was reported
  std::function<void(base::Error)> failed;
  std::function<void()> stopped;
  std::map<std::string, Allocation> allocations;  // by uid, found on disk, until the pod is seen
  bool pods_known = false;                        // all that there are were seen
  bool ready = false;                             // the runtime is open
  bool opening = false;                           // the call that opens it is under way
  PodCalls pod_calls;
  std::map<std::string, int> calls;  // by uid: blocking calls for the pod that wait or are under way
  std::set<std::string> to_erase;    // uids of pods that are gone, once no call for them is under way
  PullSlots pulls;
  std::set<VolumeObject> objects_changed;            // what volumes may come from, in this turn of the loop
  bool volumes_due = false;                          // a look at those is posted
  bool services_due = false;                         // a refresh of services is posted
  bool services_busy = false;                        // the kernel's rules are being changed
  std::shared_ptr<const ServiceRules> services_set;  // in the kernel; null: not known
  base::Duration services_back_off;                  // after failures
  std::map<std::string, std::string> services_told;  // by key: why targets of a service are left out
  std::string no_policies;                           // why they have no effect; empty: they have
  bool policies_due = false;                         // a look at the rules of NetworkPolicies is posted
  bool policies_busy = false;                        // the kernel's are being changed
  PolicyBook policy_book;
  std::shared_ptr<const PolicyRules> policies_set;   // in the kernel; null: not known
  base::Duration policies_back_off;                  // after failures
  std::map<std::string, std::size_t> policies_told;  // by key: the number of rules of a policy that has too many
  std::vector<std::string> pods_to_guard;            // uids of pods that begin when the next rules are set
  std::string no_service_proxy;                      // why there is none; empty: there is
  bool stopping = false;
  bool impatient = false;  // the time that pods and calls had when stopping is over
  bool closing = false;
  std::string last_error;  // in the Ready condition
  std::unique_ptr<rt::ClockSteps> clock_steps;
  rt::Loop::TimerId node_timer = 0;    // when the Node is told of next; 0: it is being told
  bool node_due = false;               // it changed meanwhile
  base::Duration node_next{};          // no telling of it before, for what changes all the time
  std::set<std::string> stale_labels;  // of GPUs that are not here any more
  std::deque<DiskPlaces> disk_due;     // to be measured in this round
  // The measuring that is under way comes to nothing.
  std::shared_ptr<std::atomic<bool>> disk_given_up = std::make_shared<std::atomic<bool>>(false);

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

  // agent_services.cc
  bool service_proxy() const { return no_service_proxy.empty(); }
  void refresh_services();
  void set_names();
  ServiceObjects service_objects() const;
  void set_services();
  void set_services_apart(const base::Error& error);
  void tell_left_out(const std::vector<LeftOut>& left_out);
  bool lacks_ports(const PodWorker& worker) const;
  bool has_begun(const PodWorker& worker) const;  // and has not ended
  std::vector<const api::Json*> linked_services(const api::Json& pod) const;

  // agent_policies.cc
  void refresh_policies();
  PolicyObjects policy_objects() const;
  void set_policies();
  void retry_policies(const base::Error& error);
  void tell_policies_left_out();
  void pass_guarded(const std::vector<std::string>& uids, const base::Status& set);

  // pod_worker.cc
  void step(const std::string& uid);  // which lies in nothing that an action changes
  void admit(PodWorker& worker);      // or refuse it, before anything of it starts
  std::optional<Shortage> shortage_for(const PodWorker& worker) const;
  void fail_predicate(PodWorker& worker, const char* name, const char* description);
  void step_after(const std::string& uid, base::Duration delay);
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

  // agent_disk.cc
  void look_at_disk_later();
  void look_at_disk();
  void measure_next();
  void evict(PodWorker& worker, const std::string& why);

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

  // node_object.cc
  void keep_node();
  void keep_node_in(base::Duration delay);
  void refresh_node();  // soon
  void drop_old_devices(const api::Json& kept, api::Json& status);
  void write_node_status(const api::Json& status, std::function<void(base::Duration)> later);
  void keep_lease();
  api::Json node_status() const;
  // The capacity without what is set aside, and without devices.
  api::ResourceList allocatable() const;

  PodWorker* find(const std::string& uid) {
    const auto it = workers.find(uid);
    return it == workers.end() ? nullptr : it->second.get();
  }
  // Runs `work` off the loop and `done` back on it, unless the agent is gone by then.
  template <class T>
  void off_loop(std::function<T(Runtime&)> work, std::function<void(T)> done) {
    auto [piece, end] = piece_of<T>(std::move(work), std::move(done));
    env.offload(std::move(piece), std::move(end));
  }
  // The same for one pod, when its turn comes: its folder is not taken away meanwhile.
  template <class T>
  void call_for(const std::string& uid, std::function<T(Runtime&)> work, std::function<void(T)> done,
                PodCalls::Part part = PodCalls::Part::kGoesOn) {
    ++calls[uid];
    auto [piece, end] = piece_of<T>(std::move(work), [this, uid, done = std::move(done)](T result) {
      if (--calls[uid] == 0) calls.erase(uid);
      done(std::move(result));
      if (!calls.contains(uid) && to_erase.erase(uid) != 0) erase_pod(uid);
      check_stopped();
    });
    pod_calls.run(uid, std::move(piece), std::move(end), part);
  }
  // Work and its end as tasks that share the result.
  template <class T>
  std::pair<rt::Task, rt::Task> piece_of(std::function<T(Runtime&)> work, std::function<void(T)> done) {
    auto result = std::make_shared<std::optional<T>>();
    return {[runtime_kept = runtime, work = std::move(work), result] { result->emplace(work(*runtime_kept)); },
            [weak = weak_from_this(), done = std::move(done), result] {
              if (weak.lock()) done(std::move(**result));
            }};
  }
};

}  // namespace node
