// The answers of programs outside to the questions of plugins.
//
// A cycle never waits. A question without an answer is noted, and asked once the cycle has ended; its answer starts the
// next one. So a cycle is a function of the model and of answers that are values: whoever records put() can replay it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"

namespace scheduler {

struct ExternalQuestion {
  std::string url;
  std::string body;  // JSON, posted
  base::Duration timeout = base::seconds(1);
  bool is_notification = false;  // no answer is waited for; the last one is kept under its url

  std::string key() const { return is_notification ? url : url + "\n" + body; }
};

struct ExternalAnswer {
  bool ok = false;   // false: no answer in time, too long a one, or one that is not 200
  std::string text;  // the body, or what went wrong
  base::Time at;
};

class ExternalAnswers {
 public:
  static constexpr base::Duration kUsable = base::seconds(10);  // an answer older than that is forgotten
  static constexpr base::Duration kFresh = base::seconds(1);    // one older than that is used, and asked for again
  static constexpr std::size_t kQuestionsMax = 4096;            // of one cycle; what is beyond is asked by a later one

  // Forgets what is too old, and what the last cycle asked: who still wants to know asks again.
  void open(base::Time now);
  // The answer to exactly this question; null while there is none, and then it is asked.
  const ExternalAnswer* ask(const ExternalQuestion& question);
  void notify(ExternalQuestion question);
  // The answer to what was last told there; null before the first.
  const ExternalAnswer* last_notified(const std::string& url) const;
  void forget(const ExternalQuestion& question) { answers_.erase(question.key()); }

  // The known answers, by ExternalQuestion::key().
  const std::map<std::string, ExternalAnswer>& answers() const { return answers_; }
  void put_known(const std::string& key, ExternalAnswer answer) { answers_.insert_or_assign(key, std::move(answer)); }

  // In the order in which they came up, each once.
  std::vector<ExternalQuestion> take_questions();
  void put(const ExternalQuestion& question, ExternalAnswer answer) {
    answers_.insert_or_assign(question.key(), std::move(answer));
  }

 private:
  base::Time now_;
  std::map<std::string, ExternalAnswer> answers_;
  std::vector<ExternalQuestion> questions_;
  std::map<std::string, std::size_t> asked_;  // positions in questions_
};

}  // namespace scheduler
