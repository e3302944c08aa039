// Stages in order, the actions of a stage a limited number at a time.
#include "controllers/framework/execution.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "api/path_names.h"
#include "base/format.h"
#include "client/watch/identity_parts.h"
#include "controllers/framework/off_loop.h"
#include "controllers/framework/refusals.h"

namespace controllers {

using api::Json;

bool is_old_view(base::Code code) {
  return code == base::Code::kConflict || code == base::Code::kAlreadyExists || code == base::Code::kNotFound;
}

bool is_outage(const base::Error& error) {
  const base::Code code = error.code;
  // COMPAT(outages): a webhook that is down refuses all objects alike. One that judged begins with its own name.
  if (code == base::Code::kInternal)
    return error.message.starts_with("Internal error occurred: failed calling webhook ");
  return code == base::Code::kUnauthorized || code == base::Code::kUnavailable || code == base::Code::kTimeout ||
         code == base::Code::kTooManyRequests;
}

namespace {

// Writes of one plan that may be under way at a time.
constexpr int kInFlightMax = 64;

// Fates whose creations may be refused until no more are tried: the server is spared what a job of very many tasks over
// its quota would ask for again and again.
constexpr std::size_t kRefusedFatesMax = 64;

// `text` with "{}" replaced.
std::string filled_in(std::string text, const std::string& what) {
  if (const std::size_t hole = text.find("{}"); hole != std::string::npos) text.replace(hole, 2, what);
  return text;
}

// A real failure outweighs an old view, and what can never be accepted outweighs what time may cure.
int weight_of(const base::Error& error) { return is_old_view(error.code) ? 0 : can_never_be(error) ? 2 : 1; }

base::Error worst_of(const std::vector<Failure>& failures) {
  return std::ranges::max_element(failures, {}, [](const Failure& one) { return weight_of(one.error); })->error;
}

client::Request get_of(const Action& action) {
  return {.verb = client::Verb::kGet,
          .resource = action.resource,
          .ns = action.ns,
          .name = action.name,
          .subresource = action.subresource,
          .account = action.account};
}

struct Execution : std::enable_shared_from_this<Execution> {
  Execution(const ExecutionPlace& at, client::EventRecorder& r, Plan p, std::function<void(Outcome)> d)
      : env(at.env),
        client(at.client),
        recorder(r),
        prober(at.prober),
        secret_bytes(at.secret_bytes),
        slots(at.slots),
        number(slots->next_number()),
        plan(std::move(p)),
        done(std::move(d)) {}

  rt::Env& env;
  client::Client& client;
  client::EventRecorder& recorder;
  Prober& prober;
  SecretBytes secret_bytes;
  std::shared_ptr<CreateSlots> slots;
  CreateSlots::PlanNumber number;
  Plan plan;
  std::function<void(Outcome)> done;
  Outcome outcome;
  std::size_t stage = 0;
  std::size_t next = 0;
  int in_flight = 0;
  bool pumping = false;
  std::vector<base::Error> errors;
  std::set<std::string, std::less<>> refused;  // fates
  bool stopped = false;                        // nothing more begins
  std::size_t failed_stage = 0;                // the first with errors

  std::map<std::pair<std::string, std::string>, std::vector<std::string>> successes;  // names by reason and text
  std::map<std::string, std::string> versions;  // of objects this plan wrote already

  static std::string id(const Action& action) { return action.resource.plural + " " + action.ns + "/" + action.name; }

