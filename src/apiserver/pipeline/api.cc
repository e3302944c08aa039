// Dispatch of requests to the prepare functions, and the commit of what they decide.
#include "apiserver/pipeline/api.h"

#include <algorithm>

#include "apiserver/kinds/pods/pod_security_labels.h"
#include "apiserver/kinds/workloads/scale.h"
#include "apiserver/pipeline/bootstrap_objects.h"
#include "apiserver/pipeline/builtin_versions.h"
#include "apiserver/pipeline/definition_keeper.h"
#include "apiserver/pipeline/read/list.h"
#include "apiserver/pipeline/read/watch.h"
#include "apiserver/pipeline/request/bounds.h"
#include "apiserver/pipeline/rights/account_book.h"
#include "apiserver/pipeline/rights/reviews.h"
#include "apiserver/pipeline/rights/secret_tokens.h"
#include "apiserver/pipeline/webhook_versions.h"
#include "apiserver/pipeline/write/change.h"
#include "apiserver/pipeline/write/collection.h"
#include "apiserver/pipeline/write/memory_bound.h"
#include "apiserver/pipeline/write/off_loop_writes.h"
#include "apiserver/pipeline/write/policy_book.h"
#include "apiserver/pipeline/write/quota_book.h"
#include "apiserver/pipeline/write/webhook_stage.h"
#include "apiserver/webhooks/webhook_book.h"
#include "base/format.h"
#include "base/log.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::Result;

namespace {

base::Error definition_goes(const Request& request) {
  base::Error error =
      base::make_error(Code::kMethodNotAllowed, "create not allowed while custom resource definition is terminating");
  error.group = request.kind->resource.group;
  error.kind = request.kind->resource.plural;
  return error;
}

base::Error not_served() {
  return base::make_error(Code::kNotFound, "the server could not find the requested resource");
}

// While a definition goes nothing of its kind comes.
base::Status check_comes(const Request& request) {
  const CustomKind* custom = custom_kind(*request.kind);
  if (custom == nullptr || !custom->deleting || request.verb != Verb::kCreate) return {};
  return definition_goes(request);
}

Result<Change> prepare_any(const Context& at, Request& request) {
  TRY_VOID(check_comes(request));
  switch (request.verb) {
    case Verb::kCreate:
      if (request.subresource == "binding") return prepare_binding(at, request);
      if (request.subresource == "eviction") return prepare_eviction(at, request);
      if (request.subresource.empty()) return prepare_create(at, request);
      break;
    case Verb::kUpdate: return prepare_update(at, request);
    case Verb::kPatch: return prepare_patch(at, request);
    case Verb::kDelete:
      if (request.subresource.empty()) return prepare_delete(at, request);
      break;
    default: break;
  }
  return base::make_error(Code::kMethodNotAllowed, "the server does not allow this method on the requested resource");
}

// Any thread.
Result<Change> prepare(const Context& at, Request& request) {
  TRY(Change change, prepare_any(at, request));
  if (!request.conversion || change.action == Change::Action::kNone) return change;
  TRY(change.stored_form, ask_conversion(at, *request.conversion->definition->stored_kind, change.object));
  return change;
}

std::string_view word(Verb verb) {
  switch (verb) {
    case Verb::kCreate: return "create";
    case Verb::kPatch: return "patch";
    case Verb::kDelete: return "delete";
    default: return "update";
  }
}

Result<Answer> get_scale(const store::Store& store, const Request& request) {
  TRY(Answer whole, get_object(store, request));
  Answer answer;
  answer.object = scale_of(*request.kind, object_of(std::move(whole)));
  return answer;
}

// Whether a webhook's rules may name what the request does.
bool may_concern(const api::policies::WebhookSet& set, const Request& request) {
  const auto about = [&](api::Operation operation) {
    return set.may_concern(operation, request.kind->resource.plural, request.subresource);
  };
  switch (request.verb) {
    case Verb::kCreate: return about(api::Operation::kCreate);
    case Verb::kUpdate:  // of what is not there it is a creation, for some kinds
      return about(api::Operation::kUpdate) || about(api::Operation::kCreate);
    case Verb::kPatch:
      return about(api::Operation::kUpdate) ||
             (request.patch_type == PatchType::kApply && about(api::Operation::kCreate));
    case Verb::kDelete: return about(api::Operation::kDelete);
    default: return false;
  }
}

Answer refused(const Refusal& refusal) {
  Answer answer;
  answer.object = refusal.status;
  answer.status = static_cast<int>(refusal.status["code"].as_int(base::http_status(Code::kDenied)));
  answer.warnings = refusal.warnings;
  bound_warnings(answer.warnings);
  return answer;
}

// The store knows neither kinds nor their words.
base::Error about(const api::KindInfo& kind, std::string_view name, base::Error error) {
  if (error.code == Code::kInvalid) return invalid(kind, name, {{"FieldValueInvalid", error.message, ""}});
  if (error.code == Code::kTooLarge) error.message = base::format("{} {}", api::qualified_plural(kind), error.message);
  error.group = kind.resource.group;
  error.kind = kind.resource.plural;
  error.name = name;
  return error;
}

}  // namespace

