// The use of this machine and its pods, as the node agent measures it; and its pages about that. Wired in main.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace api {

struct Usage {
  std::int64_t cpu_nanoseconds = 0;  // of processor time, since it began
  std::int64_t cpu_nanocores = -1;   // in the mean over the window; -1: not known yet
  std::int64_t memory_bytes = 0;
  std::int64_t working_set_bytes = 0;  // what the kernel cannot take away without harm
  std::int64_t rss_bytes = 0;
  std::int64_t page_faults = 0;
  std::int64_t major_page_faults = 0;
};

struct ContainerUsage {
  std::string name;
  std::string id;
  base::Time started;
  Usage usage;
};

struct PodUsage {
  std::string ns;
  std::string name;
  std::string uid;
  std::vector<ContainerUsage> containers;  // those that run, by name
};

struct NodeUsage {
  base::Time at;
  base::Duration window = {};  // over which means are; 0: there are none yet
  std::string node;
  base::Time booted;
  Usage machine;
  std::int64_t memory_total_bytes = 0;
  std::int64_t devices = 0;    // that pods hold; shares of one count each
  std::vector<PodUsage> pods;  // by uid
};

struct NodePage {
  std::string content_type;
  std::string body;
};

// Any thread; nothing waits for long.
class NodeUsageSource {
 public:
  virtual ~NodeUsageSource() = default;
  // Null: nothing has been measured yet.
  virtual std::shared_ptr<const NodeUsage> latest() const = 0;
  // The kubelet's page below that path ("/stats/summary"); nothing: there is no such page.
  virtual std::optional<NodePage> page(std::string_view path) const = 0;
  // The use since the start, as JSON: {"points": [[seconds since 1970, cores, bytes, devices], ...]}, at most 720.
  virtual std::string history() const = 0;
};

}  // namespace api