  void pump();
  bool may_begin(const Action& action) const;
  void begin_those_that_may(bool& waits);
  bool has_slot(const std::vector<Action>& actions);
  void failed(const Action& action, base::Error error);
  void end();
  void run(const Action& action);
  void send(const Action& action, Json body);
  void correct_existing(const Action& action, const Json& body);
  void look_at_existing(const Action& action);
  void remove_owned(const Action& action);
  void fetch(const Action& action);
  void probe(const Action& action);
  void answered(const Action& action, base::Result<Json> result);
  void take_answer(const Action& action, const Json& answer);
  void stage_failed();
  void report_successes();
};

void Execution::report_successes() {
  constexpr std::size_t kNamesMax = 16;
  for (const auto& [event, names] : std::exchange(successes, {})) {
    std::string list;
    for (std::size_t i = 0; i < std::min(names.size(), kNamesMax); ++i) list += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kNamesMax) list += base::format(" and {} more", names.size() - kNamesMax);
    recorder.record(plan.subject(), {"Normal", event.first, filled_in(event.second, list)});
  }
}

// Actions that are not creations need none.
bool Execution::has_slot(const std::vector<Action>& actions) {
  if (actions[next].verb != Action::Verb::kCreate) return true;
  return slots->take(number, actions.size() - next, [self = shared_from_this()] { self->pump(); });
}

void Execution::end() {
  slots->withdraw(number);
  done(std::move(outcome));
}

bool Execution::may_begin(const Action& action) const {
  if (refused.contains(action.fate)) return false;
  return errors.empty() || (!stopped && !action.fate.empty());
}

void Execution::begin_those_that_may(bool& waits) {
  const std::vector<Action>& actions = plan.stages()[stage].actions;
  while (next < actions.size() && in_flight < kInFlightMax && !waits) {
    if (!may_begin(actions[next])) {
      ++next;
      continue;
    }
    waits = !has_slot(actions);
    if (!waits) run(actions[next++]);
  }
}

void Execution::pump() {
  if (pumping) return;
  pumping = true;
  for (;;) {
    if (!errors.empty() && in_flight == 0 && (stopped || stage == plan.stages().size())) {
      report_successes();
      stage_failed();
      return end();
    }
    if (stage == plan.stages().size()) {
      outcome.error = plan.failure();
      if (!outcome.error && !outcome.failures.empty()) outcome.error = worst_of(outcome.failures);
      return end();
    }
    bool waits = false;
    begin_those_that_may(waits);
    if (in_flight > 0 || waits) break;
    report_successes();
    if (next == plan.stages()[stage].actions.size()) {
      ++stage;
      next = 0;
    }
  }
  pumping = false;
}

void Execution::run(const Action& action) {
  if (action.verb == Action::Verb::kEvent) {
    recorder.record(action.body, {action.event_type, action.event_reason, action.event_message});
    return;
  }
  ++in_flight;
  if (action.verb == Action::Verb::kFetch) return fetch(action);
  if (action.verb == Action::Verb::kProbe) return probe(action);
  if (action.verb == Action::Verb::kRequireGone && !api::can_be_a_name(action.name))
    return answered(action, base::make_error(base::Code::kNotFound, "no object has such a name"));
  // Instead of DeleteOptions the uid of the controller that it must have.
  if (action.verb == Action::Verb::kDelete && action.body.is_string()) return remove_owned(action);
  if (!is_off_loop(action)) return send(action, action.body);
  auto made = std::make_shared<base::Result<Json>>(Json());
  std::string chance = action.addition == Addition::kSshAuthPair ? secret_bytes(kSecretBytes) : "";
  env.offload(
      [self = shared_from_this(), &action, made, chance = std::move(chance)] { *made = do_off_loop(action, chance); },
      [self = shared_from_this(), &action, made] {
        if (action.verb == Action::Verb::kRemoveTree)
          self->answered(action, std::move(*made));
        else if (made->ok())
          self->send(action, **made);
        else
          self->answered(action, made->take_error());
      });
}

void Execution::send(const Action& action, Json body) {
  client::Request request;
  request.resource = action.resource;
  request.ns = action.ns;
  request.name = action.name;
  request.subresource = action.subresource;
  request.field_manager = action.field_manager;
  request.account = action.account;
  request.urgency = action.urgency;
  request.only = &client::identity_parts();
  using Verb = Action::Verb;
  switch (action.verb) {
    case Verb::kCreate: request.verb = client::Verb::kCreate; break;
    case Verb::kUpdate: request.verb = client::Verb::kUpdate; break;
    case Verb::kPatch:
      request.verb = client::Verb::kPatch;
      request.patch_type = action.patch_type;
      break;
    case Verb::kDelete: request.verb = client::Verb::kDelete; break;
    case Verb::kStatus:
      request.verb = client::Verb::kUpdate;
      request.subresource = "status";
      break;
    case Verb::kApplyStatus:
      request.verb = client::Verb::kPatch;
      request.patch_type = client::PatchType::kApply;
      request.subresource = "status";
      request.force = true;
      break;
    case Verb::kFetch:
    case Verb::kRequireGone: request.verb = client::Verb::kGet; break;
    case Verb::kDeleteAll: request.verb = client::Verb::kDeleteCollection; break;
    case Verb::kRemoveTree:
    case Verb::kProbe:
    case Verb::kEvent: break;
  }
  const auto written = versions.find(id(action));
  if (written != versions.end() && request.verb == client::Verb::kUpdate)
    body.edit("metadata").set("resourceVersion", written->second);
  Json kept = action.existing_has ? body : Json();
  if (action.verb != Verb::kRequireGone) request.body = std::move(body);
  client.call(std::move(request),
              [self = shared_from_this(), &action, kept = std::move(kept)](base::Result<Json> result) {
                const bool taken = !result.ok() && result.error().code == base::Code::kAlreadyExists;
                if (taken && action.existing_has)
                  self->correct_existing(action, kept);
                else if (taken && action.existing_is_fine && !api::controller_of(action.body).is_null())
                  self->look_at_existing(action);
                else
                  self->answered(action, std::move(result));
              });
}

void Execution::correct_existing(const Action& action, const Json& body) {
  const client::Request get = get_of(action);
  client.call(get, [self = shared_from_this(), &action, body, get](base::Result<Json> existing) {
    if (existing.ok())
      if (const base::Status ours = is_taken_over(action, *existing); !ours.ok())
        return self->answered(action, ours.error());
    if (!existing.ok() || is_right(action, *existing)) return self->answered(action, std::move(existing));
    client::Request put = get;
    put.verb = client::Verb::kUpdate;
    put.body = *std::move(existing);
    put.body.set("data", body["data"]);
    self->client.call(std::move(put),
                      [self, &action](base::Result<Json> result) { self->answered(action, std::move(result)); });
  });
}

// One that exists is fine, but not that of an earlier object of the same name: it goes with that object.
void Execution::look_at_existing(const Action& action) {
  client.call(get_of(action), [self = shared_from_this(), &action](const base::Result<Json>& existing) {
    base::Error answer = base::make_error(base::Code::kAlreadyExists, "it exists");
    if (existing.ok()) {
      if (const base::Status ours = is_taken_over(action, *existing);
          !ours.ok() && ours.error().code == base::Code::kConflict)
        answer = ours.error();
    } else if (existing.error().code == base::Code::kNotFound) {
      answer = base::make_error(base::Code::kConflict,
                                base::format("{} {}/{} has just gone", action.kind, action.ns, action.name));
    } else if (is_outage(existing.error())) {
      answer = existing.error();
    }
    self->answered(action, std::move(answer));
  });
}

// Only the server knows whose the objects are that no view holds.
void Execution::remove_owned(const Action& action) {
  client.call(get_of(action), [self = shared_from_this(), &action](base::Result<Json> found) {
    if (!found.ok()) return self->answered(action, std::move(found));
    if (api::controller_of(*found)["uid"].as_string() != action.body.as_string())
      return self->answered(
          action, base::make_error(base::Code::kNotFound,
                                   base::format("{} {}/{} is somebody else's", action.kind, action.ns, action.name)));
    Plan one;
    self->send(action, one.remove(action.resource, *found).body);
  });
}

void Execution::fetch(const Action& action) {
  client::Request get = get_of(action);
  const std::size_t slot = outcome.fetched.size();
  outcome.fetched.emplace_back();
  if (!api::can_be_a_name(action.name)) return answered(action, Json());
  client.call(std::move(get), [self = shared_from_this(), &action, slot](base::Result<Json> result) {
    if (result.ok())
      self->outcome.fetched[slot] = *std::move(result);
    else if (result.error().code != base::Code::kNotFound)
      return self->answered(action, std::move(result));
    self->answered(action, Json());
  });
}

void Execution::probe(const Action& action) {
  const std::size_t slot = outcome.answers.size();
  outcome.answers.emplace_back();
  prober.ask(action.probe, [self = shared_from_this(), &action, slot](Answer answer) {
    self->outcome.answers[slot] = std::move(answer);
    self->answered(action, Json());
  });
}

void Execution::answered(const Action& action, base::Result<Json> result) {
  --in_flight;
  if (action.verb == Action::Verb::kRequireGone) {
    if (result.ok()) {
      if (const std::string_view uid = action.body.as_string(); uid.empty() || uid == api::uid_of(*result))
        failed(action, base::make_error(base::Code::kConflict,
                                        base::format("{} {} is there after all", action.kind, action.name)));
    } else if (result.error().code != base::Code::kNotFound) {
      failed(action, result.take_error());
    }
  } else if (result.ok()) {
    take_answer(action, *result);
    if (action.verb == Action::Verb::kCreate && !action.fate.empty()) outcome.made.insert(action.fate);
    if (!action.success_name.empty())
      successes[{action.success_reason, action.success_text}].push_back(action.success_name);
    else if (!action.success_reason.empty())
      recorder.record(plan.subject(), {"Normal", action.success_reason, action.success_text});
  } else {
    const base::Code code = result.error().code;
    const bool fine = (code == base::Code::kNotFound && action.missing_is_fine) ||
                      (code == base::Code::kAlreadyExists && action.existing_is_fine);
    if (!fine && !action.failure_reason.empty() && !is_old_view(code))
      recorder.record(plan.subject(),
                      {"Warning", action.failure_reason, filled_in(action.failure_text, result.error().message)});
    if (!fine) outcome.refused.push_back({action.verb, action.kind, action.name, action.fate, result.error()});
    if (!fine && action.stops_nothing) {
      if (!action.fate.empty() && !is_old_view(code)) refused.insert(action.fate);
      outcome.failures.push_back({action.kind, action.name, result.take_error()});
    } else if (!fine) {
      failed(action, result.take_error());
    }
  }
  // Before the slot goes on: a plan with the next creation at hand asks with the others.
  pump();
  if (action.verb == Action::Verb::kCreate) slots->give_back();
}

void Execution::failed(const Action& action, base::Error error) {
  if (errors.empty()) failed_stage = stage;
  stopped = stopped || action.fate.empty() || is_outage(error);
  if (!action.fate.empty()) refused.insert(action.fate);
  if (action.verb == Action::Verb::kCreate && refused.size() >= kRefusedFatesMax) stopped = true;
  errors.push_back(std::move(error));
}

void Execution::take_answer(const Action& action, const Json& answer) {
  const std::string key = action.ns.empty() ? action.name : action.ns + "/" + action.name;
  const std::string version(api::resource_version_of(answer));
  switch (action.verb) {
    case Action::Verb::kCreate:
      outcome.written.push_back({Written::Change::kCreated, action.resource, key, "", ""});
      break;
    case Action::Verb::kUpdate:
    case Action::Verb::kStatus: {
      const auto earlier = versions.find(id(action));
      const std::string before =
          earlier != versions.end() ? earlier->second : std::string(api::resource_version_of(action.body));
      if (!version.empty() && version != before)
        outcome.written.push_back({Written::Change::kChanged, action.resource, key, "", before});
      break;
    }
    case Action::Verb::kDelete:
      outcome.written.push_back(
          {Written::Change::kDeleted, action.resource, key, action.body["preconditions"]["uid"].str(), ""});
      break;
    default: break;
  }
  if (!version.empty() && action.verb != Action::Verb::kDelete) versions[id(action)] = version;
}

void Execution::stage_failed() {
  const Stage& failed = plan.stages()[failed_stage];
  std::string texts;
  for (const base::Error& error : errors)
    if (!is_old_view(error.code)) texts += (texts.empty() ? "" : " ") + error.message;
  outcome.error = *std::ranges::max_element(errors, {}, weight_of);
  for (const base::Error& error : errors) outcome.failures.push_back({"", "", error});
  if (texts.empty() || failed.failure_reason.empty()) return;
  if (!failed.actions.empty()) {
    const Json& about = plan.subject();
    if (!about.is_null())
      recorder.record(about, {"Warning", failed.failure_reason, filled_in(failed.failure_text, texts)});
  }
}

}  // namespace

void execute(const ExecutionPlace& place, client::EventRecorder& recorder, Plan plan,
             std::function<void(Outcome)> done) {
  std::make_shared<Execution>(place, recorder, std::move(plan), std::move(done))->pump();
}

}  // namespace controllers