struct Api::State : std::enable_shared_from_this<Api::State> {
  State(rt::Env& e, store::Store& s, ApiOptions o)
      : env(e),
        store(s),
        options(std::move(o)),
        latest(s),
        side_work(e),
        converter(e, latest, options.webhook_caller),
        aside(e, side_work, latest, options.hooks, options.services, options.webhook_caller, converter),
        policies(s),
        webhooks(s),
        roles(s),
        accounts(s),
        quotas(e, s),
        secret_tokens(e, s),
        kinds(s),
        definitions(e, s, side_work, kinds,
                    [this](Request r, OnAnswer a) { write_by({}, std::move(r), std::move(a)); }),
        watch_slices(e) {}

  rt::Env& env;
  store::Store& store;
  ApiOptions options;
  LiveObjects latest;
  SideWork side_work;
  std::shared_ptr<StreamShares> stream_shares = std::make_shared<StreamShares>(env, StreamShares::Limits());
  Converter converter;
  OffLoopWrites aside;
  PolicyBook policies;
  WebhookBook webhooks;
  RoleBook roles;
  AccountBook accounts;
  MemoryBound memory{options.objects_bytes_max};
  QuotaBook quotas;
  SecretTokens secret_tokens;
  KindBook kinds;
  DefinitionKeeper definitions;
  WatchSlices watch_slices;

  void write(Request request, OnAnswer on_answer) {
    OffLoopWrites::RulesInForce laws{policies.current(), nullptr, request.conversion};
    if (options.webhook_caller != nullptr)
      if (auto set = webhooks.current(); set && may_concern(*set, request)) laws.webhooks = std::move(set);
    if (laws.webhooks && !laws.conversion) laws.conversion = conversion_of(request);
    if (laws.policies || laws.webhooks) laws.roles = roles.current();
    return write_by(std::move(laws), std::move(request), std::move(on_answer));
  }

  void write_by(OffLoopWrites::RulesInForce laws, Request request, OnAnswer on_answer) {
    const CustomKind* custom = custom_kind(*request.kind);
    if (is_definition(*request.kind) || laws.webhooks) request.kinds = kinds.current();
    if (!laws.webhooks && !laws.conversion && !is_long(latest, request)) {
      api::policies::Budget budget{.left = kLoopBudget};
      const bool may_take_long = laws.policies || (custom != nullptr && !custom->rules->empty());
      Request whole = may_take_long ? request : Request();
      auto prepared = prepare({.now = env.now(),
                               .random = env.random(),
                               .hooks = options.hooks,
                               .objects = latest,
                               .policies = laws.policies.get(),
                               .budget = &budget,
                               .services = options.services,
                               .roles = laws.roles,
                               .on_loop = true},
                              request);
      if (!budget.exhausted) return commit(request, std::move(prepared), std::move(on_answer));
      request = std::move(whole);
    }
    aside.decide(std::move(request), std::move(laws), prepare,
                 [self = shared_from_this(), definition = uid_of_definition(custom), on_answer = std::move(on_answer)](
                     Result<Change> prepared, const Request& decided) {
                   // One that came in the place of the one it was decided by may have another schema.
                   const bool holds = self->uid_of_definition(custom_kind(*decided.kind)) == definition;
                   if (!holds && prepared.ok() && prepared->action == Change::Action::kPut) prepared = not_served();
                   self->commit(decided, std::move(prepared), on_answer);
                 });
  }

  // The webhook that converts objects of the request's kind; null: strategy None, or a webhook that cannot be called.
  ConversionHookPtr conversion_of(const Request& request) const {
    const CustomKind* custom = custom_kind(*request.kind);
    if (custom == nullptr || !custom->converts_by_webhook) return nullptr;
    const DefinitionPtr definition = definition_of(*custom);
    return definition ? conversion_hook(definition) : nullptr;
  }

