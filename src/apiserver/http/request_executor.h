// Requests whose user is known, carried out on the API server's loop when it is their turn.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "api/node_usage.h"
#include "apiserver/http/negotiation.h"
#include "apiserver/http/request_turns.h"
#include "apiserver/http/watch_stream.h"
#include "apiserver/pipeline/api.h"
#include "apiserver/pipeline/metrics.h"
#include "rt/http/server/http_server.h"

namespace apiserver {

// The place in which a request waits for its turn.
struct Place {
  std::string user = {};                // in whose queue; empty: in none
  bool lists = false;                   // its answer may be long
  bool reached = false;                 // its turn is now
  Encoding encoding = Encoding::kJson;  // of its refusal
  std::shared_ptr<const CountedAs> counted = {};
};

std::shared_ptr<const CountedAs> counted_as(const Request& request);

// Requests under way hold it: a write is answered when it is durable, and the server may be gone by then.
class RequestExecutor : public std::enable_shared_from_this<RequestExecutor> {
 public:
  // As ServerOptions has `node_usage` and `other_metrics`.
  RequestExecutor(Api& api, api::NodeUsageSource* node_usage, std::function<std::string()> other_metrics)
      : api_(api), node_usage_(node_usage), other_metrics_(std::move(other_metrics)) {}

  // Before the first request.
  void count_connections(std::function<rt::ConnectionShares::Counts()> count) { connections_ = std::move(count); }
  // No request comes any more. A watch whose client's end was not told to it would never end. Any thread.
  void stop();
  void end_watches();
  // Whether the storage failed when a request last looked. Any thread.
  bool failing() const { return failing_; }

  // Runs `task`, which answers the exchange, on the loop when it is the user's turn. Any thread.
  void in_turn(const Place& place, std::shared_ptr<rt::HttpExchange> exchange, rt::Task task);
  // A request about objects, with its body. Its format is that of `http`. Any thread.
  void execute(Place place, Request request, rt::HttpRequest http, const rt::Target& target,
               std::shared_ptr<rt::HttpExchange> exchange);
  // Loop thread.
  void serve_metrics(const std::shared_ptr<rt::HttpExchange>& exchange);

 private:
  void decode_aside(const Place& place, rt::HttpRequest http, Request request, const Format& format,
                    std::shared_ptr<rt::HttpExchange> exchange);
  void serve_stream(Request request, const rt::HttpRequest& http, const rt::Target& target,
                    std::shared_ptr<rt::HttpExchange> exchange);
  void serve(Request request, Format format, std::shared_ptr<rt::HttpExchange> exchange);
  void respond_aside(const std::shared_ptr<rt::HttpExchange>& exchange, std::function<rt::HttpResponse()> make);

  Api& api_;
  api::NodeUsageSource* node_usage_;
  std::function<std::string()> other_metrics_;
  // The metrics of the API server's loop; streams may outlive the server.
  std::shared_ptr<RequestMetrics> metrics_ = std::make_shared<RequestMetrics>();
  std::shared_ptr<WatchStreams> watches_ = std::make_shared<WatchStreams>();
  std::shared_ptr<RequestTurns> turns_ = std::make_shared<RequestTurns>(api_.env(), metrics_);
  RequestTurns::Seat seat_;  // of the list whose turn it is; loop thread
  std::function<rt::ConnectionShares::Counts()> connections_ = [] { return rt::ConnectionShares::Counts(); };
  std::atomic<bool> failing_{false};
};

}  // namespace apiserver
