// JobFlows: the flows and what they depend on form a directed acyclic graph (webhooks.md 11).
#include <map>
#include <set>

#include "admission/rules.h"
#include "base/format.h"

namespace admission {

AdmissionAnswer check_jobflow(const AdmissionRequest& request) {
  if (request.operation != api::Operation::kCreate && request.operation != api::Operation::kUpdate)
    return refuse("expect operation to be 'CREATE' or 'UPDATE'");
  std::map<std::string, std::set<std::string>> waits_for;  // of two flows with one name the last one counts
  for (const Json& flow : request.object["spec"]["flows"].items()) {
    std::set<std::string> targets;
    for (const Json& target : flow["dependsOn"]["targets"].items()) targets.insert(target.str());
    waits_for[flow["name"].str()] = std::move(targets);
  }
  for (const auto& [flow, targets] : waits_for)
    for (const std::string& target : targets)
      if (!waits_for.count(target)) return refuse("jobflow Flow is not DAG: vertex is not defined: " + target);
  // Takes away those that wait for nobody, until nobody is left or all who are left wait for each other.
  while (!waits_for.empty()) {
    std::set<std::string> free;
    for (const auto& [flow, targets] : waits_for)
      if (targets.empty()) free.insert(flow);
    if (free.empty()) return refuse("jobflow Flow is not DAG");
    for (const std::string& flow : free) waits_for.erase(flow);
    for (auto& [flow, targets] : waits_for)
      std::erase_if(targets, [&](const auto& one) { return free.count(one) > 0; });
  }
  return {};
}

}  // namespace admission
