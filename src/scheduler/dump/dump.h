// The scheduler's beliefs, for people and for replay. The model as objects of the API, from which `volcano schedule
// --as-is` decides the same as the scheduler whose model it was.
//
// Objects are rebuilt from the fields that decisions read: what nobody reads is not there, and has never been kept.
// Writes under way count as done, as they do in the model. Facts that no object of the API has are in one of our own,
// of kind SchedulerState, which comes first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/model.h"

namespace scheduler {

inline constexpr std::string_view kStateVersion = "scheduler.volcano.sh/v1";
inline constexpr std::string_view kStateKind = "SchedulerState";

struct DumpOptions {
  std::string scheduler_name = "volcano";
  std::string configuration;  // text; empty: the built-in one
  std::vector<std::string> arguments;
  base::Time now;
};

// In an order in which they can be taken in. Changes nothing but what the model remembers of its own.
std::vector<api::Json> dump(const Model& model, const Ledger& ledger, const DumpOptions& options);
// As one List, an object a line.
std::string dump_text(const Model& model, const Ledger& ledger, const DumpOptions& options);
// The same for people, a line for each node, group and domain of the network.
std::vector<std::string> dump_lines(const Model& model);

// Takes a SchedulerState into the model, before other objects.
void restore_state(const api::Json& state, Model& model);

}  // namespace scheduler
