// The agent's memory of a pod's processes: the memory that decisions are made from.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"

namespace node {

// The moments that the agent waits for come at an uptime (rt::Env), because the wall clock may be set at any time.
// Times that API objects tell are the wall clock's.
struct Moment {
  base::Duration uptime;
  base::Time wall;
};

// One attempt of a container that is over.
struct EndedRun {
  std::string id;
  base::Time started;
  base::Time finished;
  int exit_code = 0;
  std::string reason;  // Completed, Error, OOMKilled, StartError, ContainerStatusUnknown
  std::string message;
};

// A container goes kNone -> kStarting -> kRunning -> kEnded; a restart raises `attempt` and begins at kNone again.
enum class RunPhase : std::uint8_t { kNone, kStarting, kRunning, kEnded };

enum class ProbeKind : std::uint8_t { kStartup, kLiveness, kReadiness };

struct ProbeState {
  bool wanted = false;
  bool holds = false;  // by the last threshold that was reached
  bool busy = false;   // asked, and not answered
  int streak = 0;      // answers in a row that were alike
  bool streak_good = false;
  base::Duration next = {};  // not asked before
};

enum class HookPhase : std::uint8_t { kDue, kBusy, kDone };  // kDone also without a hook

struct ContainerState {
  std::string name;
  bool init = false;
  bool sidecar = false;    // an init container that is restarted for ever
  bool ephemeral = false;  // added to the pod while it ran; never restarted, and the pod's phase does not know it
  int attempt = 0;         // from 0; also the restart count
  int first_attempt = 0;   // in the pod's sandbox; earlier ones belong to sandboxes that are gone
  RunPhase phase = RunPhase::kNone;
  std::string id;
  base::Time started;
  base::Duration started_at{};   // the same as an uptime
  EndedRun ended;                // valid in kEnded
  base::Duration ended_at{};     // ended.finished as an uptime
  std::optional<EndedRun> last;  // of the attempt before
  api::Json held;                // `resources` that this attempt was told to have, as far as it was started
  api::Json actual;              // the same, as the machine said then; null: not known
  base::Duration back_off{};     // between the end of this attempt and the next

  bool image_ready = false;
  bool image_busy = false;
  bool image_event = false;  // the "already present" event was sent
  std::string image_id;
  base::Duration retry_at{};  // not before; of a pull or of a start that was refused
  base::Duration retry_back_off{};
  std::string waiting_reason;  // while kNone; empty: ContainerCreating or PodInitializing
  std::string waiting_message;

  // The probes of this attempt.
  std::array<ProbeState, 3> probes;  // by ProbeKind
  HookPhase post_start = HookPhase::kDone;
  HookPhase pre_stop = HookPhase::kDone;
  std::string doom;  // set: it is to end, for this reason
  std::optional<base::Duration> doom_grace;
  bool started_once = false;  // of any attempt in the pod's sandbox: its startup probe held

  bool term_sent = false;  // or its preStop hook began
  bool kill_sent = false;
  base::Duration kill_at{};
};

// The last attempt was in a sandbox that is gone.
inline bool is_of_lost_sandbox(const ContainerState& container) { return container.attempt < container.first_attempt; }

// A resize, as the pod's conditions tell of it.
struct ResizeState {
  std::string pending;  // Deferred, Infeasible; empty: what the spec asks for is set aside
  std::string pending_message;
  std::int64_t pending_generation = 0;
  base::Duration pending_since{};
  bool in_progress = false;  // what runs does not have yet what was set aside
  std::string error;
  std::int64_t generation = 0;
  bool busy = false;
  base::Duration retry_at{};  // not before; after a failure
  base::Duration retry_back_off{};
};

// kLost: a part of it is gone. Containers that still run end, and the sandbox is made anew, unless the pod is over.
enum class Sandbox : std::uint8_t { kNone, kPreparing, kReady, kLost, kRemoving, kGone };
inline bool is_to_be_made(Sandbox sandbox) { return sandbox == Sandbox::kNone || sandbox == Sandbox::kLost; }

// Reasons of failure by which the node takes a pod away that would have run on.
inline constexpr std::string_view kEvicted = "Evicted";
inline constexpr std::string_view kTerminated = "Terminated";  // the agent itself goes down

struct PodState {
  Sandbox sandbox = Sandbox::kNone;
  std::string ip;
  base::Time start_time;
  base::Duration prepare_at{};  // not before; after a failure
  base::Duration prepare_back_off{};
  std::string failure_reason;  // set: the pod is Failed whatever its containers did
  std::string failure_message;
  ResizeState resize;
  api::Json held;           // `resources` of the pod as a whole, as its control group has them; null: it has none yet
  bool limits_held = true;  // the runtime holds containers to their limits
  bool stopping = false;    // the agent itself goes down and takes the pod with it
  // Init containers first, in the spec's order, ephemeral ones last: an index stays its container's.
  std::vector<ContainerState> containers;
};

// Back-off of restarts and pulls.
inline constexpr base::Duration kBackOffFirst = base::seconds(10);
inline constexpr base::Duration kBackOffMax = base::minutes(5);
// A container that ran this long starts over with no delay.
inline constexpr base::Duration kBackOffForgiven = base::minutes(10);

constexpr base::Duration doubled(base::Duration now, base::Duration first, base::Duration max) {
  if (now == base::Duration{}) return first;
  return now * 2 < max ? now * 2 : max;
}

constexpr base::Duration next_back_off(base::Duration now) { return doubled(now, kBackOffFirst, kBackOffMax); }

}  // namespace node
