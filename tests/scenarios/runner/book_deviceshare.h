// The devices that deviceshare (5.16) gives to a pod of one node, of all families, and its annotations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "book_objects.h"

namespace scenario::book {

struct DeviceChoice {
  Given given;
  double score = 0;         // before its weight
  bool downgraded = false;  // 5.16.6
};

// Empty if the node cannot give what the pod asks for.
std::optional<DeviceChoice> choose_shares(const Objects& objects, std::size_t node, const Pod& pod);

// A node that may get the pod.
struct Candidate {
  std::size_t node = 0;
  bool downgraded = false;
};
// The amounts that batchNodeOrder (5.16.2) adds to each of them, before its weight.
std::vector<double> chip_scores(const Objects& objects, const Pod& pod, const std::vector<Candidate>& nodes);

// "key: value" of the annotations that a bound pod gets, but those that name a time.
std::vector<std::string> device_lines_of(const Objects& objects, const Pod& pod);

}  // namespace scenario::book
