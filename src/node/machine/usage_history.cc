// Means of means are exact, since all points stand for equally many readings.
#include "node/machine/usage_history.h"

#include <cmath>

namespace node {

using api::Json;

void UsageHistory::add(const api::NodeUsage& usage) {
  if (usage.machine.cpu_nanocores < 0) return;
  sum_.at = static_cast<double>(usage.at.ns / 1'000'000'000);
  sum_.cores += static_cast<double>(usage.machine.cpu_nanocores) / 1e9;
  sum_.bytes += static_cast<double>(usage.machine.working_set_bytes);
  sum_.devices += static_cast<double>(usage.devices);
  if (++readings_ < readings_of_point_) return;
  const auto count = static_cast<double>(readings_);
  points_.push_back({sum_.at, sum_.cores / count, sum_.bytes / count, sum_.devices / count});
  sum_ = {};
  readings_ = 0;
  if (points_.size() >= points_max_) halve();
}

void UsageHistory::halve() {
  for (std::size_t i = 0; i + 1 < points_.size(); i += 2) {
    const Point &first = points_[i], &second = points_[i + 1];
    points_[i / 2] = {second.at, (first.cores + second.cores) / 2, (first.bytes + second.bytes) / 2,
                      (first.devices + second.devices) / 2};
  }
  points_.resize(points_.size() / 2);
  readings_of_point_ *= 2;
}

Json UsageHistory::json() const {
  Json points = Json::array();
  for (const Point& one : points_)
    points.push_back(Json::array({Json(one.at), Json(std::round(one.cores * 1000) / 1000), Json(std::round(one.bytes)),
                                  Json(std::round(one.devices * 1000) / 1000)}));
  return Json::object({{"points", std::move(points)}});
}

}  // namespace node
