// Answers are told apart by the order in which they are asked for.
#include "pipelines/rest/facts.h"

#include "base/format.h"

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

// The index has the rights of the program: the list of one object says whether this user has them, too.
base::Result<std::vector<api::Json>> Facts::rows(const api::ResourceId& resource, const std::string& ns) {
  client::Request request{.verb = client::Verb::kList, .resource = resource, .ns = ns, .name = {}, .subresource = {}};
  request.limit = 1;
  TRY_VOID(ask(std::move(request)));
  const auto [found, is_new] = known_.rows.try_emplace(resource.plural + "/" + ns);
  if (is_new) found->second = ids_.rows(resource, ns);
  if (found->second) return *found->second;
  return base::make_error(base::Code::kInvalid, base::format("this server knows another namespace than {} alone", ns));
}

}  // namespace pipelines::rest
