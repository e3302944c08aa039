// Which Ascend NPUs of a node does the specification give to a pod (HAMi: 5.16.5, MindCluster: 5.16.6)?
#pragma once

#include <string>
#include <vector>

#include "book_objects.h"

namespace scenario::book {

// The resources that cards of HAMi count themselves, so that they are none of nodes (5.16.1).
std::set<std::string> counted_by_npus(const Objects& objects);
std::vector<std::string> npu_families(const Objects& objects);
bool wants_npus(const Pod& pod, const std::string& family);

// Adds to what the pod is given, and to the node's score; false if the node cannot give what the pod asks for. `others`
// are the pods of the node.
bool choose_npus(const Objects& objects, const Node& node, const Pod& pod, const std::vector<const Pod*>& others,
                 Given& given, double& score);

// The same for chips of MindCluster; what is cut by a smaller template than the pod asked for is "downgraded".
bool choose_chips(const Objects& objects, const Node& node, const Pod& pod, const std::vector<const Pod*>& others,
                  Given& given, bool& downgraded);
bool wants_chips(const Pod& pod);
// The free amounts of all the node's chips: cores, then CPUs.
std::pair<int, int> free_of_chips(const Objects& objects, const Node& node, const std::vector<const Pod*>& others);

}  // namespace scenario::book
