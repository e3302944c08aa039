// Before a pod is bound: how do its claims get their volumes?
#include "scheduler/effects/volume_binder.h"

#include "api/resource.h"
#include "base/format.h"

namespace scheduler {
namespace {

constexpr base::Duration kLookPeriod = base::milliseconds(100);

using api::Json;

}  // namespace

struct VolumeBinder::State : std::enable_shared_from_this<VolumeBinder::State> {
  struct Work {
    PlannedBind plan;
    std::function<void(base::Status)> done;
    base::Duration deadline;
    std::size_t next = 0;
  };
  using WorkPtr = std::shared_ptr<Work>;

  State(client::Client& c, rt::Env& e) : client(c), env(e) {}

  client::Request claim_request(const WorkPtr& work, client::Verb verb) const {
    const std::string& key = work->plan.volumes[work->next].claim;
    const std::size_t slash = key.find('/');
    return {.verb = verb,
            .resource = api::resources::kPersistentVolumeClaims,
            .ns = key.substr(0, slash),
            .name = key.substr(slash + 1)};
  }

  // Marks the volumes and claims one after the other, then waits for each.
  void mark(const WorkPtr& work) {
    if (work->next == work->plan.volumes.size()) {
      work->next = 0;
      return wait(work);
    }
    client.call(claim_request(work, client::Verb::kGet), [self = shared_from_this(), work](base::Result<Json> claim) {
      if (!claim.ok()) return work->done(claim.take_error());
      const VolumeChoice& choice = work->plan.volumes[work->next];
      client::Request request;
      if (choice.volume.empty()) {
        request = self->claim_request(work, client::Verb::kPatch);
        request.body.edit_path({"metadata", "annotations", "volume.kubernetes.io/selected-node"}) = work->plan.node;
      } else {
        request = {.verb = client::Verb::kPatch, .resource = api::resources::kPersistentVolumes, .name = choice.volume};
        request.body.edit_path({"spec", "claimRef"}) = Json::object({{"apiVersion", "v1"},
                                                                     {"kind", "PersistentVolumeClaim"},
                                                                     {"namespace", api::namespace_of(*claim)},
                                                                     {"name", api::name_of(*claim)},
                                                                     {"uid", api::uid_of(*claim)}});
        request.body.edit_path({"metadata", "annotations", "pv.kubernetes.io/bound-by-controller"}) = "yes";
      }
      self->client.call(std::move(request), [self, work](base::Result<Json> written) {
        if (!written.ok()) return work->done(written.take_error());
        ++work->next;
        self->mark(work);
      });
    });
  }

  void wait(const WorkPtr& work) {
    if (work->next == work->plan.volumes.size()) return work->done({});
    client.call(claim_request(work, client::Verb::kGet), [self = shared_from_this(), work](base::Result<Json> claim) {
      if (claim.ok() && (*claim)["status"]["phase"].as_string() == "Bound") {
        ++work->next;
        return self->wait(work);
      }
      if (!claim.ok() && claim.error().code == base::Code::kNotFound) return work->done(claim.take_error());
      if (self->env.uptime() > work->deadline) {
        return work->done(base::make_error(
            base::Code::kTimeout, base::format("claim {} is not bound in time", work->plan.volumes[work->next].claim)));
      }
      self->env.loop().after(kLookPeriod, [weak = std::weak_ptr<State>(self), work] {
        if (auto again = weak.lock()) again->wait(work);
      });
    });
  }

  client::Client& client;
  rt::Env& env;
};

VolumeBinder::VolumeBinder(client::Client& client, rt::Env& env) : state_(std::make_shared<State>(client, env)) {}

VolumeBinder::~VolumeBinder() = default;

void VolumeBinder::bind(const PlannedBind& plan, std::function<void(base::Status)> done) {
  if (plan.volumes.empty()) return done({});
  state_->mark(
      std::make_shared<State::Work>(State::Work{plan, std::move(done), state_->env.uptime() + plan.volume_timeout}));
}

}  // namespace scheduler
