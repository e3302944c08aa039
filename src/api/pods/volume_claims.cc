// Claims that are named, and claims that are made.
#include "api/pods/volume_claims.h"

#include "api/meta/resource.h"
#include "base/format.h"

namespace api {

std::string claim_of_volume(const Json& pod, const Json& volume) {
  if (volume["ephemeral"].is_object()) return base::format("{}-{}", name_of(pod), volume["name"].as_string());
  return volume["persistentVolumeClaim"]["claimName"].str();
}

bool is_claim_of(const Json& pod, const Json& volume, const Json& claim) {
  return !volume["ephemeral"].is_object() || controller_of(claim)["uid"].as_string() == uid_of(pod);
}

}  // namespace api
