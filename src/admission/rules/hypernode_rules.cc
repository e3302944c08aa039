// HyperNodes: what the schema does not say about their members (webhooks.md 10).
#include "admission/rules/names.h"
#include "admission/rules/rules.h"
#include "api/schema/field_errors.h"
#include "api/schema/pattern_problem.h"
#include "base/format.h"

namespace admission {

using api::FieldErrors;

namespace {

// COMPAT(small-patterns). The limit for all members of a HyperNode: schedulers compile them, too, while nothing else is
// decided.
constexpr std::size_t kPatternBytesMax = std::size_t{64} << 10;

}  // namespace

AdmissionAnswer check_hypernode(const AdmissionRequest& request) {
  if (request.operation != api::Operation::kCreate && request.operation != api::Operation::kUpdate) return {};
  // The path begins with the text of an empty root, which users of Volcano know.
  const std::string path = "[].spec.members";
  const Json& members = request.object["spec"]["members"];
  if (members.empty()) return refuse(path + ": Invalid value: null: member must have at least one member");
  FieldErrors errors;
  std::size_t bytes = 0;
  for (const Json& member : members.items()) {
    const Json& pattern = member["selector"]["regexMatch"]["pattern"];
    if (!pattern.is_string()) continue;
    bytes += pattern.as_string().size();
    if (bytes > kPatternBytesMax)
      return refuse(base::format("{}: Too long: may not have more than {} bytes of patterns", path, kPatternBytesMax));
    if (const std::string problem = api::small_pattern_problem(pattern.as_string()); !problem.empty())
      errors.invalid(path + ".selector.regexMatch.pattern", pattern,
                     "member regexMatch pattern is invalid: error parsing regexp: " + problem);
  }
  const std::vector<std::string> problems = errors.take_texts();
  if (problems.empty()) return {};
  return refuse(problems.size() == 1 ? problems.front() : base::format("[{}]", join(problems, ", ")));
}

}  // namespace admission
