// Claims, controllers.md 3.11. A generated name follows from the job's uid and the volume's index, so that a repeated
// step makes no second claim.
#include "controllers/job/volumes.h"

#include "api/resource.h"
#include "base/format.h"
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/pods.h"

namespace controllers::job {

using api::Json;

bool keep_volumes(Job& job, const Observed& seen, Plan& plan, Json& controlled) {
  if (job.volumes.empty()) return true;
  plan.begin_stage("PVCError", "Failed to create PVC, err: {}");
  bool named = false;
  for (std::size_t i = 0; i < job.volumes.size(); ++i) {
    Volume& volume = job.volumes[i];
    if (volume.claim_name.empty()) {
      const std::string text = derived_text(job.uid, base::format("claim {}", i), 12);
      volume.claim_name = base::format("{}-pvc-{}", job.name, text);
      job.object.edit_path({"spec", "volumes"}).edit(i).set("volumeClaimName", volume.claim_name);
      named = true;
    }
    controlled.set("volume-pvc-" + volume.claim_name, volume.claim_name);
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
