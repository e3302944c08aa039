// How do the lines about devices become API objects: cards of nodes, claims, CPUs?
#pragma once

#include <optional>
#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "line.h"
#include "objects.h"

namespace scenario {

// The words `vgpus` and `vnpus`: what the device plugins of a node write on it.
void add_cards(const Line& line, api::Json& node);
// The devices that a pod asks for, and those that it holds: `guaranteed`, `resourceclaims`, `claimtemplates`, `holds`,
// `npu`.
void add_device_requests(const Line& line, api::Json& pod);
// The verbs deviceclass, resourceslice, resourceclaim, numatopology, deviceconfig, npus and npureport; nothing for
// others. An error names the word that is not known.
base::Result<std::optional<Made>> device_object(const Line& line, const std::string& name);

// "metadata" of "namespace/name"; without a namespace it is "default".
api::Json named(const std::string& name);

}  // namespace scenario
