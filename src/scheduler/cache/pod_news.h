// The news of pods that are decided one by one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace scheduler {

// An event of a single pod of ours; the model says the rest.
struct PodNews {
  enum class Kind : std::uint8_t {
    kWaits,     // it has no node, and nothing holds it back
    kLeft,      // it is gone, is not ours any more, or has a node
    kNotBound,  // a node was found for it, and it is not there
  };
  Kind kind = Kind::kWaits;
  std::string key;
  std::string uid;
  std::int64_t urgency = 0;  // kWaits: volcano.sh/scheduling-priority
  bool is_other = true;      // kWaits: it is new, or differs in what decisions read
};

// The same, and what pods of anybody did to nodes, since the last call of PodIntake::take_news().
struct PodNewsList {
  std::vector<PodNews> pods;
  std::vector<std::string> claims;  // keys of ResourceClaims that came or changed
  bool room_came = false;           // a pod left a node, or asks for something else there
  bool some_placed = false;         // a pod came to a node
};

}  // namespace scheduler
