// Answers are told apart by the order in which they are asked for.
#include "pipelines/rest/facts.h"

namespace pipelines::rest {

base::Result<api::Json> Facts::ask(client::Request request) {
  if (next_) return base::make_error(base::Code::kUnavailable, "an earlier answer is waited for");
  if (asked_ < known_.answers.size()) {
    const base::Result<api::Json>& answer = known_.answers[asked_++];
    if (answer.ok()) return *answer;
    return base::Error(answer.error());
  }
  next_ = std::move(request);
  return base::make_error(base::Code::kUnavailable, "the answer is waited for");
}

std::optional<ObjectKey> Facts::find(const api::ResourceId& resource, std::string_view id) const {
  const auto [found, is_new] = known_.keys.try_emplace(resource.plural + "/" + std::string(id));
  if (is_new) found->second = ids_.find(resource, id);
  return found->second;
}

std::string Facts::id_of(const api::ResourceId& resource, const ObjectKey& key) const {
  const auto [found, is_new] = known_.ids.try_emplace(resource.plural + "/" + key.ns + "/" + key.name);
  if (is_new) found->second = ids_.id_of(resource, key);
  return found->second;
}

}  // namespace pipelines::rest