  // As it is in force now; null: it is gone.
  DefinitionPtr definition_of(const CustomKind& custom) const {
    const auto served = kinds.current();
    const auto& all = served->definitions();
    const auto found = std::ranges::lower_bound(
        all, custom.definition, {}, [](const DefinitionPtr& one) -> const std::string& { return one->name; });
    return found == all.end() || (*found)->name != custom.definition ? nullptr : *found;
  }

  // As it is stored; empty: there is none.
  std::string uid_of_definition(const CustomKind* custom) const {
    if (custom == nullptr) return {};
    static const auto table = static_cast<std::uint32_t>(api::find_kind(api::resources::kCustomResourceDefinitions) -
                                                         api::all_kinds().data());
    const store::ObjectPtr stored = store.find(table, "", custom->definition, store::View::kLatest);
    return stored ? stored->uid : "";
  }

  // The definition may have gone while the write waited for webhooks; nothing would serve the object or delete it.
  base::Status check_defined(const Request& request, const Json& object) const {
    const CustomKind* custom = custom_kind(*request.kind);
    if (custom == nullptr) return {};
    const DefinitionPtr definition = definition_of(*custom);
    if (!definition) return not_served();
    const bool is_new =
        !store.find(request.resource, api::namespace_of(object), api::name_of(object), store::View::kLatest);
    return definition->deleting && is_new ? base::Status(definition_goes(request)) : base::Status();
  }

  // Requests that are answered, and not stored.
  Result<Answer> ask(const Request& request) {
    const AccountTokens* tokens = options.account_tokens.get();
    Answer answer;
    answer.status = 201;
    if (request.subresource != "token") {
      TRY(answer.object, review(request, *roles.current(), latest, tokens, env.now()));
      return answer;
    }
    if (tokens == nullptr) return base::make_error(Code::kUnavailable, "there are no tokens of service accounts here");
    TRY(answer.object, tokens->issue(latest, request, env.now()));
    return answer;
  }

  // The user and request of a write, and the notes of policies: for whoever reads the server's log.
  static void publish_audit_annotations(const Request& request) {
    if (request.decided_annotations) *request.decided_annotations = request.audit_annotations;
    for (const std::string& audit_annotation : request.audit_annotations)
      base::log_info("apiserver", base::format("audit: {} {} {} {}: {}", request.user.name, word(request.verb),
                                               api::qualified_plural(*request.kind),
                                               request.ns.empty() ? request.name : request.ns + "/" + request.name,
                                               audit_annotation));
  }

  // By what is stored in this very turn.
  base::Status check_put(const Request& request, const Json& object) const {
    TRY_VOID(check_defined(request, object));
    TRY_VOID(check_rights_given(request, object, roles, latest));
    return quotas.check(request, object);
  }

  // An answer that nothing was left to do, or that an object is there, or is not, must hold also after a crash: what
  // says so may be a write under way.
  void answer_when_settled(const Request& request, Result<Answer> answer, OnAnswer on_answer) {
    const bool is_final = answer.ok() || answer.error().code == Code::kNotFound ||
                          answer.error().code == Code::kConflict || answer.error().code == Code::kAlreadyExists;
    if (!is_final) return on_answer(std::move(answer));
    store.settle([answer = std::move(answer), on_answer = std::move(on_answer), kind = request.kind,
                  holds = request.holds_kind, name = request.name](Result<store::ObjectPtr> settled) mutable {
      if (!settled.ok()) return on_answer(about(*kind, name, settled.take_error()));
      on_answer(std::move(answer));
    });
  }

  // Puts what goes with the change. False: the store does not take it, and says why later. On a full disk the change
  // itself, which may give room, would go through.
  bool put_also(const Request& request, Change& change, const OnAnswer& on_answer) {
    for (auto& [resource, object] : change.also) {
      const std::string ns(api::namespace_of(object)), name(api::name_of(object));
      const store::ObjectPtr before = store.find(resource, ns, name, store::View::kLatest);
      const auto refused = std::make_shared<OnAnswer>();
      store.put(resource, std::move(object),
                [refused, asked = request.name, kind = request.kind,
                 holds = request.holds_kind](Result<store::ObjectPtr> put) {
                  if (*refused && !put.ok()) (*refused)(about(*kind, asked, put.take_error()));
                });
      if (store.find(resource, ns, name, store::View::kLatest) != before) continue;
      *refused = on_answer;
      return false;
    }
    return true;
  }

  // A namespace that enforces more of pods than it did.
  void warn_of_pods(const Request& request, const Change& change, std::vector<std::string>& warnings) const {
    if (request.kind->resource != api::resources::kNamespaces || change.action != Change::Action::kPut) return;
    const store::ObjectPtr before = store.find(request.resource, "", request.name, store::View::kLatest);
    if (!before) return;
    for (std::string& warning : warnings_of_pods(store, before->json(), change.object))
      warnings.push_back(std::move(warning));
  }

