// Which devices of a node does a pod's claims get (5.8.2, DynamicResources)?
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "book_objects.h"

namespace scenario::book {

struct ClaimChoice {
  std::map<std::string, std::vector<std::string>> devices;                             // by claim
  std::map<std::string, std::map<std::string, std::map<std::string, double>>> shares;  // by claim and device
  double score = 0;  // before it is scaled by the best node's
};

// The first devices in the order of claims, requests, alternatives and lists with which all is well; nothing if there
// are none.
std::optional<ClaimChoice> choose_devices(const Objects& objects, std::size_t node, const Pod& pod);
// Devices by class that the claims ask for (2.13); each claim once.
std::map<std::string, double> devices_asked(const Objects& objects, const std::set<std::string>& claims);

}  // namespace scenario::book
