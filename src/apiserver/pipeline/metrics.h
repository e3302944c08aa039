// The counters of the API server.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>

#include "apiserver/pipeline/request/request.h"
#include "apiserver/pipeline/rights/stream_shares.h"
#include "base/metrics.h"
#include "base/time.h"
#include "rt/http/server/connection_shares.h"
#include "store/store.h"

namespace apiserver {

std::span<const base::MetricRow> metric_rows();
// The metrics of the loop itself (rt/watched_env.h): whoever makes the loop observes it.
std::span<const base::MetricRow> loop_metric_rows();

// The labels under which a request is counted.
struct CountedAs {
  Verb verb = Verb::kGet;
  const api::KindInfo* kind = nullptr;
  std::string subresource = {};
  std::shared_ptr<const void> holds_kind = {};  // as Request has it
};

// The API server's loop only.
class RequestMetrics {
 public:
  RequestMetrics();

  // One answered request of the pipeline; its time includes the wait for the disk.
  void answered(const CountedAs& request, int status, base::Duration took);
  // A watch begins (1) or ends (-1).
  void watching(const api::KindInfo& kind, int change);
  // So many requests wait for their turn; one has had it; one has not, and why (null: it is about no kind).
  void waiting(std::size_t count);
  void dispatched(base::Duration waited);
  void turned_away(const CountedAs* request, const std::string& reason);
  // Streams into pods, and the server's own connections, as they are now.
  void streams(const StreamShares::Counts& now);
  void memory_refused(std::uint64_t count);
  void connections(const rt::ConnectionShares::Counts& now);
  std::string text(const store::Store& store);

 private:
  struct Handles {
    base::Counter requests;
    base::Histogram seconds;
  };

  Handles& handles_for(const CountedAs& request, int status);

  base::Metrics metrics_;
  base::Gauge waiting_;
  base::Counter dispatched_;
  base::Histogram waited_;
  using Key = std::tuple<api::ResourceId, Verb, std::string, int>;  // with subresource and status
  std::map<Key, Handles> handles_;                                  // never walked
  std::map<api::ResourceId, int> watches_;
  StreamShares::Counts streams_;  // as counted so far, both
  rt::ConnectionShares::Counts connections_;
  std::uint64_t memory_refused_ = 0;
};

}  // namespace apiserver
