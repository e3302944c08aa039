// The limits of emptyDirs, of containers, and of the pod as the sum of its containers'.
#include "node/pod/disk_limits.h"

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "api/schema/quantity.h"
#include "base/format.h"

namespace node {

using api::Json;
using api::Quantity;

namespace {

// A limit of 0 is none, as a kubelet has it.
std::optional<Quantity> limit_in(const Json& value) {
  auto limit = Quantity::from_json(value);
  if (limit && limit->sign() <= 0) limit.reset();
  return limit;
}

bool is_on_disk(const Json& volume) {
  const Json& source = volume["emptyDir"];
  return source.is_object() && source["medium"].as_string().empty();
}

std::optional<Quantity> limit_of_pod(const Json& pod) {
  const api::ResourceList limits = api::containers_total(pod["spec"], "limits");
  const auto found = limits.find("ephemeral-storage");
  if (found == limits.end() || found->second.sign() <= 0) return std::nullopt;
  return found->second;
}

bool is_beyond(std::int64_t bytes, const Quantity& limit) { return Quantity::from_int(bytes) > limit; }

}  // namespace

std::optional<DiskPlaces> disk_places(const Json& pod, const PodState& state) {
  if (pod["spec"]["priority"].as_int() >= kCriticalPriority) return std::nullopt;
  bool limited = limit_of_pod(pod).has_value();
  DiskPlaces places{.pod_uid = std::string(api::uid_of(pod)), .volumes = {}};
  for (const ContainerState& container : state.containers) places.all_containers.push_back(container.name);
  for (const Json& volume : pod["spec"]["volumes"].items()) {
    if (!is_on_disk(volume)) continue;
    places.volumes.push_back(volume["name"].str());
    limited = limited || limit_in(volume["emptyDir"]["sizeLimit"]);
  }
  places.whole = limited;
  for (const ContainerState& container : state.containers)
    if (container.phase == RunPhase::kRunning) places.containers.emplace_back(container.name, container.attempt);
  return places;
}

std::optional<std::string> beyond_disk_limits(const Json& pod, const DiskUse& use) {
  std::int64_t total = 0;
  for (const Json& volume : pod["spec"]["volumes"].items()) {
    const auto used = use.volumes.find(volume["name"].str());
    if (used == use.volumes.end() || !is_on_disk(volume)) continue;
    total += used->second;
    const auto limit = limit_in(volume["emptyDir"]["sizeLimit"]);
    if (limit && is_beyond(used->second, *limit))
      return base::format("Usage of EmptyDir volume {:?} exceeds the limit {:?}. ", used->first, limit->to_string());
  }
  for (const auto& [name, bytes] : use.containers) total += bytes;
  total += use.others;
  const auto of_pod = limit_of_pod(pod);
  if (!of_pod && use.given > kGivenBytesMax)
    return base::format(
        "/etc/hosts, /etc/hostname, /etc/resolv.conf and the termination messages of the containers "
        "hold {} bytes, and without a limit of ephemeral-storage they may hold {}. ",
        use.given, kGivenBytesMax);
  if (const auto& limit = of_pod; limit && is_beyond(total, *limit))
    return base::format("Pod ephemeral local storage usage exceeds the total limit of containers {}. ",
                        limit->to_string());
  for (const Json& container : pod["spec"]["containers"].items()) {
    const auto used = use.containers.find(container["name"].str());
    const auto limit = limit_in(container["resources"]["limits"]["ephemeral-storage"]);
    if (used != use.containers.end() && limit && is_beyond(used->second, *limit))
      return base::format("Container {} exceeded its local ephemeral storage limit {:?}. ", used->first,
                          limit->to_string());
  }
  return std::nullopt;
}

}  // namespace node
