// Which cards of a node does the specification (5.16.3 and 5.16.4) give to a pod?
#pragma once

#include <optional>
#include <vector>

#include "book_objects.h"

namespace scenario::book {

struct CardChoice {
  std::vector<CardPart> cards;
  std::set<int> shared_gpus;
  double score = 0;  // before its weight
};

// Nothing if the node cannot give what the pod asks for. `others` are the pods of the node.
std::optional<CardChoice> choose_cards(const Plugin& deviceshare, const Node& node, const Pod& pod,
                                       const std::vector<const Pod*>& others);

}  // namespace scenario::book
