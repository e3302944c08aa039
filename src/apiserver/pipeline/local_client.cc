// Calls are posted to the API server's loop, answers and events back to the component's.
#include "apiserver/pipeline/local_client.h"

namespace apiserver {

using api::Json;
using base::Result;

namespace {

Verb verb_for(client::Verb verb) {
  switch (verb) {
    case client::Verb::kGet: return Verb::kGet;
    case client::Verb::kList: return Verb::kList;
    case client::Verb::kCreate: return Verb::kCreate;
    case client::Verb::kUpdate: return Verb::kUpdate;
    case client::Verb::kPatch: return Verb::kPatch;
    case client::Verb::kDelete: return Verb::kDelete;
    case client::Verb::kDeleteCollection: return Verb::kDeleteCollection;
  }
  return Verb::kGet;
}

PatchType patch_type_for(client::PatchType type) {
  switch (type) {
    case client::PatchType::kJson: return PatchType::kJson;
    case client::PatchType::kMerge: return PatchType::kMerge;
    case client::PatchType::kStrategic: return PatchType::kStrategic;
    case client::PatchType::kApply: return PatchType::kApply;
  }
  return PatchType::kMerge;
}

Result<Request> find_resource(const api::ResourceId& id) {
  Request request;
  request.kind = api::find_kind(id);
  if (!request.kind)
    return base::make_error(base::Code::kNotFound, "the server could not find the requested resource " + id.plural);
  request.resource = static_cast<std::uint32_t>(request.kind - api::all_kinds().data());
  return request;
}

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
  sink.on_events = [weak = std::weak_ptr<Shared>(shared)](const std::vector<store::Event>& events) {
    const auto at = weak.lock();
    if (!at) return true;
    at->home.post([at, events] {
      for (const store::Event& event : events) {
        if (at->ended) return;
        at->on_event({event_type(event.type), event.object->json(at->only)});
      }
    });
    return true;
  };
  sink.on_bookmark = [weak = std::weak_ptr<Shared>(shared), &kind](std::int64_t revision, bool) {
    const auto at = weak.lock();
    if (!at) return;
    Json object = Json::object({{"kind", kind.kind},
                                {"apiVersion", kind.resource.api_version()},
                                {"metadata", Json::object({{"resourceVersion", std::to_string(revision)}})}});
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

class LocalClient : public client::Client {
 public:
  LocalClient(Api& api, rt::Env& env, std::string name)
      : api_(api), env_(env), name_(std::move(name)), alive_(std::make_shared<bool>(true)) {}
  ~LocalClient() override { *alive_ = false; }

  void call(client::Request from, OnResult on_result) override {
    rt::Loop& home = env_.loop();
    // What is answered is read on the component's loop: the API server's has others to serve.
    auto reply = [&home, alive = alive_, only = from.only, on_result = std::move(on_result)](Result<Answer> result) {
      home.post([alive, only, on_result, result = std::move(result)]() mutable {
        if (!*alive) return;
        if (!result.ok()) return on_result(result.take_error());
        on_result(object_of(*std::move(result), only));
      });
    };
    auto found = find_resource(from.resource);
    if (!found.ok()) return reply(found.take_error());
    Request request = *std::move(found);
    request.verb = verb_for(from.verb);
    request.ns = std::move(from.ns);
    request.name = std::move(from.name);
    request.subresource = std::move(from.subresource);
    request.body = std::move(from.body);
    request.patch_type = patch_type_for(from.patch_type);
    request.label_selector = std::move(from.label_selector);
    request.field_selector = std::move(from.field_selector);
    request.limit = from.limit;
    request.continue_token = std::move(from.continue_token);
    request.resource_version = std::move(from.resource_version);
    request.field_manager = std::move(from.field_manager);
    request.force = from.force;
    request.dry_run = from.dry_run;
    request.default_manager = name_;
    request.user = {"system:volcano:" + name_, {"system:masters"}};
    request.field_validation = FieldValidation::kIgnore;
    api_.env().loop().post([&api = api_, request = std::move(request), reply = std::move(reply)]() mutable {
      api.call(std::move(request), reply);
    });
  }

  std::unique_ptr<client::Watch> watch(client::WatchRequest from, OnEvent on_event, OnEnd on_end) override {
    auto shared = std::make_shared<Shared>(
        Shared{api_, env_.loop(), std::move(on_event), std::move(on_end), from.only, false, nullptr, false});
    auto found = find_resource(from.resource);
    if (!found.ok()) {
      env_.loop().post([shared, error = found.take_error()] {
        if (!std::exchange(shared->ended, true)) shared->on_end(error);
      });
      return std::make_unique<LocalWatch>(std::move(shared));
    }
    Request request = *std::move(found);
    request.verb = Verb::kWatch;
    request.ns = std::move(from.ns);
    request.label_selector = std::move(from.label_selector);
    request.field_selector = std::move(from.field_selector);
    request.resource_version = std::move(from.resource_version);
    request.bookmarks = from.bookmarks;
    api_.env().loop().post(
        [shared, request = std::move(request)]() mutable { start_watch(shared, std::move(request)); });
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
