// The use of the machine since the agent's start, in a bounded number of points.
#pragma once

#include <cstddef>
#include <vector>

#include "api/json/json.h"
#include "api/node_usage.h"

namespace node {

// One point at first for each reading; when it is full, each two become their mean, and a point stands for twice the
// time. So it covers any time in `points_max` points, the last half of them at least. Not for several threads at once.
class UsageHistory {
 public:
  // `points_max` is even, and 2 at least.
  explicit UsageHistory(std::size_t points_max = 720) : points_max_(points_max) {}

  // A reading with its means; one without is left out.
  void add(const api::NodeUsage& usage);

  // {"points": [[seconds since 1970, cores, bytes of working set, devices], ...]}, oldest first, each at the end of its
  // time.
  api::Json json() const;

 private:
  struct Point {
    double at = 0;
    double cores = 0;
    double bytes = 0;
    double devices = 0;
  };

  void halve();

  std::size_t points_max_;
  std::vector<Point> points_ = {};
  std::size_t readings_of_point_ = 1;  // so many readings become a point
  Point sum_ = {};                     // of the readings of the point that is not complete
  std::size_t readings_ = 0;
};

}  // namespace node
