// Before a pod is bound: how do its claims get their volumes?
#include "scheduler/effects/volume_steps.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"

namespace scheduler {
namespace {

using api::Json;

constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";

client::Request claim_request(const std::string& key, client::Verb verb) {
  const std::size_t slash = key.find('/');
  return {.verb = verb,
          .resource = api::resources::kPersistentVolumeClaims,
          .ns = key.substr(0, slash),
          .name = key.substr(slash + 1)};
}

client::Request volume_request(const std::string& name, client::Verb verb) {
  return {.verb = verb, .resource = api::resources::kPersistentVolumes, .name = name};
}

Step conflict(std::string why) { return Step::failed(base::make_error(base::Code::kConflict, std::move(why))); }

// Written to the very object that was read, or not at all.
void only_as_read(client::Request& patch, const Json& object) {
  Json& metadata = patch.body.edit("metadata");
  metadata.set("uid", api::uid_of(object));
  metadata.set("resourceVersion", api::resource_version_of(object));
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

// The claim was read: which object is marked?
Step VolumeSteps::choose(const PlannedBind& plan, const Json& claim) {
  const VolumeChoice& choice = plan.volumes[next_];
  const std::string_view bound_to = claim["spec"]["volumeName"].as_string();
  if (!bound_to.empty() && bound_to != choice.volume)
    return conflict(base::format("claim {} is bound to volume {} meanwhile", choice.claim, bound_to));
  if (!choice.volume.empty()) {
    claim_uid_ = api::uid_of(claim);
    at_ = At::kReadVolume;
    return Step::call(volume_request(choice.volume, client::Verb::kGet));
  }
  client::Request patch = claim_request(choice.claim, client::Verb::kPatch);
  patch.body.edit_path({"metadata", "annotations", kSelectedNode}) = plan.node;
  only_as_read(patch, claim);
  at_ = At::kMark;
  return Step::call(std::move(patch));
}

// The volume was read: it may have become another claim's.
Step VolumeSteps::take(const PlannedBind& plan, const Json& volume) {
  const VolumeChoice& choice = plan.volumes[next_];
  const Json& holder = volume["spec"]["claimRef"];
  if (holder.is_object()) {
    const std::string name = base::format("{}/{}", holder["namespace"].as_string(), holder["name"].as_string());
    const std::string_view uid = holder["uid"].as_string();
    if (name != choice.claim || (!uid.empty() && uid != claim_uid_))
      return conflict(base::format("volume {} is taken by claim {} meanwhile", choice.volume, name));
    if (!uid.empty()) return proceed(plan);
  }
  const std::size_t slash = choice.claim.find('/');
  client::Request patch = volume_request(choice.volume, client::Verb::kPatch);
  patch.body.edit_path({"spec", "claimRef"}) = Json::object({{"apiVersion", "v1"},
                                                             {"kind", "PersistentVolumeClaim"},
                                                             {"namespace", choice.claim.substr(0, slash)},
                                                             {"name", choice.claim.substr(slash + 1)},
                                                             {"uid", claim_uid_}});
  patch.body.edit_path({"metadata", "annotations", "pv.kubernetes.io/bound-by-controller"}) = "yes";
  only_as_read(patch, volume);
  at_ = At::kMark;
  return Step::call(std::move(patch));
}

// The next claim; after the last one all are waited for, from the first.
Step VolumeSteps::proceed(const PlannedBind& plan) {
  conflicts_ = 0;
  at_ = ++next_ == plan.volumes.size() ? At::kAwait : At::kRead;
  if (at_ == At::kAwait) next_ = 0;
  return read(plan);
}

Step VolumeSteps::read_again(const PlannedBind& plan, const base::Error& error) {
  if (at_ != At::kMark || error.code != base::Code::kConflict || ++conflicts_ >= kConflictsMax)
    return Step::failed(error);
  at_ = At::kRead;
  return read(plan);
}

Step VolumeSteps::next(const PlannedBind& plan, Reply answer, const StepContext& context) {
  const std::string pod = plan.ns + "/" + plan.pod;
  if (context.pod_is_over != nullptr && (*context.pod_is_over)(pod, plan.uid))
    return Step::failed(base::make_error(base::Code::kNotFound, base::format("pod {} is over", pod)));
  if (answer == nullptr) return read(plan);
  if (at_ == At::kAwait) return await(plan, *answer, context);
  if (at_ == At::kAwaitVolume) return await_volume(plan, *answer, context);
  if (!answer->ok()) return read_again(plan, answer->error());
  if (at_ == At::kRead) return choose(plan, **answer);
  return at_ == At::kReadVolume ? take(plan, **answer) : proceed(plan);
}

Step VolumeSteps::await(const PlannedBind& plan, const base::Result<Json>& claim, const StepContext& context) {
  const VolumeChoice& choice = plan.volumes[next_];
  const std::string_view bound_to = claim.ok() ? (*claim)["spec"]["volumeName"].as_string() : "";
  // Another scheduler may have marked another volume for it.
  if (!choice.volume.empty() && !bound_to.empty() && bound_to != choice.volume)
    return conflict(base::format("claim {} is bound to volume {} meanwhile", choice.claim, bound_to));
  if (claim.ok() && (*claim)["status"]["phase"].as_string() == "Bound") {
    looks_ = 0;
    return ++next_ == plan.volumes.size() ? Step::done() : read(plan);
  }
  if (!claim.ok() && claim.error().code == base::Code::kNotFound) return Step::failed(claim.error());
  if (claim.ok()) class_name_ = (*claim)["spec"]["storageClassName"].as_string();
  if (!claim.ok() || !bound_to.empty()) return look_later(plan, context);
  // A provisioner that cannot serve the node takes its mark away, and waits for another.
  if (choice.volume.empty() && api::annotation_of(*claim, kSelectedNode).empty())
    return conflict(base::format("claim {} could not be provisioned for node {}", choice.claim, plan.node));
  // Most are bound at the second look: a volume is read only where that takes longer.
  if (choice.volume.empty() || looks_ == 0) return look_later(plan, context);
  claim_uid_ = api::uid_of(*claim);
  at_ = At::kAwaitVolume;
  return Step::call(volume_request(choice.volume, client::Verb::kGet));
}

// A chosen volume whose mark somebody has taken away is bound to nobody, or to another.
Step VolumeSteps::await_volume(const PlannedBind& plan, const base::Result<Json>& volume, const StepContext& context) {
  at_ = At::kAwait;
  if (!volume.ok() && volume.error().code == base::Code::kNotFound) return Step::failed(volume.error());
  if (!volume.ok() || (*volume)["spec"]["claimRef"]["uid"].as_string() == claim_uid_) return look_later(plan, context);
  const VolumeChoice& choice = plan.volumes[next_];
  return conflict(base::format("volume {} is not kept for claim {} any more", choice.volume, choice.claim));
}

Step VolumeSteps::look_later(const PlannedBind& plan, const StepContext& context) {
  if (context.uptime > deadline_) {
    return Step::failed(base::make_error(base::Code::kTimeout,
                                         base::format("claim {} is not bound in time", plan.volumes[next_].claim)));
  }
  const base::Duration pause = std::min(kVolumeLookFirst * (std::int64_t{1} << std::min(looks_, 10)), kVolumeLookMax);
  return Step::wait(pause, looks_++ < kVolumeLooksUntold ? std::string() : waits_for(plan));
}

// COMPAT(volume-waits)
std::string VolumeSteps::waits_for(const PlannedBind& plan) const {
  const VolumeChoice& choice = plan.volumes[next_];
  if (!choice.volume.empty())
    return base::format("claim {} is not bound to volume {} yet, which was chosen for it", choice.claim, choice.volume);
  return base::format("claim {} has no volume yet: nobody has made one{} for node {}; is its provisioner there?",
                      choice.claim, class_name_.empty() ? "" : " of class " + class_name_, plan.node);
}

}  // namespace scheduler
