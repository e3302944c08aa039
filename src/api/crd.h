// CustomResourceDefinitions of our kinds, for clusters that are not ours.
#pragma once

#include "api/json/json.h"
#include "api/kinds.h"

namespace api {

// An apiextensions.k8s.io/v1 CustomResourceDefinition; `kind` must be a custom resource.
Json make_crd(const KindInfo& kind);

}  // namespace api
