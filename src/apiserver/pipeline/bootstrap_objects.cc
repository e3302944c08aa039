// Creations at every start, and updates of roles that lack something.
#include "apiserver/pipeline/bootstrap_objects.h"

#include <memory>

#include "api/meta/resource.h"
#include "apiserver/pipeline/rights/default_roles.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::Result;

namespace {

Request request_for(Verb verb, Json object) {
  Request request;
  request.verb = verb;
  request.kind = api::find_kind_named(object["apiVersion"].as_string(), object["kind"].as_string());
  request.resource = static_cast<std::uint32_t>(request.kind - api::all_kinds().data());
  request.ns = api::namespace_of(object);
  if (verb == Verb::kUpdate) request.name = api::name_of(object);
  request.user = {"system:apiserver", {"system:masters"}};
  request.body = std::move(object);
  request.default_manager = "kube-apiserver";
  return request;
}

std::vector<Json> first_objects() {
  std::vector<Json> all;
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease", "volcano-system"})
    all.push_back(
        Json::object({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Json::object({{"name", name}})}}));
  for (const auto& [name, value] :
       {std::pair{"system-node-critical", 2'000'001'000}, std::pair{"system-cluster-critical", 2'000'000'000}})
    all.push_back(Json::object({{"apiVersion", "scheduling.k8s.io/v1"},
                                {"kind", "PriorityClass"},
                                {"metadata", Json::object({{"name", name}})},
                                {"value", value}}));
  for (Json& role : default_roles()) all.push_back(std::move(role));
  return all;
}

struct FirstWrites : std::enable_shared_from_this<FirstWrites> {
  const store::Store& store;
  std::function<void(Request, OnAnswer)> write;
  std::function<void(base::Status)> done;
  std::size_t left = 0;
  base::Status worst = {};

  FirstWrites(const store::Store& s, std::function<void(Request, OnAnswer)> w, std::function<void(base::Status)> d)
      : store(s), write(std::move(w)), done(std::move(d)) {}

  void begin(std::vector<Json> objects) {
    left = objects.size();
    for (const Json& object : objects)
      write(request_for(Verb::kCreate, object), [self = shared_from_this(), object](Result<Answer> answer) {
        if (!answer.ok() && answer.error().code == Code::kAlreadyExists) return self->mend(object);
        self->ended(answer.ok() ? base::Status() : base::Status(answer.take_error()));
      });
  }

  void mend(const Json& ours) {
    if (!ours.has("rules") && !ours.has("roleRef")) return ended({});
    const Request request = request_for(Verb::kUpdate, ours);
    const store::ObjectPtr stored = store.find(request.resource, request.ns, request.name, store::View::kLatest);
    auto mended = stored ? mended_role(stored->json(), ours) : std::nullopt;
    if (!mended) return ended({});
    // Somebody else who writes it at this moment knows better.
    write(request_for(Verb::kUpdate, *std::move(mended)), [self = shared_from_this()](Result<Answer> answer) {
      const bool fails =
          !answer.ok() && answer.error().code != Code::kConflict && answer.error().code != Code::kNotFound;
      self->ended(fails ? base::Status(answer.take_error()) : base::Status());
    });
  }

  void ended(base::Status how) {
    if (!how.ok() && worst.ok()) worst = std::move(how);
    if (--left == 0) done(std::move(worst));
  }
};

}  // namespace

void write_bootstrap_objects(const store::Store& store, std::function<void(Request, OnAnswer)> write,
                             std::function<void(base::Status)> done) {
  std::make_shared<FirstWrites>(store, std::move(write), std::move(done))->begin(first_objects());
}

}  // namespace apiserver
