// Claims, controllers.md 3.11. A generated name follows from the job's uid and the volume's index, so that a repeated
// step makes no second claim.
#include "controllers/job/volumes.h"

#include <algorithm>

#include "api/resource.h"
#include "base/format.h"
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/pods.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::string_view kMark = "volume-pvc-";

// Claims that were made for this job and that no volume names any more: whoever wrote the job last took the names away,
// as `kubectl apply` of the job's manifest does.
std::vector<std::string> lost_claims(const Job& job, const Json& controlled) {
  std::vector<std::string> lost;
  for (const Json::Member& member : controlled.members()) {
    if (!member.name().starts_with(kMark)) continue;
    const std::string claim(member.name().substr(kMark.size()));
    if (std::none_of(job.volumes.begin(), job.volumes.end(),
                     [&](const Volume& one) { return one.claim_name == claim; }))
      lost.push_back(claim);
  }
  return lost;
}

std::string claim_mounted_at(std::string_view mount_path, const Json& pod) {
  for (const Json& container : pod["spec"]["containers"].items())
    for (const Json& mount : container["volumeMounts"].items())
      for (const Json& volume : pod["spec"]["volumes"].items())
        if (mount["mountPath"].as_string() == mount_path && volume["name"] == mount["name"])
          return volume["persistentVolumeClaim"]["claimName"].str();
  return {};
}

// The name of a volume that has none: what it was called, or a new name.
std::string claim_name_for(const Job& job, std::size_t index, const Observed& seen, const Json& controlled) {
  const std::string ours =
      base::format("{}-pvc-{}", job.name, derived_text(job.uid, base::format("claim {}", index), 12));
  const std::vector<std::string> lost = lost_claims(job, controlled);
  const auto is_lost = [&lost](const std::string& claim) {
    return std::find(lost.begin(), lost.end(), claim) != lost.end();
  };
  if (lost.empty() || is_lost(ours)) return ours;
  // Volcano's controller made them, under names that chance gave.
  for (const Json* pod : seen.pods)
    if (std::string claim = claim_mounted_at(job.volumes[index].mount_path, *pod); is_lost(claim)) return claim;
  return lost.front();
}

}  // namespace

bool has_nameless_claim(const Job& job) {
  return std::any_of(job.volumes.begin(), job.volumes.end(), [](const Volume& one) { return one.claim_name.empty(); });
}

bool keep_volumes(Job& job, const Observed& seen, Plan& plan, Json& controlled) {
  if (job.volumes.empty()) return true;
  plan.begin_stage("PVCError", "Failed to create PVC, err: {}");
  bool named = false;
  for (std::size_t i = 0; i < job.volumes.size(); ++i) {
    Volume& volume = job.volumes[i];
    if (volume.claim_name.empty()) {
      volume.claim_name = claim_name_for(job, i, seen, controlled);
      job.object.edit_path({"spec", "volumes"}).edit(i).set("volumeClaimName", volume.claim_name);
      named = true;
    }
    controlled.set(std::string(kMark) + volume.claim_name, volume.claim_name);
  }
  if (named) {
    plan.update(api::resources::kJobs, job.object);
    plan.begin_stage("PVCError", "Failed to create PVC, err: {}");
  }
  for (const Volume& volume : job.volumes) {
    if (seen.view->find(api::resources::kPersistentVolumeClaims, job.ns + "/" + volume.claim_name)) continue;
    if (!volume.claim.is_object()) {
      // COMPAT(missing-claim): the job waits, as the message says; it is not terminated.
      plan.event(job.object, "Warning", "PVCError",
                 base::format("Failed to create PVC, err: pvc {} is not found, the job will be in the Pending state "
                              "until the PVC is created",
                              volume.claim_name));
      return false;
    }
    Json claim = owned_object(job, "v1", "PersistentVolumeClaim", volume.claim_name);
    claim.set("spec", volume.claim);
    plan.create(api::resources::kPersistentVolumeClaims, std::move(claim)).existing_is_fine = true;
  }
  return true;
}

}  // namespace controllers::job
