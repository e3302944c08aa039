// Before a pod is bound: how do its claims get their volumes?
#include "scheduler/effects/volume_steps.h"

#include "api/resource.h"
#include "base/format.h"

namespace scheduler {
namespace {

using api::Json;

client::Request claim_request(const std::string& key, client::Verb verb) {
  const std::size_t slash = key.find('/');
  return {.verb = verb,
          .resource = api::resources::kPersistentVolumeClaims,
          .ns = key.substr(0, slash),
          .name = key.substr(slash + 1)};
}

client::Request marking_request(const VolumeChoice& choice, const std::string& node, const Json& claim) {
  client::Request out;
  if (choice.volume.empty()) {
    out = claim_request(choice.claim, client::Verb::kPatch);
    out.body.edit_path({"metadata", "annotations", "volume.kubernetes.io/selected-node"}) = node;
    return out;
  }
  out = {.verb = client::Verb::kPatch, .resource = api::resources::kPersistentVolumes, .name = choice.volume};
  out.body.edit_path({"spec", "claimRef"}) = Json::object({{"apiVersion", "v1"},
                                                           {"kind", "PersistentVolumeClaim"},
                                                           {"namespace", api::namespace_of(claim)},
                                                           {"name", api::name_of(claim)},
                                                           {"uid", api::uid_of(claim)}});
  out.body.edit_path({"metadata", "annotations", "pv.kubernetes.io/bound-by-controller"}) = "yes";
  return out;
}

}  // namespace

Step VolumeSteps::read(const PlannedBind& plan) const {
  return Step::call(claim_request(plan.volumes[next_].claim, client::Verb::kGet));
}

Step VolumeSteps::begin(const PlannedBind& plan, const StepContext& context) {
  if (plan.volumes.empty()) return Step::done();
  deadline_ = context.uptime + plan.volume_timeout;
  return read(plan);
}

// Marks the volumes and claims one after the other, then waits for each.
Step VolumeSteps::next(const PlannedBind& plan, Reply answer, const StepContext& context) {
  if (answer == nullptr) return read(plan);
  const VolumeChoice& choice = plan.volumes[next_];
  switch (at_) {
    case At::kRead:
      if (!answer->ok()) return Step::failed(answer->error());
      at_ = At::kMark;
      return Step::call(marking_request(choice, plan.node, **answer));
    case At::kMark:
      if (!answer->ok()) return Step::failed(answer->error());
      at_ = ++next_ == plan.volumes.size() ? At::kAwait : At::kRead;
      if (at_ == At::kAwait) next_ = 0;
      return read(plan);
    case At::kAwait: break;
  }
  if (answer->ok() && (**answer)["status"]["phase"].as_string() == "Bound") {
    return ++next_ == plan.volumes.size() ? Step::done() : read(plan);
  }
  if (!answer->ok() && answer->error().code == base::Code::kNotFound) return Step::failed(answer->error());
  if (context.uptime > deadline_) {
    return Step::failed(
        base::make_error(base::Code::kTimeout, base::format("claim {} is not bound in time", choice.claim)));
  }
  return Step::wait(kVolumeLookPeriod);
}

}  // namespace scheduler
