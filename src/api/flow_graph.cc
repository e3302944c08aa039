// Takes away those that wait for nobody, and then those that waited for them only; what is left can never start.
#include "api/flow_graph.h"

#include <map>
#include <string_view>

namespace api {

std::vector<FlowStanding> standings_of(const std::vector<FlowNode>& nodes) {
  std::vector<FlowStanding> standings(nodes.size());
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < nodes.size(); ++i) places[nodes[i].name] = i;
  std::vector<std::vector<std::size_t>> followers(nodes.size());
  std::vector<std::size_t> waits_for(nodes.size());  // how many are left
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& target : nodes[i].targets) {
      const auto place = places.find(target);
      if (place != places.end())
        followers[place->second].push_back(i);
      else if (!standings[i].unknown_target)
        standings[i].unknown_target = target;
      ++waits_for[i];
    }
    if (waits_for[i] == 0) free.push_back(i);
  }
  while (!free.empty()) {
    const std::size_t one = free.back();
    free.pop_back();
    for (const std::size_t follower : followers[one])
      if (--waits_for[follower] == 0) free.push_back(follower);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) standings[i].can_start = waits_for[i] == 0;
  return standings;
}

}  // namespace api
