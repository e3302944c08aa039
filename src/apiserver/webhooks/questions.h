// The questions of one write to webhooks, and their answers: whoever decides the write asks, and goes on when it is
// decided once more with the answers. The same question is asked once.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "apiserver/webhooks/conversion.h"
#include "apiserver/webhooks/review.h"

namespace apiserver {

// The thread that decides and the loop hold it by turns.
class WebhookQuestions {
 public:
  struct Question {
    api::policies::WebhookPtr webhook;
    std::string tail;  // of the review (review.h)
    std::optional<Verdict> verdict = {};
  };

  // Null: it is asked now, and what is decided without the answer means nothing.
  const Verdict* ask(const api::policies::WebhookPtr& webhook, std::string tail) {
    for (const Question& one : all_)
      if (one.verdict && one.webhook == webhook && one.tail == tail) return &*one.verdict;
    all_.push_back({webhook, std::move(tail)});
    return nullptr;
  }

  struct Conversion {
    const CustomKind* to;
    api::Json object;
    std::optional<base::Result<api::Json>> converted = {};
  };
  // The object as `to` has it; null as above. `to` outlives the write.
  const base::Result<api::Json>* convert(const CustomKind& to, const api::Json& object) {
    for (const Conversion& one : conversions_)
      if (one.converted && one.to == &to && one.object == object) return &*one.converted;
    conversions_.push_back({&to, object});
    return nullptr;
  }

  // The questions without an answer.
  std::vector<Question*> open() {
    std::vector<Question*> out;
    for (Question& one : all_)
      if (!one.verdict) out.push_back(&one);
    return out;
  }
  std::vector<Conversion*> open_conversions() {
    std::vector<Conversion*> out;
    for (Conversion& one : conversions_)
      if (!one.converted) out.push_back(&one);
    return out;
  }
  // Questions of a write that does not hold any more need not be answered.
  void forget_open() {
    std::erase_if(all_, [](const Question& one) { return !one.verdict; });
    std::erase_if(conversions_, [](const Conversion& one) { return !one.converted; });
  }

 private:
  // Each stays where it is while it is called.
  std::deque<Question> all_;
  std::deque<Conversion> conversions_;
};

}  // namespace apiserver
