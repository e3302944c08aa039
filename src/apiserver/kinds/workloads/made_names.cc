// Names of objects that a workload makes.
#include "apiserver/kinds/workloads/made_names.h"

#include <algorithm>
#include <string>

#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

constexpr std::size_t kPodNameMax = 63;          // the name is a hostname, and a label of the pod
constexpr std::size_t kReplicaSetNameMax = 253;  // any object's
constexpr std::size_t kHashLength = 11;          // "-" and ten letters behind a Deployment's name

void too_long(const Json& object, const std::string& what, std::size_t length, std::size_t most,
              std::vector<base::Cause>& causes) {
  causes.push_back({"FieldValueInvalid",
                    base::format("Invalid value: {:?}: {} has {} letters, and {} are allowed",
                                 object["metadata"]["name"].as_string(), what, length, most),
                    "metadata.name"});
}

}  // namespace

void check_made_names(const api::KindInfo& kind, const Json& object, std::vector<base::Cause>& causes) {
  const std::string name = object["metadata"]["name"].str();
  if (kind.kind == "Deployment" && name.size() + kHashLength > kReplicaSetNameMax)
    too_long(object, "the name of a ReplicaSet of it", name.size() + kHashLength, kReplicaSetNameMax, causes);
  if (kind.kind != "StatefulSet") return;
  const std::int64_t replicas = object["spec"]["replicas"].as_int(1),
                     first = object["spec"]["ordinals"]["start"].as_int();
  if (replicas < 1 || first < 0) return;
  const std::string last = base::format("{}-{}", name, first + std::min<std::int64_t>(replicas, INT32_MAX) - 1);
  if (last.size() > kPodNameMax)
    too_long(object, "the name of its last pod, " + last + ",", last.size(), kPodNameMax, causes);
}

}  // namespace apiserver
