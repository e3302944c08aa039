// Which cards of a node does the specification (5.16.3, 5.16.4) give to a pod?
#pragma once

#include <vector>

#include "book_objects.h"

namespace scenario::book {

// Adds to what the pod is given, and to the node's score; false if the node cannot give what the pod asks for. `others`
// are the pods of the node.
bool choose_shared_gpus(bool by_memory, const Node& node, const Pod& pod, const std::vector<const Pod*>& others,
                        Given& given);
bool choose_vgpus(const Objects& objects, const Node& node, const Pod& pod, const std::vector<const Pod*>& others,
                  Given& given, double& score);
bool wants_vgpus(const Objects& objects, const Pod& pod);

}  // namespace scenario::book
