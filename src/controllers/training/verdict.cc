// Conditions and their order.
#include "controllers/training/verdict.h"

#include <algorithm>

#include "base/format.h"
#include "controllers/training/framework.h"

namespace controllers::training {

using api::Json;

const Json* Conditions::find(std::string_view type) const {
  const auto found = std::ranges::find_if(list_, [&](const Json& one) { return one["type"].as_string() == type; });
  return found == list_.end() ? nullptr : &*found;
}

bool Conditions::is_true(std::string_view type) const {
  const Json* found = find(type);
  return found && (*found)["status"].as_string() == "True";
}

std::string_view Conditions::message(std::string_view type) const {
  const Json* found = find(type);
  return found ? (*found)["message"].as_string() : std::string_view{};
}

bool Conditions::set(std::string_view type, bool status, const std::string& reason, const std::string& message) {
  if (is_true("Failed")) return false;
  const std::string_view word = status ? "True" : "False";
  const std::string now = base::format_rfc3339(now_);
  std::string since = now;
  const std::string_view other = type == "Running" ? "Restarting" : type == "Restarting" ? "Running" : "";
  // One of two that take turns while the pods are judged stays, and it is what it was before.
  if (!other.empty() && !has(type))
    for (const Json& one : given_.items())
      if (one["type"].as_string() == type && one["status"].as_string() == word && one["reason"].as_string() == reason) {
        std::erase_if(list_, [&](const Json& taken) { return taken["type"].as_string() == other; });
        list_.push_back(one);
        return false;
      }
  if (const Json* before = find(type); before && (*before)["status"].as_string() == word) {
    if ((*before)["reason"].as_string() == reason) return false;
    since = (*before)["lastTransitionTime"].str();
  }
  std::erase_if(list_, [&](const Json& one) {
    const std::string_view name = one["type"].as_string();
    return name == type || (!other.empty() && name == other);
  });
  if (type == "Succeeded" || type == "Failed")
    for (Json& one : list_)
      if (one["type"].as_string() == "Running" && one["status"].as_string() != "False") {
        one.set("status", "False");
        one.set("lastUpdateTime", now);
        one.set("lastTransitionTime", now);
      }
  list_.push_back(Json::object({{"type", type},
                                {"status", word},
                                {"reason", reason},
                                {"message", message},
                                {"lastUpdateTime", now},
                                {"lastTransitionTime", since}}));
  return true;
}

bool Conditions::record(std::string_view type, const std::string& message) {
  const Json* before = find(type);
  if (before && (*before)["message"].as_string() == message) return false;
  const std::string now = base::format_rfc3339(now_);
  Json recorded = Json::object({{"type", type},
                                {"status", "True"},
                                {"reason", type},
                                {"message", message},
                                {"lastUpdateTime", now},
                                {"lastTransitionTime", before ? (*before)["lastTransitionTime"].str() : now}});
  remove(type);
  list_.push_back(std::move(recorded));
  return true;
}

void Conditions::remove(std::string_view type) {
  std::erase_if(list_, [&](const Json& one) { return one["type"].as_string() == type; });
}

const Counts& Verdict::counts(const Replica& replica) const {
  static const Counts kNone;
  const auto found = counts_.find(replica.type);
  return found == counts_.end() ? kNone : found->second;
}

std::string Verdict::reason(std::string_view word) const { return base::format("{}{}", job_.framework->kind, word); }

void Verdict::report(std::string type, std::string reason, std::string message) {
  reported_.push_back({std::move(type), std::move(reason), std::move(message)});
}

void Verdict::running(const std::string& message) { conditions_.set("Running", true, reason("Running"), message); }

void Verdict::succeeded(const std::string& message) {
  if (!conditions_.set("Succeeded", true, reason("Succeeded"), message)) return;
  has_succeeded_ = true;
  report("Normal", reason("Succeeded"), message);
}

void Verdict::restarting(const std::string& message, std::string_view event_type) {
  if (conditions_.set("Restarting", true, reason("Restarting"), message))
    report(std::string(event_type), reason("Restarting"), message);
}

void Verdict::failed(const std::string& message, std::string_view event_type) {
  if (!conditions_.set("Failed", true, reason("Failed"), message)) return;
  has_failed_ = true;
  report(std::string(event_type), reason("Failed"), message);
}

void judge_failures(Verdict& verdict, const Replica& replica) {
  const Counts& counts = verdict.counts(replica);
  if (counts.failed == 0 || replica.count <= counts.succeeded + counts.active) return;
  const TrainingJob& job = verdict.job();
  const auto text = [&](std::string_view word) {
    return base::format("{} {} is {} because {} {} replica(s) failed.", job.framework->kind, job.name, word,
                        counts.failed, replica.type);
  };
  if (replica.restart_policy != "Never")
    verdict.restarting(text("restarting"));
  else
    verdict.failed(text("failed"));
}

}  // namespace controllers::training
