// The answers of programs outside to the questions of plugins.
#include "scheduler/model/external_answers.h"

#include <utility>

namespace scheduler {

void ExternalAnswers::open(base::Time now) {
  now_ = now;
  // An answer from the future was given before the clock was set back.
  std::erase_if(answers_, [&](const auto& entry) {
    const bool old = now > entry.second.at + kUsable || entry.second.at > now + kUsable;
    return old && entry.first.find('\n') != std::string::npos;
  });
  std::vector<ExternalQuestion> notifications;
  for (ExternalQuestion& question : questions_) {
    if (question.is_notification) notifications.push_back(std::move(question));
  }
  questions_ = std::move(notifications);
  asked_.clear();
}

const ExternalAnswer* ExternalAnswers::ask(const ExternalQuestion& question) {
  std::string key = question.key();
  const auto found = answers_.find(key);
  const bool known = found != answers_.end();
  if ((!known || now_ > found->second.at + kFresh) && questions_.size() < kQuestionsMax &&
      asked_.emplace(std::move(key), questions_.size()).second) {
    questions_.push_back(question);
  }
  return known ? &found->second : nullptr;
}

void ExternalAnswers::notify(ExternalQuestion question) {
  question.is_notification = true;
  if (questions_.size() < kQuestionsMax) questions_.push_back(std::move(question));
}

const ExternalAnswer* ExternalAnswers::last_notified(const std::string& url) const {
  const auto found = answers_.find(url);
  return found == answers_.end() ? nullptr : &found->second;
}

std::vector<ExternalQuestion> ExternalAnswers::take_questions() {
  asked_.clear();
  return std::exchange(questions_, {});
}

}  // namespace scheduler
