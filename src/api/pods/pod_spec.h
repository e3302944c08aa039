// The rules of a pod's specification, in the words of Kubernetes 1.36. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/schema/field_errors.h"
#include "base/result.h"

namespace api {

enum class PodSpecOf : std::uint8_t { kPod, kTemplate };

struct PodRules {
  PodSpecOf of = PodSpecOf::kPod;
  bool pod_level_resources = true;  // spec.resources is judged, too
  bool host_sysctls = false;        // those of namespaces that are the host's are let through: what is stored has them
};

// Whether the pod sets sysctls of a namespace that it shares with its host.
bool has_host_sysctls(const Json& spec);

// Every problem of `spec`, which is at `path` ("spec", "spec.template.spec"). Fields may be filled in with their
// defaults or not; what is of a wrong type is for the schema to name, and is not a problem here.
std::vector<base::Cause> check_pod_spec(const Json& spec, const std::string& path, PodRules rules);

// Blanks around images of containers at `path`: a template may have them, its pods may not.
void check_image_blanks(const Json& containers, const std::string& path, FieldErrors& errors);
// The overhead of RuntimeClasses, too.
void check_overhead(const Json& overhead, const std::string& path, FieldErrors& errors);
// The names of amounts that containers can ask for, and of those that any object can.
void check_container_resource_name(std::string_view name, const std::string& path, FieldErrors& errors);
void check_resource_name(std::string_view name, const std::string& path, FieldErrors& errors);
void check_tolerations(const Json& tolerations, const std::string& path, FieldErrors& errors);

}  // namespace api
