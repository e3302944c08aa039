// Claims that one node at a time may mount: where they are mounted now.
#pragma once

#include <string>
#include <string_view>

#include "controllers/framework/controller.h"

namespace controllers::notebooks {

// The index of pods by "ns/claim", for controllers that ask below.
IndexBy pods_by_claim();
// The node of a running pod that uses the claim, the first by name; pods with this label do not count. Empty: none.
std::string node_with_claim(const View& view, std::string_view ns, std::string_view claim, std::string_view label,
                            std::string_view value);
bool is_for_one_node(const View& view, std::string_view ns, std::string_view claim);
// A wish for a node by its name: an affinity of a pod.
api::Json affinity_to(const std::string& node);

}  // namespace controllers::notebooks
