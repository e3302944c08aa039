// The defaults of a pod's specification, also where it is a template.
#pragma once

#include "api/json/json.h"

namespace apiserver {

void default_pod_spec(api::Json& spec);

}  // namespace apiserver
