// The parts of pod template validation, split by noun; pod_template.cc puts them together.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "admission/field_errors.h"
#include "api/json/json.h"

namespace admission {

// Volume names that mounts may refer to.
std::set<std::string> check_pod_volumes(const api::Json& spec, const std::string& path, FieldErrors& errors);
void check_containers(const api::Json& spec, const std::string& path, const std::set<std::string>& volumes,
                      FieldErrors& errors);
enum class ResourcesOf : std::uint8_t { kContainer, kPod };
// Names, amounts, and requests against limits.
void check_resources(const api::Json& resources, const std::string& path, ResourcesOf whose, FieldErrors& errors);
// spec.resources: itself, and against what the containers ask for together.
void check_pod_level_resources(const api::Json& spec, const std::string& path, FieldErrors& errors);
// Block devices against the pod's volumes, and claims against the pod's.
void check_devices(const api::Json& container, const api::Json& volumes, const std::string& path, FieldErrors& errors);
void check_claims(const api::Json& claims, const api::Json& claims_of_pod, const std::string& path,
                  FieldErrors& errors);
void check_probe(const api::Json& probe, const std::string& path, bool one_success, FieldErrors& errors);
void check_handler(const api::Json& handler, const std::string& path, bool probe, FieldErrors& errors);
void check_placement(const api::Json& spec, const std::string& path, FieldErrors& errors);

}  // namespace admission
