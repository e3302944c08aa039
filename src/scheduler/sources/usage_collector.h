// How busy are the nodes, says the metrics source of the configuration?
#pragma once

#include <functional>
#include <map>
#include <string>

#include "scheduler/model/nodes/node_usage.h"
#include "scheduler/sources/bounded_fetch.h"

namespace scheduler {

// Reads a Prometheus answer to an instant query: the sample of each instance, by its name without a port. The rest of
// it is not believed; values that are not numbers are left out.
std::map<std::string, double> prometheus_samples(std::string_view answer);

// Asks every interval (of the first configuration). A source that is down leaves the last values, which grow old.
class UsageCollector {
 public:
  UsageCollector(rt::Env& env, NodeUsages& usages, std::function<void()> on_change)
      : env_(env), fetch_(env), usages_(usages), on_change_(std::move(on_change)) {}
  ~UsageCollector();

  // The `metrics` map; an empty one, or a source that is not available here, ends the collection.
  void configure(const std::map<std::string, std::string>& metrics);

 private:
  void collect();
  void query(const std::string& expression, std::function<void(std::map<std::string, double>)> done);

  rt::Env& env_;
  BoundedFetch fetch_;
  NodeUsages& usages_;
  std::function<void()> on_change_;
  std::string address_;
  bool insecure_ = false;
  base::Duration interval_{};
  rt::Loop::TimerId timer_ = 0;
  bool down_ = false;
};

}  // namespace scheduler