  void commit(const Request& request, Result<Change> prepared, OnAnswer on_answer) {
    publish_audit_annotations(request);
    if (prepared.ok() && prepared->action == Change::Action::kPut)
      if (base::Status may = check_put(request, prepared->object); !may.ok()) prepared = may.take_error();
    if (!prepared.ok() && request.refusal) return on_answer(refused(*request.refusal));
    if (const auto full = memory.refusal(store, request, prepared)) return on_answer(refused(*full));
    if (!prepared.ok()) {
      base::Error error = prepared.take_error();
      bound_error(error);
      return answer_when_settled(request, std::move(error), std::move(on_answer));
    }
    Change change = *std::move(prepared);
    Answer answer;
    answer.status = change.status;
    answer.warnings = std::move(change.warnings);
    const CustomKind* custom = custom_kind(*request.kind);
    warn_of_pods(request, change, answer.warnings);
    bound_warnings(answer.warnings);
    if (change.action == Change::Action::kNone || request.dry_run) {
      answer.object = change.answer ? *std::move(change.answer) : std::move(change.object);
      if (request.dry_run) return on_answer(std::move(answer));
      return answer_when_settled(request, std::move(answer), std::move(on_answer));
    }
    if (!put_also(request, change, on_answer)) return;
    if (change.stored_form && !change.answer) change.answer = change.object;
    auto finish = [self = shared_from_this(), answer = std::move(answer), special = std::move(change.answer),
                   kind = request.kind, holds = request.holds_kind,
                   versioned = change.stored_form.has_value() || change.answer_has_version,
                   name = std::string(api::name_of(change.object)), erases = change.action == Change::Action::kErase,
                   on_answer](Result<store::ObjectPtr> stored) mutable {
      if (!stored.ok()) return on_answer(about(*kind, name, stored.take_error()));
      if (special) {
        answer.object = *std::move(special);
        if (versioned) answer.object.edit("metadata").set("resourceVersion", std::to_string((*stored)->revision));
      } else {
        const store::ObjectPtr object = read_as(*kind, *stored);
        answer.pieces.emplace_back(object, &object->bytes);
      }
      if (!is_definition(*kind)) return on_answer(std::move(answer));
      if (!erases) return self->definitions.put(*stored, [answer, on_answer] { on_answer(answer); });
      self->definitions.removed(name);
      on_answer(std::move(answer));
    };
    if (change.stored_form) {
      custom = request.conversion->definition->stored_kind.get();
      change.object = *std::move(change.stored_form);
    }
    if (custom != nullptr) change.object = custom->to_storage(std::move(change.object));
    if (change.action == Change::Action::kPut)
      return store.put(request.resource, std::move(change.object), std::move(finish));
    // The name comes from the object: an update may be what lets it go.
    const std::string ns(api::namespace_of(change.object));
    const std::string name(api::name_of(change.object));
    store.erase(request.resource, ns, name, std::move(change.object), std::move(finish));
  }
};

Api::Api(rt::Env& env, store::Store& store, ApiOptions options)
    : state_(std::make_shared<State>(env, store, std::move(options))) {}
Api::~Api() = default;

rt::Env& Api::env() { return state_->env; }
store::Store& Api::store() { return state_->store; }
SideWork& Api::side_work() { return state_->side_work; }
api::PodLogs* Api::pod_logs() { return state_->options.pod_logs; }
api::PodStreams* Api::pod_streams() { return state_->options.pod_streams; }
std::uint64_t Api::memory_refused() const { return state_->memory.refused(); }
StreamShares& Api::stream_shares() { return *state_->stream_shares; }
const AccountTokens* Api::account_tokens() const { return state_->options.account_tokens.get(); }
std::shared_ptr<const RoleSet> Api::roles() const { return state_->roles.current(); }
std::shared_ptr<const ServedKinds> Api::kinds() const { return state_->kinds.current(); }
bool Api::knows_account(const std::string& uid) const { return state_->accounts.knows(uid); }
bool Api::token_holds(const TokenClaims& claims) const { return holds(claims, state_->latest, state_->env.now()); }
const api::ObjectReader& Api::reader() const { return state_->latest; }

