// The parts of a pod specification's rules, split by noun; pod_spec.cc puts them together. Each names what is wrong
// below `path`.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "api/pods/pod_spec.h"
#include "api/schema/field_errors.h"

namespace api {

// If spec[field] is given, it is one of `supported`.
void check_choice(const Json& object, const std::string& path, std::string_view field,
                  std::span<const std::string_view> supported, FieldErrors& errors);
// Whether `value`, at `path`, has a part "..".
void check_no_way_up(const std::string& path, std::string_view value, FieldErrors& errors);
// The fields that an environment or a file takes from the pod: {fieldPath, apiVersion}, and {resource, divisor,
// containerName}.
void check_field_ref(const Json& field, const std::string& path, std::span<const std::string_view> known,
                     FieldErrors& errors);
void check_resource_field_ref(const Json& amount, const std::string& path, FieldErrors& errors);
// Volume names that mounts may refer to.
std::set<std::string> check_pod_volumes(const Json& spec, const std::string& path, FieldErrors& errors);
void check_containers(const Json& spec, const std::string& path, const std::set<std::string>& volumes,
                      FieldErrors& errors);
enum class ResourcesOf : std::uint8_t { kContainer, kPod };
// Names, amounts, and requests against limits.
void check_resources(const Json& resources, const std::string& path, ResourcesOf whose, FieldErrors& errors);
// spec.resources: itself, and against what the containers ask for together.
void check_pod_level_resources(const Json& spec, const std::string& path, FieldErrors& errors);
// The names that containers use of their pod, looked up once for all of them. Lives as long as the specification.
struct PodNames {
  explicit PodNames(const Json& spec);
  std::map<std::string_view, const Json*> volumes;  // of equal names the first
  std::set<std::string_view> claims;
  std::string claims_text;  // how they begin, for problems
};
// Block devices against the pod's volumes, and claims against the pod's.
void check_devices(const Json& container, const PodNames& known, const std::string& path, FieldErrors& errors);
void check_claims(const Json& claims, const PodNames& known, const std::string& path, FieldErrors& errors);
// The pod's own claims.
void check_pod_claims(const Json& claims, const std::string& path, FieldErrors& errors);
void check_probe(const Json& probe, const std::string& path, bool one_success, FieldErrors& errors);
// `grace_seconds`: that of the pod, which a hook may not sleep longer than.
void check_hook(const Json& hook, const std::string& path, std::int64_t grace_seconds, FieldErrors& errors);
// The security contexts of the pod, and of one container.
void check_pod_security(const Json& spec, const std::string& path, const PodRules& rules, FieldErrors& errors);
void check_container_security(const Json& context, const std::string& path, FieldErrors& errors);
// {gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName} of a pod or a container.
void check_windows_options(const Json& options, const std::string& path, FieldErrors& errors);
// Containers that are processes of the host: all of the pod's, or none.
void check_host_processes(const Json& spec, const std::string& path, FieldErrors& errors);
void check_placement(const Json& spec, const std::string& path, FieldErrors& errors);

}  // namespace api
