// In which order, and in how many parts, does the scheduler hear of what happens between two cycles?
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"

namespace scenario {

// Without a seed at once. With one, when a cycle is due, as informers may: each kind has its own watch, which keeps its
// order and nothing else does; events come in batches, and of states of one object that come together only the last.
// One thing is spared: nodes are named first in the order of the text, by their own lines or by those of pods, since
// ties between equal nodes go by that order. All else of a node comes after what named it, and nothing passes its end.
class Delivery {
 public:
  using Event = std::function<base::Status()>;

  explicit Delivery(std::optional<std::uint64_t> seed) {
    if (seed) dice_.emplace(*seed);
  }

  // `object`: what gets a new state that takes the place of the old one; empty for other events. `after`: the object
  // whose states come before it, on whatever watch.
  base::Status add(const std::string& watch, std::string object, std::string after, Event event);
  // Between two batches people may ask the scheduler things.
  base::Status deliver(const std::function<void()>& between);

 private:
  struct Waiting {
    std::string object;
    std::string after;
    Event event;
  };
  bool is_waiting(const std::string& object) const;
  std::optional<base::Random> dice_;
  std::map<std::string, std::vector<Waiting>> watches_;
};

}  // namespace scenario
