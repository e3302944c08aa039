// Claims, controllers.md 3.11. A generated name follows from the job's uid and the volume's index, so that a repeated
// step makes no second claim.
#include "controllers/job/volumes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/pods.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::string_view kMark = "volume-pvc-";

// Claims that were made for this job and that no volume names any more: whoever wrote the job last took the names away,
// as `kubectl apply` of the job's manifest does. Read once for all volumes: a job may have thousands.
class LostClaims {
 public:
  LostClaims(const Job& job, const Json& controlled) {
    std::set<std::string_view> named;
    for (const Volume& one : job.volumes) named.insert(one.claim_name);
    for (const Json::Member& member : controlled.members()) {
      if (!member.name().starts_with(kMark)) continue;
      std::string claim(member.name().substr(kMark.size()));
      if (named.contains(claim)) continue;
      lost_.insert(claim);
      in_order_.push_back(std::move(claim));
    }
  }

  // The name of a volume that has none: what it was called, or a new name.
  std::string name_for(const Job& job, std::size_t index, const Observed& seen) {
    std::string ours = base::format("{}-pvc-{}", job.name, derived_text(job.uid, base::format("claim {}", index), 12));
    if (lost_.empty()) return ours;
    // Volcano's controller gives names that chance makes: then the pods, or else the order, say whose they are.
    std::string name = lost_.contains(ours) ? std::move(ours) : mounted_at(job.volumes[index].mount_path, seen);
    if (name.empty()) name = first();
    lost_.erase(name);
    return name;
  }

 private:
  // A lost claim that a pod has at this path; empty: none.
  std::string mounted_at(const std::string& mount_path, const Observed& seen) {
    if (!mounts_) {
      mounts_.emplace();
      for (const Json* pod : seen.pods) record_mounts(*pod);
    }
    const auto found = mounts_->find(mount_path);
    if (found == mounts_->end()) return {};
    for (const std::string& claim : found->second)
      if (lost_.contains(claim)) return claim;
    return {};
  }

  // The first volume that a pod has at a path counts.
  void record_mounts(const Json& pod) {
    std::map<std::string_view, std::string_view> claims;  // by volume
    for (const Json& volume : pod["spec"]["volumes"].items())
      claims.emplace(volume["name"].as_string(), volume["persistentVolumeClaim"]["claimName"].as_string());
    std::set<std::string_view> paths;
    for (const Json& container : pod["spec"]["containers"].items())
      for (const Json& mount : container["volumeMounts"].items()) {
        const auto claim = claims.find(mount["name"].as_string());
        if (claim == claims.end() || !paths.insert(mount["mountPath"].as_string()).second) continue;
        if (!lost_.contains(claim->second)) continue;
        std::vector<std::string>& known = (*mounts_)[mount["mountPath"].str()];
        if (known.empty() || known.back() != claim->second) known.emplace_back(claim->second);
      }
  }

  std::string first() {
    while (!lost_.contains(in_order_[next_])) ++next_;
    return in_order_[next_];
  }

  std::vector<std::string> in_order_;  // also those that were found again
  std::size_t next_ = 0;
  std::set<std::string, std::less<>> lost_;
  std::optional<std::map<std::string, std::vector<std::string>>> mounts_;  // by path, once somebody has asked
};

}  // namespace

bool has_nameless_claim(const Job& job) {
  return std::any_of(job.volumes.begin(), job.volumes.end(), [](const Volume& one) { return one.claim_name.empty(); });
}

bool keep_volumes(Job& job, const Observed& seen, const FindTaken& find_taken, Plan& plan, Json& controlled) {
  if (job.volumes.empty()) return true;
  plan.begin_stage("PVCError", "Failed to create PVC, err: {}");
  LostClaims lost(job, controlled);
  bool named = false;
  for (std::size_t i = 0; i < job.volumes.size(); ++i) {
    Volume& volume = job.volumes[i];
    if (volume.claim_name.empty()) {
      volume.claim_name = lost.name_for(job, i, seen);
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
    if (find_taken(api::resources::kPersistentVolumeClaims, volume.claim_name)) continue;
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
