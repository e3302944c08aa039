// The parts of pod template validation, split by noun; pod_template.cc puts them together.
#pragma once

#include <set>
#include <string>

#include "admission/field_errors.h"
#include "api/json.h"

namespace admission {

// Volume names that mounts may refer to.
std::set<std::string> check_pod_volumes(const api::Json& spec, const std::string& path, FieldErrors& errors);
void check_containers(const api::Json& spec, const std::string& path, const std::set<std::string>& volumes,
                      FieldErrors& errors);
void check_resources(const api::Json& resources, const std::string& path, FieldErrors& errors);
void check_probe(const api::Json& probe, const std::string& path, bool one_success, FieldErrors& errors);
void check_handler(const api::Json& handler, const std::string& path, bool probe, FieldErrors& errors);
void check_placement(const api::Json& spec, const std::string& path, FieldErrors& errors);

}  // namespace admission
