// Rows of writes, compared with the actions of plans.
#include "controllers/framework/writes.h"

#include <algorithm>

#include "base/format.h"

namespace controllers {

namespace {

bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

bool is_about(const Write& row, const Action& action, std::string_view subresource) {
  // Rights do not name versions.
  return row.resource.group == "*" || (row.resource.group == action.resource.group &&
                                       row.resource.plural == action.resource.plural && row.subresource == subresource);
}

}  // namespace

std::string_view write_verbs_of(const Action& action) {
  if (!action.account.empty()) return {};
  switch (action.verb) {
    case Action::Verb::kCreate: return action.existing_has ? "create update" : "create";
    case Action::Verb::kUpdate:
    case Action::Verb::kStatus: return "update";
    case Action::Verb::kPatch: return "patch";
    case Action::Verb::kApplyStatus: return "apply";
    case Action::Verb::kDelete: return "delete";
    case Action::Verb::kDeleteAll: return "deletecollection";
    case Action::Verb::kEvent:
    case Action::Verb::kRequireGone:
    case Action::Verb::kRemoveTree:
    case Action::Verb::kFetch:
    case Action::Verb::kProbe: break;
  }
  return {};
}

std::string write_beyond(const std::vector<Write>& rows, const Plan& plan) {
  for (const Stage& stage : plan.stages())
    for (const Action& action : stage.actions) {
      const bool is_status = action.verb == Action::Verb::kStatus || action.verb == Action::Verb::kApplyStatus;
      const std::string_view subresource = is_status ? "status" : std::string_view(action.subresource);
      std::string_view verbs = write_verbs_of(action);
      while (!verbs.empty()) {
        const std::size_t end = std::min(verbs.find(' '), verbs.size());
        const std::string_view verb = verbs.substr(0, end);
        verbs.remove_prefix(std::min(end + 1, verbs.size()));
        if (std::ranges::any_of(rows, [&](const Write& row) {
              return is_about(row, action, subresource) && has_word(row.verbs, verb);
            }))
          continue;
        return base::format("{} {}{}{}.{}", verb, action.resource.plural, subresource.empty() ? "" : "/", subresource,
                            action.resource.group);
      }
    }
  return {};
}

}  // namespace controllers
