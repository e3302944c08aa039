// Lifecycle policies of jobs and tasks: one event or exit code leads to one action (webhooks.md 5.2).
#include <algorithm>
#include <array>
#include <set>

#include "admission/rules/names.h"
#include "admission/rules/rules.h"
#include "admission/rules/vocabulary.h"
#include "base/format.h"
#include "base/time.h"

namespace admission {

namespace {

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

template <std::size_t N>
std::string list(const std::array<std::string_view, N>& words) {
  return go_list({words.begin(), words.end()});
}

std::vector<std::string> events_of(const Json& policy) {
  std::vector<std::string> events;
  for (const Json& event : policy["events"].items()) events.push_back(event.str());
  if (const std::string event = policy["event"].str(); !event.empty()) events.push_back(event);
  std::set<std::string_view> seen;
  std::vector<std::string> unique;
  for (const std::string& event : events)
    if (seen.insert(event).second) unique.push_back(event);
  return unique;
}

std::string check_events(const std::vector<std::string>& events, const Json& policy, std::string_view path,
                         std::set<std::string>& seen) {
  const std::string action = policy["action"].str();
  for (const std::string& event : events) {
    if (!contains(kPolicyEvents, event))
      return base::format("{}: Invalid value: {}: invalid policy event", path, quoted(event));
    if (!contains(kPolicyActions, action))
      return base::format("{}: Invalid value: {}: invalid policy action", path, quoted(action));
    if (!seen.insert(event).second) return base::format("duplicate event {}  across different policy", event);
  }
  return {};
}

std::string check_policy(const Json& policy, std::string_view path, std::set<std::string>& seen_events,
                         std::set<std::int64_t>& seen_codes) {
  const std::vector<std::string> events = events_of(policy);
  const Json& timeout = policy["timeout"];
  if (!timeout.is_null() && !base::parse_go_duration(timeout.as_string()))
    return base::format("{}.timeout: Invalid value: {}: must be a duration such as \"1h30m\"", path,
                        quoted(timeout.as_string()));
  const bool has_code = policy["exitCode"].is_number();
  if (!events.empty() && has_code) return "must not specify event and exitCode simultaneously";
  if (events.empty() && !has_code) return "either event and exitCode should be specified";
  if (!events.empty()) return check_events(events, policy, path, seen_events);
  const std::int64_t code = policy["exitCode"].as_int();
  if (code == 0) return "0 is not a valid error code";
  if (!seen_codes.insert(code).second) return base::format("duplicate exitCode {}", code);
  return {};
}

}  // namespace

std::string check_policies(const Json& policies, std::string_view path) {
  std::vector<std::string> problems;
  std::set<std::string> events;
  std::set<std::int64_t> codes;
  for (const Json& policy : policies.items()) {
    std::string problem = check_policy(policy, path, events, codes);
    if (problem.empty()) continue;
    problems.push_back(std::move(problem));
    break;
  }
  if (events.count("*") > 0 && events.size() > 1)
    problems.emplace_back("if there's * here, no other policy should be here");
  if (problems.empty()) return {};
  std::string text = problems.size() == 1 ? "1 error occurred:" : base::format("{} errors occurred:", problems.size());
  for (const std::string& problem : problems) text += "\n\t* " + problem;
  return text + "\n\n";
}

std::string policy_vocabulary() {
  return base::format(" valid events are {}, valid actions are {};", list(kPolicyEvents), list(kPolicyActions));
}

}  // namespace admission
