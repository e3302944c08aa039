// Why does no eviction make room for a group, in words that people are told?
#include "scheduler/actions/eviction_reasons.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/format.h"

namespace scheduler {
namespace {

constexpr std::pair<std::string_view, std::string_view> kProtections[] = {
    {"gang", "their groups would fall below minMember"},
    {"priority", "their groups are not less important"},
    {"conformance", "they belong to the system"},
    {"pdb", "of disruption budgets"},
    {"cdp", "they started a moment ago"},
    {"drf", "their groups have no larger share"},
    {"proportion", "their queues have no more than they deserve"},
    {"capacity", "their queues have no more than they deserve"},
    {"tdm", "of where and when they run"}};

std::string protection_of(std::string_view plugin) {
  for (const auto& [name, why] : kProtections) {
    if (name == plugin) return base::format("{} (as {})", plugin, why);
  }
  return std::string(plugin);
}

std::string protections(const Session& session, const EvictionRule& rule, const Task& task,
                        const std::vector<TaskId>& pods) {
  std::string out;
  std::set<std::string_view> reported;
  const auto visit = [&](std::string_view plugin, const Victims& answer) {
    if (answer.vote == Vote::kAbstain || answer.tasks.size() >= pods.size() || !reported.insert(plugin).second) return;
    out += (out.empty() ? "" : ", ") + protection_of(plugin);
  };
  if (rule.action == "reclaim")
    session.ask_each<Reclaimable>(visit, task, pods);
  else
    session.ask_each<Preemptable>(visit, task, pods);
  return out;
}

}  // namespace

std::int64_t search_steps(const Arguments& arguments) {
  return arguments.get_int_from("searchSteps", 1, SearchBudget::kStepsDefault);
}

void report_evictions(Session& session, JobId job, std::string_view why) {
  std::string& reported = session.problems().of(job).evictions;
  if (!reported.empty()) reported += "; ";
  reported += why;
}

void explain_in_vain(Session& session, const VictimSearch& search, const Task& task, const SearchBudget& budget) {
  if (!session.input().keeps_reasons) return;
  const EvictionRule& rule = search.rule();
  const auto report = [&](const std::string& why) {
    report_evictions(session, task.job, base::format("{} {}", rule.action, why));
  };
  if (budget.is_spent()) return report("ended with its steps, before all nodes were looked at");
  const std::vector<TaskId> pods = search.seen_for(task);
  if (pods.empty()) return report("finds no pod that it may evict");
  const std::string why = protections(session, rule, task, pods);
  if (why.empty()) return report("would evict in vain: no node fits without the pods that may go");
  report("evicts nobody: pods are protected by " + why);
}

}  // namespace scheduler
