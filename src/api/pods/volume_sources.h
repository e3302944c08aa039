// The rules of sources of volumes: those of pods, and of PersistentVolumes.
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"
#include "api/schema/field_errors.h"

namespace api {

// The rules of one source, such as "nfs", at `path`. Sources that only pods have (configMap, projected ...) are in
// volumes.cc.
void check_volume_source(std::string_view kind, const Json& source, const std::string& path, FieldErrors& errors);
// The name of a driver of CSI.
void check_csi_driver(const Json& name, const std::string& path, FieldErrors& errors);
// The specification of a PersistentVolumeClaim, also of one that a template or a pod makes.
void check_claim_spec(const Json& spec, const std::string& path, FieldErrors& errors);
void check_access_modes(const Json& spec, const std::string& path, std::string_view why, FieldErrors& errors);

}  // namespace api
