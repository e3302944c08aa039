// The words and the JSON of a reason to wait.
#include "scheduler/framework/wait_reason.h"

#include "base/format.h"

namespace scheduler {
namespace {

constexpr std::string_view kNames[] = {"QueueNotFound", "QueueNotOpen", "NotEnoughPods", "NotAdmitted", "QueueLimit",
                                       "QueueOverused", "Gated",        "Refused",       "Resources",   "Filter",
                                       "Domain",        "Releasing",    "Unknown"};

std::string limit_text(const QueueShortage& s) {
  return base::format("queue {} may use {} of {} ({}): {} in use or admitted, {} more wanted", s.queue, s.allowed,
                      s.resource, s.limit, s.used, s.wanted);
}

}  // namespace

std::string_view name_of(WaitKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::string WaitReason::message() const {
  const std::string gang = base::format("{} of the {} pods that start together have no node", missing, minimum);
  const std::string inside = domain.empty() ? "" : " in " + domain;
  switch (kind) {
    case WaitKind::kQueueNotFound: return base::format("queue {} does not exist", queue);
    case WaitKind::kQueueNotOpen: return base::format("queue {} is {}", queue, detail);
    case WaitKind::kNotEnoughPods:
      return base::format("{} pods exist of the {} that start together{}{}", pods, minimum, detail.empty() ? "" : ": ",
                          detail);
    case WaitKind::kNotAdmitted: return detail;
    case WaitKind::kQueueLimit: return limit_text(shortage);
    case WaitKind::kQueueOverused: return base::format("queue {} has had its share: {}", queue, detail);
    case WaitKind::kGated: return base::format("{} pods are held by scheduling gates", missing);
    case WaitKind::kRefused: return base::format("{}: pod {}: {}", gang, pod, detail);
    case WaitKind::kResources:
      return base::format(
          "{}: pod {} asks for {} of {}, which {} of {} nodes{} lack once the rest is placed; without this group the "
          "most free on one node is {}, on all {}",
          gang, pod, wanted, resource, refused, nodes, inside, most_free, free);
    case WaitKind::kFilter:
      return base::format("{}: for pod {} the last {} of {} nodes{} drop out: {}", gang, pod, refused, nodes, inside,
                          detail);
    case WaitKind::kDomain: return base::format("{}: {}", gang, detail);
    case WaitKind::kReleasing: return base::format("{} pods are promised nodes that others are leaving", missing);
    case WaitKind::kUnknown: break;
  }
  return detail;
}

api::Json WaitReason::json() const {
  api::Json out = api::Json::object({{"reason", name_of(kind)}, {"message", message()}});
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) out.set(key, value);
  };
  const auto number = [&](std::string_view key, std::int64_t value) {
    if (value != 0) out.set(key, value);
  };
  text("queue", queue);
  number("pods", pods);
  number("minAvailable", minimum);
  number("missing", missing);
  text("detail", detail);
  text("pod", pod);
  text("domain", domain);
  number("nodes", static_cast<std::int64_t>(nodes));
  number("refused", static_cast<std::int64_t>(refused));
  text("resource", kind == WaitKind::kQueueLimit ? shortage.resource : resource);
  text("wanted", kind == WaitKind::kQueueLimit ? shortage.wanted : wanted);
  text("mostFree", most_free);
  text("free", free);
  if (kind != WaitKind::kQueueLimit) return out;
  text("limitedBy", shortage.queue);
  text("limit", shortage.limit);
  text("allowed", shortage.allowed);
  text("used", shortage.used);
  return out;
}

api::Json waiting_json(const std::map<std::string, WaitReason>& waiting) {
  api::Json out = api::Json::object();
  for (const auto& [key, reason] : waiting) out.set(key, reason.json());
  return out;
}

}  // namespace scheduler
