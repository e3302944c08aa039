// Before a pod is bound: how do its resource claims get their devices and its name?
#include "scheduler/effects/claim_binder.h"

#include "api/resource.h"
#include "base/format.h"

namespace scheduler {
namespace {

using api::Json;

constexpr int kTriesMax = 5;  // conflicts with other writers of the claim
constexpr std::string_view kFinalizer = "resource.kubernetes.io/delete-protection";

bool is_reserved_for(const Json& claim, std::string_view uid) {
  for (const Json& consumer : claim["status"]["reservedFor"].items()) {
    if (consumer["uid"].as_string() == uid) return true;
  }
  return false;
}

}  // namespace

struct ClaimBinder::State : std::enable_shared_from_this<ClaimBinder::State> {
  struct Work {
    PlannedBind plan;
    std::function<void(base::Status)> done;
    std::size_t next = 0;
    int tries = 0;
  };
  using WorkPtr = std::shared_ptr<Work>;

  explicit State(client::Client& c) : client(c) {}

  client::Request request(const std::string& key, client::Verb verb) const {
    const std::size_t slash = key.find('/');
    return {.verb = verb,
            .resource = api::resources::kResourceClaims,
            .ns = key.substr(0, slash),
            .name = key.substr(slash + 1)};
  }

  void look(const WorkPtr& work) {
    if (work->next == work->plan.claims.size()) return work->done({});
    client.call(request(work->plan.claims[work->next].key, client::Verb::kGet),
                [self = shared_from_this(), work](base::Result<Json> claim) {
                  if (!claim.ok()) return work->done(claim.take_error());
                  self->protect(work, *claim);
                });
  }

  // A claim with devices must not vanish before they are given back.
  void protect(const WorkPtr& work, const Json& claim) {
    const PlannedClaim& plan = work->plan.claims[work->next];
    if (api::uid_of(claim) != plan.uid)
      return work->done(
          base::make_error(base::Code::kConflict, base::format("resourceclaim {} was replaced", plan.key)));
    const bool has_devices = claim["status"]["allocation"].is_object();
    if (plan.allocation.is_null() && !has_devices) {
      return work->done(
          base::make_error(base::Code::kConflict, base::format("resourceclaim {} lost its allocation", plan.key)));
    }
    if (!plan.allocation.is_null() && has_devices && claim["status"]["allocation"] != plan.allocation) {
      return work->done(base::make_error(base::Code::kConflict,
                                         base::format("resourceclaim {} was allocated by somebody else", plan.key)));
    }
    bool is_protected = has_devices;
    std::vector<Json> finalizers(claim["metadata"]["finalizers"].items().begin(),
                                 claim["metadata"]["finalizers"].items().end());
    for (const Json& one : finalizers) is_protected |= one.as_string() == kFinalizer;
    if (is_protected) return reserve(work, claim);
    finalizers.emplace_back(kFinalizer);
    client::Request patch = request(plan.key, client::Verb::kPatch);
    patch.body = Json::object({{"metadata", Json::object({{"uid", plan.uid},
                                                          {"resourceVersion", api::resource_version_of(claim)},
                                                          {"finalizers", Json::array(std::move(finalizers))}})}});
    client.call(std::move(patch), [self = shared_from_this(), work](base::Result<Json> written) {
      if (written.ok()) return self->reserve(work, *written);
      self->failed(work, written.take_error());
    });
  }

  void reserve(const WorkPtr& work, const Json& claim) {
    const PlannedClaim& plan = work->plan.claims[work->next];
    if (is_reserved_for(claim, work->plan.uid) &&
        (plan.allocation.is_null() || claim["status"]["allocation"].is_object()))
      return proceed(work);
    std::vector<Json> consumers(claim["status"]["reservedFor"].items().begin(),
                                claim["status"]["reservedFor"].items().end());
    if (!is_reserved_for(claim, work->plan.uid)) {
      consumers.push_back(Json::object({{"resource", "pods"}, {"name", work->plan.pod}, {"uid", work->plan.uid}}));
    }
    Json status = Json::object({{"reservedFor", Json::array(std::move(consumers))}});
    if (!plan.allocation.is_null()) status.set("allocation", plan.allocation);
    client::Request patch = request(plan.key, client::Verb::kPatch);
    patch.subresource = "status";
    patch.body = Json::object(
        {{"metadata", Json::object({{"uid", plan.uid}, {"resourceVersion", api::resource_version_of(claim)}})},
         {"status", std::move(status)}});
    client.call(std::move(patch), [self = shared_from_this(), work](base::Result<Json> written) {
      if (written.ok()) return self->proceed(work);
      self->failed(work, written.take_error());
    });
  }

  void proceed(const WorkPtr& work) {
    ++work->next;
    work->tries = 0;
    look(work);
  }

  void failed(const WorkPtr& work, base::Error error) {
    if (error.code == base::Code::kConflict && ++work->tries < kTriesMax) return look(work);
    work->done(std::move(error));
  }

  client::Client& client;
};

ClaimBinder::ClaimBinder(client::Client& client) : state_(std::make_shared<State>(client)) {}

void ClaimBinder::bind(const PlannedBind& plan, std::function<void(base::Status)> done) {
  if (plan.claims.empty()) return done({});
  state_->look(std::make_shared<State::Work>(State::Work{plan, std::move(done)}));
}

void ClaimBinder::release(const PlannedBind& plan) {
  for (const PlannedClaim& claim : plan.claims) {
    client::Request patch = state_->request(claim.key, client::Verb::kPatch);
    patch.subresource = "status";
    patch.patch_type = client::PatchType::kStrategic;
    Json gone = Json::object({{"$patch", "delete"}, {"uid", plan.uid}});
    patch.body = Json::object({{"metadata", Json::object({{"uid", claim.uid}})},
                               {"status", Json::object({{"reservedFor", Json::array({gone})}})}});
    // Whoever cleans up after pods finds what this misses.
    state_->client.call(std::move(patch), [](base::Result<Json>) {});
  }
}

}  // namespace scheduler
