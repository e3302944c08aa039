// The queue in front of the pipeline, for requests over HTTP.
#include "apiserver/http/request_turns.h"

namespace apiserver {

namespace {

constexpr base::Duration kShare = base::milliseconds(1);  // of the loop's time, between what else it has to do
// As a stock server has it for most requests: a quarter of the time of a request.
constexpr base::Duration kWaitMax = base::seconds(15);
// Lists of one user that are made or written at a time: they take memory, and the thread that encrypts for all.
constexpr int kSeatsMax = 16;

base::Error too_many() {
  base::Error error = base::make_error(base::Code::kTooManyRequests, "Too many requests, please try again later.");
  error.retry_after_seconds = 1;
  return error;
}

}  // namespace

rt::HttpResponse RequestTurns::holding(const Seat& seat, rt::HttpResponse response) {
  if (!seat) return response;
  if (response.pieces.empty()) response.pieces.push_back(std::make_shared<const std::string>(std::move(response.body)));
  using Held = std::pair<std::shared_ptr<const std::string>, Seat>;
  const auto held = std::make_shared<const Held>(std::move(response.pieces.back()), seat);
  response.pieces.back() = {held, held->first.get()};
  return response;
}

void RequestTurns::add(const std::string& user, Waiting waiting) {
  const auto ticket = turns_.add(user);
  if (!ticket) return refuse(waiting, "queue-full");
  waiting.since = env_.uptime();
  waiting_.emplace(*ticket, std::move(waiting));
  unwatched_.push_back(*ticket);
  metrics_->waiting(waiting_.size());
  come_back();
}

// Behind what is posted already: those who came at the same time are all in the queue before the first is served.
void RequestTurns::come_back() {
  if (std::exchange(posted_, true)) return;
  env_.loop().post([self = shared_from_this()] {
    self->posted_ = false;
    self->serve_share();
  });
}

void RequestTurns::serve_share() {
  const base::Duration begun = env_.uptime();
  base::Duration now = begun;
  while (now - begun < kShare) {
    const FairTurns::Ticket ticket = turns_.next();
    if (ticket == 0) break;
    serve(std::move(waiting_.extract(ticket).mapped()), turns_.user());
    const base::Duration then = std::exchange(now, env_.uptime());
    turns_.used(now - then);
  }
  metrics_->waiting(waiting_.size());
  if (waiting_.empty()) return unwatched_.clear();
  watch_peers();
  if (turns_.ready()) come_back();
}

void RequestTurns::serve(Waiting waiting, const std::string& user) {
  const base::Duration waited = env_.uptime() - waiting.since;
  if (waited > kWaitMax) return refuse(waiting, "time-out");
  metrics_->dispatched(waited);
  waiting.serve(waiting.lists ? take_seat(user) : Seat());
}

RequestTurns::Seat RequestTurns::take_seat(const std::string& user) {
  if (++seats_[user] >= kSeatsMax) turns_.hold(user);
  return {this, [weak = weak_from_this(), user](const void*) {
            const auto self = weak.lock();
            if (!self) return;
            self->env_.loop().post([weak, user] {
              if (const auto turns = weak.lock()) turns->leave_seat(user);
            });
          }};
}

void RequestTurns::leave_seat(const std::string& user) {
  const auto taken = seats_.find(user);
  if (--taken->second == 0) seats_.erase(taken);
  turns_.release(user);
  if (turns_.ready()) come_back();
}

// Only of those who have to wait: it takes a message to their threads.
void RequestTurns::watch_peers() {
  for (const FairTurns::Ticket ticket : std::exchange(unwatched_, {})) {
    const auto found = waiting_.find(ticket);
    if (found == waiting_.end()) continue;
    found->second.exchange->on_closed([&loop = env_.loop(), weak = weak_from_this(), ticket] {
      loop.post([weak, ticket] {
        if (const auto self = weak.lock()) self->leave(ticket);
      });
    });
  }
}

void RequestTurns::leave(FairTurns::Ticket ticket) {
  if (!turns_.remove(ticket)) return;
  // The answer has no reader, but it may be written down.
  refuse(waiting_.extract(ticket).mapped(), "cancelled");
  metrics_->waiting(waiting_.size());
}

void RequestTurns::leave_all() {
  while (!waiting_.empty()) leave(waiting_.begin()->first);
}

void RequestTurns::refuse(const Waiting& waiting, const char* reason) {
  metrics_->turned_away(waiting.counted.get(), reason);
  waiting.refuse(*waiting.exchange, too_many());
}

}  // namespace apiserver
