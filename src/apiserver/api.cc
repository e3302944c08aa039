// Dispatch of requests to the prepare functions, and the commit of what they decide.
#include "apiserver/api.h"

#include "apiserver/change.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::Result;

namespace {

// The newest state, as admission rules and creates see it.
class LatestReader : public api::ObjectReader {
 public:
  explicit LatestReader(const store::Store& store) : store_(store) {}

  std::optional<Json> find(const api::ResourceId& id, std::string_view ns, std::string_view name) const override {
    const api::KindInfo* kind = api::find_kind(id);
    if (!kind) return {};
    const auto object = store_.find(index(*kind), ns, name, store::View::kLatest);
    if (!object) return {};
    return object->json();
  }
  std::vector<Json> list(const api::ResourceId& id, std::string_view ns) const override {
    std::vector<Json> objects;
    const api::KindInfo* kind = api::find_kind(id);
    if (!kind) return objects;
    store_.for_each(index(*kind), ns, "", store::View::kLatest, [&](const store::ObjectPtr& object) {
      objects.push_back(object->json());
      return true;
    });
    return objects;
  }

 private:
  static std::uint32_t index(const api::KindInfo& kind) {
    return static_cast<std::uint32_t>(&kind - api::all_kinds().data());
  }

  const store::Store& store_;
};

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

struct Api::State {
  rt::Env& env;
  store::Store& store;
  ApiOptions options;
  LatestReader reader;

  Context context() { return {env, store, options.hooks, reader}; }

  Result<Change> prepare(Request& request) {
    const Context at = context();
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

  void write(Request& request, OnAnswer on_answer) {
    auto prepared = prepare(request);
    if (!prepared.ok()) return on_answer(prepared.take_error());
    Change change = *std::move(prepared);
    Answer answer;
    answer.status = change.status;
    answer.warnings = std::move(change.warnings);
    if (change.action == Change::Action::kNone || request.dry_run) {
      answer.object = change.answer ? *std::move(change.answer) : std::move(change.object);
      return on_answer(std::move(answer));
    }
    auto finish = [answer = std::move(answer), special = std::move(change.answer), kind = request.kind,
                   name = std::string(api::name_of(change.object)),
                   on_answer](Result<store::ObjectPtr> stored) mutable {
      if (!stored.ok()) return on_answer(about(*kind, name, stored.take_error()));
      if (special)
        answer.object = *std::move(special);
      else
        answer.pieces.emplace_back(*stored, &(*stored)->bytes);
      on_answer(std::move(answer));
    };
    if (change.action == Change::Action::kPut)
      return store.put(request.resource, std::move(change.object), std::move(finish));
    // The name comes from the object: an update may be what lets it go.
    const std::string ns(api::namespace_of(change.object));
    const std::string name(api::name_of(change.object));
    store.erase(request.resource, ns, name, std::move(change.object), std::move(finish));
  }

  void delete_collection(Request& request, OnAnswer on_answer) {
    auto listed = list_objects(store, request);
    if (!listed.ok()) return on_answer(listed.take_error());
    const Json all = object_of(*std::move(listed));
    auto left = std::make_shared<std::size_t>(all["items"].size());
    auto first_error = std::make_shared<std::optional<base::Error>>();
    auto done = [left, first_error, on_answer, all](Result<Answer> one) {
      if (!one.ok() && one.error().code != Code::kNotFound && !*first_error) *first_error = one.take_error();
      if (--*left > 0) return;
      if (*first_error) return on_answer(**first_error);
      Answer answer;
      answer.object = all;
      on_answer(std::move(answer));
    };
    if (*left == 0) {
      Answer answer;
      answer.object = all;
      return on_answer(std::move(answer));
    }
    for (const Json& item : all["items"].items()) {
      Request one = request;
      one.verb = Verb::kDelete;
      one.ns = api::namespace_of(item);
      one.name = api::name_of(item);
      write(one, done);
    }
  }
};

Api::Api(rt::Env& env, store::Store& store, ApiOptions options)
    : state_(std::make_shared<State>(State{env, store, std::move(options), LatestReader(store)})) {}
Api::~Api() = default;

rt::Env& Api::env() { return state_->env; }
store::Store& Api::store() { return state_->store; }
api::PodLogs* Api::pod_logs() { return state_->options.pod_logs; }
const api::ObjectReader& Api::reader() const { return state_->reader; }

void Api::call(Request request, OnAnswer on_answer) {
  if (!request.subresource.empty() && !has_subresource(*request.kind, request.subresource))
    return on_answer(base::make_error(Code::kNotFound, "the server could not find the requested resource"));
  switch (request.verb) {
    case Verb::kGet:
      if (!request.subresource.empty() && request.subresource != "status")
        return on_answer(base::make_error(Code::kNotFound, "the server could not find the requested resource"));
      return on_answer(get_object(state_->store, request));
    case Verb::kList: return on_answer(list_objects(state_->store, request));
    case Verb::kDeleteCollection: return state_->delete_collection(request, std::move(on_answer));
    case Verb::kWatch: return on_answer(bad_request("a watch is not a call"));
    default: return state_->write(request, std::move(on_answer));
  }
}

void Api::bootstrap(std::function<void(base::Status)> done) {
  std::vector<Request> requests;
  const auto add = [&](const api::ResourceId& id, const std::string& ns, Json object) {
    Request request;
    request.verb = Verb::kCreate;
    request.kind = api::find_kind(id);
    request.resource = static_cast<std::uint32_t>(request.kind - api::all_kinds().data());
    request.ns = ns;
    request.body = std::move(object);
    request.default_manager = "kube-apiserver";
    requests.push_back(std::move(request));
  };
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease", "volcano-system"})
    add(api::resources::kNamespaces, "", Json::object({{"metadata", Json::object({{"name", name}})}}));
  for (const auto& [name, value] :
       {std::pair{"system-node-critical", 2'000'001'000}, std::pair{"system-cluster-critical", 2'000'000'000}})
    add(api::resources::kPriorityClasses, "",
        Json::object({{"metadata", Json::object({{"name", name}})}, {"value", value}}));
  auto left = std::make_shared<std::size_t>(requests.size());
  auto failed = std::make_shared<std::optional<base::Error>>();
  for (Request& request : requests)
    state_->write(request, [left, failed, done](Result<Answer> answer) {
      if (!answer.ok() && answer.error().code != Code::kAlreadyExists && !*failed) *failed = answer.take_error();
      if (--*left == 0) done(*failed ? base::Status(**failed) : base::Status());
    });
}

}  // namespace apiserver