namespace {

bool needs_converter(const Request& request) {
  const CustomKind* custom = custom_kind(*request.kind);
  return custom != nullptr && custom->needs_converter;
}

// COMPAT(conversion-webhook): a definition whose webhook cannot be called.
base::Error no_converter(const Request& request) {
  return base::make_error(
      Code::kInternal,
      base::format("conversion webhook for {}, Kind={} failed: the definition names none that can be called",
                   request.kind->resource.api_version(), request.kind->kind));
}

bool reads_or_deletes(Verb verb) {
  return verb == Verb::kGet || verb == Verb::kList || verb == Verb::kDelete || verb == Verb::kDeleteCollection;
}

}  // namespace

void Api::call(Request request, OnAnswer on_answer) {
  if (const CustomKind* custom = custom_kind(*request.kind); custom != nullptr && !custom->warning.empty())
    on_answer = [warning = custom->warning, on_answer = std::move(on_answer)](Result<Answer> answer) {
      if (answer.ok()) answer->warnings.push_back(warning);
      on_answer(std::move(answer));
    };
  if (const api::OtherVersion* other = api::other_version(*request.kind)) {
    if (base::Status asked = ask_for_stored(*other, request); !asked.ok()) return on_answer(asked.take_error());
    on_answer = answer_in(*other, state_->side_work, std::move(on_answer));
  }
  if (needs_converter(request)) {
    auto hook = state_->conversion_of(request);
    if (!hook) return on_answer(no_converter(request));
    if (reads_or_deletes(request.verb)) {
      Request of_stored = in_stored_version(request, *hook);
      auto convert = converting(state_->converter, state_->side_work, std::move(hook), request, std::move(on_answer));
      if (request.verb == Verb::kGet && request.subresource == "scale") of_stored.subresource.clear();
      return call(std::move(of_stored), std::move(convert));
    }
    request.conversion = std::move(hook);
  }
  if (!request.subresource.empty() && !has_subresource(*request.kind, request.subresource))
    return on_answer(not_served());
  if (request.verb == Verb::kCreate && (is_review(*request.kind) || request.subresource == "token"))
    return on_answer(state_->ask(request));
  switch (request.verb) {
    case Verb::kGet:
      if (request.subresource == "scale") return on_answer(get_scale(state_->store, request));
      if (!request.subresource.empty() && request.subresource != "status" && request.subresource != "approval" &&
          request.subresource != "ephemeralcontainers" && request.subresource != "resize")
        return on_answer(not_served());
      return on_answer(get_object(state_->store, request));
    case Verb::kList: return list_objects(state_->side_work, state_->store, std::move(request), std::move(on_answer));
    case Verb::kDeleteCollection:
      return delete_collection(
          state_->env, state_->side_work, state_->store, std::move(request),
          [state = state_](Request one, OnAnswer done) { state->write(std::move(one), std::move(done)); },
          std::move(on_answer));
    case Verb::kWatch: return on_answer(bad_request("a watch is not a call"));
    default: return state_->write(std::move(request), std::move(on_answer));
  }
}

Result<std::unique_ptr<ApiWatch>> Api::watch(const Request& request, WatchSink sink) {
  const auto open = [this](const Request& of, WatchSink to) {
    State& s = *state_;
    return open_watch({s.env, s.store, s.side_work, s.watch_slices, s.kinds}, of, std::move(to));
  };
  if (const api::OtherVersion* other = api::other_version(*request.kind)) {
    Request of_stored = request;
    TRY_VOID(ask_for_stored(*other, of_stored));
    return open(of_stored, watch_in(*other, std::move(sink)));
  }
  if (!needs_converter(request)) return open(request, std::move(sink));
  auto hook = state_->conversion_of(request);
  if (!hook) return no_converter(request);
  return open_converting_watch(state_->converter, std::move(hook), request, std::move(sink), open);
}

void Api::bootstrap(std::function<void(base::Status)> done) {
  state_->roles.begin();
  state_->accounts.begin();
  state_->quotas.begin([weak = std::weak_ptr(state_)](Request request, OnAnswer on_answer) {
    if (const auto state = weak.lock()) state->write_by({}, std::move(request), std::move(on_answer));
  });
  state_->definitions.begin();
  if (state_->options.account_tokens)
    state_->secret_tokens.begin(state_->options.account_tokens, state_->options.root_ca,
                                [weak = std::weak_ptr(state_)](Request request, OnAnswer on_answer) {
                                  if (const auto state = weak.lock())
                                    state->write_by({}, std::move(request), std::move(on_answer));
                                });
  // By no policies: a server that these keep from starting could not be told to forget them.
  write_bootstrap_objects(
      state_->store,
      [state = state_](Request request, OnAnswer on_answer) {
        state->write_by({}, std::move(request), std::move(on_answer));
      },
      std::move(done));
}

}  // namespace apiserver
