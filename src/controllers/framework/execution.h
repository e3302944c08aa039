// Carries out one plan through the client, stage by stage.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/events/event_recorder.h"
#include "controllers/framework/create_slots.h"
#include "controllers/framework/plan.h"
#include "controllers/framework/prober.h"
#include "rt/env.h"

namespace controllers {

// A write that the view does not show yet, perhaps.
struct Written {
  enum class Change : std::uint8_t { kCreated, kChanged, kDeleted };
  Change change;
  api::ResourceId resource;
  std::string key;             // "ns/name" or "name"
  std::string uid;             // of what was deleted
  std::string version_before;  // of what was changed
};

struct Outcome {
  std::optional<base::Error> error;  // the first of the stage that failed
  std::vector<Written> written;
  std::vector<api::Json> fetched = {};      // of the plan's fetches, in their order; null: there is no such object
  std::vector<Answer> answers = {};         // of the plan's probes, in their order
  std::vector<Failure> failures = {};       // of actions that stop nothing, and of the stage that failed
  std::vector<RefusedAction> refused = {};  // every action that failed
  std::set<std::string> made = {};          // the fates of which an object was created
};

// Conflict, AlreadyExists, NotFound: the plan was made from an old view.
bool is_old_view(base::Code code);
// The server could not answer, or could not ask a webhook; says nothing about the object.
bool is_outage(const base::Error& error);

// Bytes that keys are made of. A simulated world draws them from its seed.
using SecretBytes = std::function<std::string(std::size_t count)>;

// The state that all plans of a driver share.
struct ExecutionPlace {
  rt::Env& env;
  client::Client& client;
  Prober& prober;
  const SecretBytes& secret_bytes;
  std::shared_ptr<CreateSlots> slots;
};

// `done` comes on the loop, once; at once if the plan is empty. It never comes for a plan that waits for a slot when
// the slots are closed.
void execute(const ExecutionPlace& place, client::EventRecorder& recorder, Plan plan,
             std::function<void(Outcome)> done);

}  // namespace controllers
