// Answers are told apart by the order in which they are asked for.
#include "pipelines/rest/facts.h"

namespace pipelines::rest {

base::Result<api::Json> Facts::ask(client::Request request) {
  if (next_) return base::make_error(base::Code::kUnavailable, "an earlier answer is waited for");
  if (asked_ < known_.size()) {
    const base::Result<api::Json>& answer = known_[asked_++];
    if (answer.ok()) return *answer;
    return base::Error(answer.error());
  }
  next_ = std::move(request);
  return base::make_error(base::Code::kUnavailable, "the answer is waited for");
}

}  // namespace pipelines::rest
