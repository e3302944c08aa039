// Commands that are begun in containers at a time. Each costs a runtime that starts (a tenth of a second of a core, and
// more), so that hundreds at once would starve the probes of everybody: they wait here, and probes go first.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

#include "base/metrics.h"
#include "base/time.h"

namespace node {

// Thread-safe; shared by whatever begins commands on this machine.
class ExecTurns : public std::enable_shared_from_this<ExecTurns> {
 public:
  struct Limits {
    int all = 8;
    int of_users = 6;  // the others are for probes and for what goes with a container's life
    base::Duration wait_max = base::seconds(60);
  };
  enum class Who : std::uint8_t { kUser, kNode };

  // `metrics`: with the node's rows, or null; outlives this.
  ExecTurns(const Limits& limits, base::Metrics* metrics) : limits_(limits), metrics_(metrics) {}

  // Held from the start of a command until it has begun.
  using Turn = std::shared_ptr<const void>;
  // Waits until it is this one's turn. Null: `given_up` said true meanwhile, or it took too long.
  Turn wait(Who who, const std::function<bool()>& given_up);

 private:
  bool is_free(Who who) const;
  void give_back(Who who);

  const Limits limits_;
  base::Metrics* const metrics_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int users_ = 0, nodes_ = 0;  // that begin now
  int nodes_waiting_ = 0;
};

}  // namespace node
