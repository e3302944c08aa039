// The job controller's decision: one step with memory.
//
// Reads no clock and calls no server: equal inputs give equal plans. The Job's status holds what must survive a
// restart; memory only makes events out of differences and holds delays.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/framework/controller.h"
#include "controllers/framework/plan.h"
#include "controllers/framework/refusals.h"
#include "controllers/framework/restart_pauses.h"
#include "controllers/job/job.h"
#include "controllers/job/request.h"
#include "controllers/job/state.h"

namespace controllers::job {

// All the job controller may look at.
struct Observed {
  const api::Json* group = nullptr;    // null until it exists; a group that is being deleted counts as gone
  std::vector<const api::Json*> pods;  // the pods this job owns, by name
  std::vector<const api::Json*> commands;
  const api::Json* queue = nullptr;                          // of the job
  std::map<std::string, const api::Json*> jobs_before = {};  // by key: those that it waits for; null: there is none
  std::map<std::string, std::int64_t, std::less<>> priorities = {};  // of the PriorityClasses that its tasks name
  const Refusals* refusals = nullptr;     // what the server has refused so far; null: nothing
  const RestartPauses* pauses = nullptr;  // of tasks whose pods end young; null: there are none
};

// Finds an object of the job's namespace by its name, whoever made it. The names that a step needs follow from its
// decisions: it asks for those alone that it is about to give to new objects, or to take away.
using FindTaken = std::function<const api::Json*(const api::ResourceId& resource, std::string_view name)>;

struct SeenPod {
  std::string uid;
  std::string phase;
  std::string task;
  std::string partition;
  std::int64_t index = 0;
  std::int64_t version = 0;
  std::int64_t restarts = 0;
  bool out_of_sync = false;
};

struct Delayed {
  Request request;    // with its action
  std::string cause;  // the event it answers
  base::Time due;
};

struct Memory {
  bool looked_before = false;  // false: this process has not seen the job yet
  std::map<std::string, SeenPod> pods;
  std::string group_phase;
  std::deque<Request> requests;
  std::vector<Delayed> delayed;
  std::string last_action;
  Refusals refusals;
  RestartPauses pauses;  // by task
};

struct Options {
  int requeues_max = 15;       // below zero: no limit
  bool reads_commands = true;  // the feature gates QueueCommandSync and PriorityClass
  bool reads_priorities = true;
};

struct Decision {
  Plan plan;
  Memory memory;  // for when the plan has succeeded
};

// Turns differences between what memory saw and what is seen now into requests. Kept even if the step's plan fails.
void notice(const Job& job, const Observed& seen, base::Time now, Memory& memory);

Decision step(const Job& job, const Observed& seen, const FindTaken& find_taken, Memory memory, const Turn& turn,
              const Options& options);

// The parts of a step (sync.cc, kill.cc).
void sync(const Job& job, const Observed& seen, const FindTaken& find_taken, Rule rule, const Turn& turn, Plan& plan);
// Whether a request of one task, pod or partition is about this pod.
bool is_target(const api::Json& pod, const Request& request);
void kill(const Job& job, const Observed& seen, const FindTaken& find_taken, const Move& move, const Request& request,
          const Turn& turn, Plan& plan);
// The name under which refusals of a write are remembered: the task whose pod was refused, or the object. Empty: they
// are forgotten.
std::string refused_thing(Action::Verb verb, std::string_view kind, std::string_view name, std::string_view fate);
// True if a status in which numbers alone change has to wait; the plan then asks for another look.
bool counts_wait(const Turn& turn, Plan& plan);
Action& write_status(const Job& job, api::Json status, client::Urgency urgency, Plan& plan);

// The sentence of a scheduler about a volume that the pod waits for; empty: it waits for none.
std::string_view volume_sentence(const api::Json& pod);
// The pod's own words. Pods that do not carry all of them are somebody else's, whoever owns them.
bool names_its_owner(const api::Json& pod);
std::string task_of(const api::Json& pod);
std::int64_t index_of(const api::Json& pod);

}  // namespace controllers::job
