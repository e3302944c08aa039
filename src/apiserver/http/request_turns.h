// Requests wait here for the API server's loop, so that nobody's flood of them holds up those of others.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "apiserver/pipeline/metrics.h"
#include "apiserver/pipeline/turns/fair_turns.h"
#include "base/result.h"
#include "rt/env.h"
#include "rt/http/http.h"

namespace apiserver {

// Loop thread only. Requests are served in the order of FairTurns, a share of the loop's time after the other: what
// else is posted to the loop comes between two shares.
class RequestTurns : public std::enable_shared_from_this<RequestTurns> {
 public:
  RequestTurns(rt::Env& env, std::shared_ptr<RequestMetrics> metrics) : env_(env), metrics_(std::move(metrics)) {}

  // Held from a list's turn until all of its answer is written or dropped; null for what is not a list. Any thread.
  using Seat = std::shared_ptr<const void>;

  // The answer, whose last piece keeps the seat.
  static rt::HttpResponse holding(const Seat& seat, rt::HttpResponse response);

  struct Waiting {
    std::shared_ptr<rt::HttpExchange> exchange;
    std::function<void(Seat)> serve;
    // Answers the exchange in place of `serve`: there are too many, or it has waited too long.
    std::function<void(rt::HttpExchange&, const base::Error&)> refuse;
    bool lists = false;
    std::shared_ptr<const CountedAs> counted = {};  // null: it is about no kind
    base::Duration since = {};
  };
  // Serves the request of this user when its turn comes, soon if nobody waits. It leaves when its peer goes away.
  void add(const std::string& user, Waiting waiting);
  // The server ends: nobody is there who waits.
  void leave_all();

 private:
  void come_back();
  void serve_share();
  void serve(Waiting waiting, const std::string& user);
  Seat take_seat(const std::string& user);
  void leave_seat(const std::string& user);
  void watch_peers();
  void leave(FairTurns::Ticket ticket);
  void refuse(const Waiting& waiting, const char* reason);

  rt::Env& env_;
  std::shared_ptr<RequestMetrics> metrics_;
  FairTurns turns_{{.of_a_user = 500, .of_all = 5'000}};
  std::map<FairTurns::Ticket, Waiting> waiting_;
  std::unordered_map<std::string, int> seats_;  // taken, by user
  std::vector<FairTurns::Ticket> unwatched_;    // nobody has told us to say when their peers go
  bool posted_ = false;
};

}  // namespace apiserver
