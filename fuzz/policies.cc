// Admission policies: whatever a policy, a binding and an object say, reading and judging them ends, and costs what it
// may.
#include <string>

#include "api/kinds.h"
#include "api/policies/judge.h"
#include "targets.h"

namespace fuzz {

namespace {

class NoObjects final : public api::ObjectReader {
 public:
  std::optional<api::Json> find(const api::ResourceId&, std::string_view, std::string_view) const override {
    return std::nullopt;
  }
  std::vector<api::Json> list_by(const api::TextField&, std::string_view, bool) const override { return {}; }
};

constexpr std::uint64_t kBudget = 50'000;

}  // namespace

// Three JSON documents, one a line: a policy, a binding, an object.
void policies(std::string_view input) {
  std::vector<api::Json> documents;
  while (documents.size() < 3) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    auto parsed = api::parse_json(input.substr(0, end));
    documents.push_back(parsed.ok() ? *std::move(parsed) : api::Json());
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  for (int i = 0; i < 2; ++i) {
    const bool binds = api::kind_of(documents[static_cast<std::size_t>(i)]).ends_with("Binding");
    if (!documents[static_cast<std::size_t>(i)].is_object() || binds != (i == 1)) return;
    api::policies::apply_defaults(documents[static_cast<std::size_t>(i)]);
  }
  std::vector<base::Cause> causes;
  api::policies::check(documents[0], causes);
  const bool sound = causes.empty();
  causes.clear();
  auto policy = api::policies::read_policy(documents[0], causes);
  const auto binding = api::policies::read_binding(documents[1], causes);
  promise(sound == policy->problem.empty(), "what is stored can be used");
  // In force whatever their names are.
  api::policies::Set set;
  (policy->mutating ? set.mutating : set.validating).push_back({policy, {binding}});
  const api::KindInfo& kind = *api::find_kind(api::resources::kConfigMaps);
  const api::AdmissionRequest request{.operation = api::Operation::kCreate,
                                      .resource = kind.resource,
                                      .kind = kind.kind,
                                      .subresource = {},
                                      .ns = "default",
                                      .name = "a",
                                      .object = documents[2].is_object() ? documents[2] : api::Json::object(),
                                      .old_object = {},
                                      .user = "anna",
                                      .groups = {}};
  const NoObjects objects;
  for (const bool again : {false, true}) {
    api::policies::Budget budget{.left = kBudget};
    const auto judgement = api::policies::validate(set, request, objects, budget);
    if (judgement.refusal) promise(!judgement.refusal->message.empty(), "a refusal says something");
    api::Json object = request.object;
    api::policies::Mutator mutator(set, request, objects, budget);
    const base::Status done = mutator.run(object);
    if (const base::Status once_more = again ? mutator.run_again(object) : base::Status(); !once_more.ok())
      promise(!once_more.error().message.empty(), "a refusal says something");
    promise(object.is_object() || !done.ok(), "what comes of an object is an object");
  }
}

}  // namespace fuzz
