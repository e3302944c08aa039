// The client that asks the questions that cycles left, and brings the answers.
#pragma once

#include <deque>
#include <functional>
#include <set>

#include "scheduler/model/external_answers.h"
#include "scheduler/sources/bounded_fetch.h"

namespace scheduler {

// On the loop. Each question is under way once; of those that wait, the newest cycle's count.
class OutsideAsker {
 public:
  OutsideAsker(rt::Env& env, ExternalAnswers& book, std::function<void()> on_answer)
      : env_(env), fetch_(env), book_(book), on_answer_(std::move(on_answer)) {}

  void ask(std::vector<ExternalQuestion> questions);

 private:
  void pump();

  rt::Env& env_;
  BoundedFetch fetch_;
  ExternalAnswers& book_;
  std::function<void()> on_answer_;
  std::deque<ExternalQuestion> notifications_, waiting_;
  std::multiset<std::string> under_way_;
  bool notifying_ = false;
};

}  // namespace scheduler
