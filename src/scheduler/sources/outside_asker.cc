// The client that asks the questions that cycles left, and brings the answers.
#include "scheduler/sources/outside_asker.h"

namespace scheduler {
namespace {

constexpr std::size_t kInFlightMax = 32;
constexpr std::size_t kNotificationsMax = 4096;  // a program that hangs is not told what it missed for ever

}  // namespace

void OutsideAsker::ask(std::vector<ExternalQuestion> questions) {
  waiting_.clear();
  for (ExternalQuestion& one : questions) {
    if (one.is_notification)
      notifications_.push_back(std::move(one));
    else if (!under_way_.contains(one.key()))
      waiting_.push_back(std::move(one));
  }
  while (notifications_.size() > kNotificationsMax) notifications_.pop_front();
  pump();
}

void OutsideAsker::pump() {
  while (under_way_.size() < kInFlightMax) {
    // Notifications arrive in their order: one at a time.
    const bool notifies = !notifications_.empty() && !notifying_;
    if (!notifies && waiting_.empty()) return;
    std::deque<ExternalQuestion>& from = notifies ? notifications_ : waiting_;
    ExternalQuestion question = std::move(from.front());
    from.pop_front();
    under_way_.insert(question.key());
    notifying_ |= question.is_notification;
    FetchRequest request{.method = "POST", .url = question.url, .body = question.body, .timeout = question.timeout};
    fetch_.fetch(std::move(request), [this, question](base::Result<std::string> result) {
      under_way_.erase(under_way_.find(question.key()));
      if (question.is_notification) notifying_ = false;
      const bool ok = result.ok();
      book_.put(question, {ok, ok ? *std::move(result) : result.error().message, env_.now()});
      if (!question.is_notification) on_answer_();
      pump();
    });
  }
}

}  // namespace scheduler
