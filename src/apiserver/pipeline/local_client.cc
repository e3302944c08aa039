// Calls are posted to the API server's loop, answers and events back to the component's.
#include "apiserver/pipeline/local_client.h"

#include <algorithm>

#include "apiserver/pipeline/client_request.h"
#include "base/format.h"
#include "client/watch/initial_events.h"
#include "store/shared_json.h"

namespace apiserver {

using api::Json;
using base::Result;

namespace {

// A watch over the two loops. The part on the API server's loop is reached only by posts to it.
class LocalWatch : public client::Watch {
 public:
  struct Shared {
    Api& api;
    rt::Loop& home;
    client::Client::OnEvent on_event;
    client::Client::OnEnd on_end;
    const api::Projection* only;      // what the component reads of each object; null: all
    bool ended = false;               // component's loop
    std::unique_ptr<ApiWatch> watch;  // API server's loop
    bool stopped = false;             // API server's loop
  };

  explicit LocalWatch(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~LocalWatch() override {
    shared_->ended = true;
    shared_->api.env().loop().post([shared = shared_] {
      shared->stopped = true;
      shared->watch.reset();
    });
  }

 private:
  std::shared_ptr<Shared> shared_;
};

using Shared = LocalWatch::Shared;

client::EventType event_type(store::EventType type) {
  switch (type) {
    case store::EventType::kAdded: return client::EventType::kAdded;
    case store::EventType::kModified: return client::EventType::kModified;
    case store::EventType::kDeleted: return client::EventType::kDeleted;
  }
  return client::EventType::kAdded;
}

void start_watch(const std::shared_ptr<Shared>& shared, Request request) {
  if (shared->stopped) return;
  const api::KindInfo& kind = *request.kind;
  WatchSink sink;
  sink.on_events = [weak = std::weak_ptr<Shared>(shared)](const WatchSlicePtr& slice) {
    const auto at = weak.lock();
    if (!at) return true;
    at->home.post([at, slice] {
      for (const store::Event& event : slice->events) {
        if (at->ended) return;
        at->on_event({event_type(event.type), store::shared_json(event.object, at->only)});
      }
    });
    return true;
  };
  sink.on_end = [weak = std::weak_ptr<Shared>(shared)] {
    const auto at = weak.lock();
    if (!at) return;
    at->watch.reset();
    at->home.post([at] {
      if (!std::exchange(at->ended, true))
        at->on_end(base::make_error(base::Code::kExpired, "the kind is another one now"));
    });
  };
  sink.on_bookmark = [weak = std::weak_ptr<Shared>(shared), &kind, holds = request.holds_kind](std::int64_t revision,
                                                                                               bool ends_initial) {
    const auto at = weak.lock();
    if (!at) return;
    Json object = client::make_bookmark(kind.kind, kind.resource.api_version(), revision, ends_initial);
    at->home.post([at, object = std::move(object)] {
      if (!at->ended) at->on_event({client::EventType::kBookmark, object});
    });
  };
  auto watch = shared->api.watch(request, std::move(sink));
  base::Status begun;
  if (watch.ok()) {
    shared->watch = *std::move(watch);
    begun = shared->watch->resume();
    if (begun.ok()) return;
    shared->watch.reset();
  } else {
    begun = watch.take_error();
  }
  shared->home.post([shared, error = begun.take_error()] {
    if (!std::exchange(shared->ended, true)) shared->on_end(error);
  });
}

std::string_view verb_name(client::Verb verb) {
  switch (verb) {
    case client::Verb::kGet: return "get";
    case client::Verb::kList: return "list";
    case client::Verb::kCreate: return "create";
    case client::Verb::kUpdate: return "update";
    case client::Verb::kPatch: return "patch";
    case client::Verb::kDelete: return "delete";
    case client::Verb::kDeleteCollection: return "deletecollection";
  }
  return {};
}

// `account`: "NAMESPACE:NAME".
UserInfo account_user(const std::string& account) {
  return {"system:serviceaccount:" + account,
          {"system:serviceaccounts", "system:serviceaccounts:" + account.substr(0, account.find(':')),
           "system:authenticated"}};
}

// A component has all rights; a service account for which it asks has its own.
base::Status check_rights(const Request& request, std::string_view verb, const RoleSet& roles) {
  const auto& groups = request.user.groups;
  if (std::find(groups.begin(), groups.end(), "system:masters") != groups.end()) return {};
  const api::ResourceId& resource = request.kind->resource;
  if (roles.allows(request.user, {std::string(verb), resource.group, resource.plural, request.subresource, request.ns,
                                  request.name, ""}))
    return {};
  return base::make_error(
      base::Code::kForbidden,
      base::format("{} {:?} is forbidden: User {:?} cannot {} resource {:?} in API group {:?} in the "
                   "namespace {:?}",
                   resource.plural, request.name, request.user.name, verb, resource.plural, resource.group,
                   request.ns));
}

class LocalClient : public client::Client {
 public:
  LocalClient(Api& api, rt::Env& env, std::string name)
      : api_(api), env_(env), name_(std::move(name)), alive_(std::make_shared<bool>(true)) {}
  ~LocalClient() override { *alive_ = false; }

  void call(client::Request from, OnResult on_result) override {
    rt::Loop& home = env_.loop();
    // Answers are read on the component's loop: the API server's has others to serve.
    auto reply = [&home, alive = alive_, only = from.only, on_result = std::move(on_result)](Result<Answer> result) {
      home.post([alive, only, on_result, result = std::move(result)]() mutable {
        if (!*alive) return;
        if (!result.ok()) return on_result(result.take_error());
        if (auto refusal = refusal_in(*result)) return on_result(*std::move(refusal));
        on_result(object_of(*std::move(result), only));
      });
    };
    const std::string account = from.account;
    const std::string_view verb = verb_name(from.verb);
    auto made = request_from(std::move(from), *api_.kinds());
    if (!made.ok()) return reply(made.take_error());
    Request request = *std::move(made);
    request.default_manager = name_;
    request.user = account.empty() ? UserInfo{"system:volcano:" + name_, {"system:masters"}} : account_user(account);
    request.field_validation = FieldValidation::kIgnore;
    api_.env().loop().post([&api = api_, verb, request = std::move(request), reply = std::move(reply)]() mutable {
      if (base::Status may = check_rights(request, verb, *api.roles()); !may.ok()) return reply(may.take_error());
      api.call(std::move(request), reply);
    });
  }

  std::unique_ptr<client::Watch> watch(client::WatchRequest from, OnEvent on_event, OnEnd on_end) override {
    auto shared = std::make_shared<Shared>(
        Shared{api_, env_.loop(), std::move(on_event), std::move(on_end), from.only, false, nullptr, false});
    auto made = request_from(std::move(from), *api_.kinds());
    if (!made.ok()) {
      env_.loop().post([shared, error = made.take_error()] {
        if (!std::exchange(shared->ended, true)) shared->on_end(error);
      });
      return std::make_unique<LocalWatch>(std::move(shared));
    }
    api_.env().loop().post([shared, request = *std::move(made)]() mutable { start_watch(shared, std::move(request)); });
    return std::make_unique<LocalWatch>(std::move(shared));
  }

 private:
  Api& api_;
  rt::Env& env_;
  std::string name_;
  std::shared_ptr<bool> alive_;  // component's loop
};

}  // namespace

std::unique_ptr<client::Client> make_local_client(Api& api, rt::Env& env, std::string name) {
  return std::make_unique<LocalClient>(api, env, std::move(name));
}

}  // namespace apiserver
