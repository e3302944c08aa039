// The effect of a write request, decided without doing it. Each prepare_* function reads the newest state of the store
// and returns the one change to commit; nothing else in this folder writes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/admission.h"
#include "apiserver/kinds/context.h"
#include "apiserver/pipeline/request/request.h"

namespace apiserver {

struct Change {
  enum class Action : std::uint8_t { kNone, kPut, kErase };

  Action action = Action::kNone;
  api::Json object;  // to put, or the last state of what is erased
  int status = 200;
  std::optional<api::Json> answer = {};  // sent instead of the stored object
  bool answer_has_version = false;       // it says of which version the stored object is
  std::vector<std::string> warnings = {};
  std::optional<api::Json> stored_form = {};  // of `object`, where it is stored in another version by a webhook
  // Others to put with it, before it, by the indexes of their kinds.
  std::vector<std::pair<std::uint32_t, api::Json>> also = {};
};

base::Result<Change> prepare_create(const Context& context, Request& request);
// How a name begins that the server makes up: metadata.generateName, cut so that five more characters have room.
std::string_view generated_prefix(const api::Json& metadata);
base::Result<Change> prepare_update(const Context& context, Request& request);
base::Result<Change> prepare_patch(const Context& context, Request& request);
base::Result<Change> prepare_delete(const Context& context, Request& request);
base::Result<Change> prepare_binding(const Context& context, Request& request);
base::Result<Change> prepare_eviction(const Context& context, Request& request);

// --- shared by the above (change.cc) ---

// The object of the request, as its kind has it; null: there is none. An error: it cannot be converted, or is not yet.
base::Result<store::ObjectPtr> live_object(const Context& context, const Request& request);
// Unknown fields, by the request's field validation: an error (Strict), warnings (Warn), or silence.
base::Status check_fields(Request& request, api::Json& object, std::vector<std::string>& warnings);
// Refuses an object that is larger than any that is stored, before more is done with it: what defaults make of three
// bytes can be two hundred. The store has the last word on those that are near the limit.
base::Status check_size(const api::Json& object);
// The members that identify an object are read before types are checked: it must be text where it is given.
base::Status check_identifying_types(const api::Json& object);
// The faults of a new or changed object (`before` is null for a new one) by its schema and the schema's rules. Rules
// that cost too much for the loop exhaust the context's budget there.
void check_object(const Context& context, const api::KindInfo& kind, const api::Json& object, const api::Json& before,
                  std::vector<base::Cause>& causes);
// Adds the server's findings about a definition of kinds; of other kinds nothing.
void set_status(const Context& context, const Request& request, api::Json& object);
// Prunes and fills what every stored object of the kind has.
void normalize(const api::KindInfo& kind, api::Json& object);
// The request as whoever judges it sees it.
api::AdmissionRequest review_for(const Context& context, const Request& request, api::Operation operation,
                                 const api::Json& object, const api::Json& old_object);
// Policies, what is built in, and webhooks. `object` is null where one is deleted.
base::Status run_mutating(const Context& context, Request& request, api::Operation operation, api::Json& object,
                          const api::Json& old_object, std::vector<std::string>& warnings);
// The notes of policies about the request are added to it.
base::Status run_validating(const Context& context, Request& request, api::Operation operation, const api::Json& object,
                            const api::Json& old_object, std::vector<std::string>& warnings);
// The checks and effects that every change of an existing object shares; `changed` is the wanted state.
base::Result<Change> finish_update(const Context& context, Request& request, const api::Json& old_object,
                                   api::Json changed);
// The manager's name in managedFields.
std::string manager_for(const Request& request);
// True once nothing holds an object that is being deleted.
bool may_go(const api::Json& object);

}  // namespace apiserver
