// The words and the JSON of a reason to wait.
#include "scheduler/framework/wait_reason.h"

#include <cmath>
#include <functional>
#include <utility>

#include "base/format.h"
#include "scheduler/framework/amount_text.h"
#include "scheduler/model/core/digest.h"

namespace scheduler {
namespace {

constexpr std::string_view kNames[] = {"QueueNotFound", "QueueNotOpen", "NoNodes",       "NotEnoughPods",
                                       "NotAdmitted",   "QueueLimit",   "QueueOverused", "NamespaceQuota",
                                       "ClusterFull",   "Gated",        "Refused",       "Resources",
                                       "Filter",        "Domain",       "Releasing",     "Unknown"};

bool has_shortage(WaitKind kind) {
  return kind == WaitKind::kQueueLimit || kind == WaitKind::kNamespaceQuota || kind == WaitKind::kClusterFull;
}

std::string holder_text(const Shortage& s) {
  switch (s.limit) {
    case Limit::kCapability:
    case Limit::kDeserved: return "queue " + s.name;
    case Limit::kQuota: return "quota " + s.name + " of the namespace";
    case Limit::kOvercommit: break;
  }
  return "all nodes together";
}

// The limit as a multiple of what there is: a machine of two processors has "2 (x 1.2)", and not 2.4.
std::string allowed_text(const Shortage& s) {
  if (s.factor == 1) return amount_text(s.allowed, s.resource);
  const double milli = std::round(static_cast<double>(s.allowed.milli_value()) / s.factor);
  const api::Quantity present = api::Quantity::from_milli(static_cast<std::int64_t>(milli));
  return base::format("{} (x {})", amount_text(present, s.resource), s.factor);
}

// Without the mark of what is impossible.
std::string limit_text(const Shortage& s) {
  const auto text = [&](const api::Quantity& amount) { return amount_text(amount, s.resource); };
  if (s.is_impossible()) {
    return base::format("asks for {} {}, {} {} {}", text(s.wanted), s.resource, holder_text(s),
                        s.limit == Limit::kQuota ? "allows" : "may hold", text(s.allowed));
  }
  return base::format("{}: {} {} of {}{} {}, this group asks for {} more", holder_text(s), s.resource, text(s.used),
                      s.limit == Limit::kDeserved ? "its share of " : "", allowed_text(s),
                      s.is_admission ? "used or admitted" : "used", text(s.wanted));
}

std::string resources_text(const WaitReason& r) {
  const std::string where = r.domain.empty() ? "" : " in " + r.domain;
  if (r.most_free.empty())
    return base::format("pod {}: {} of {} nodes{} lack {}", r.pod, r.refused, r.nodes, where, r.resource);
  const std::string some =
      base::format("no room{} for {} of the {} pods that start together: ", where, r.missing, r.minimum);
  if (r.resource == "pods")
    return r.fits_one ? base::format("{}nodes take {} more pods", some, r.free)
                      : base::format("no node{} takes one more pod, and {} needs a place", where, r.pod);
  const auto text = [&](const std::string& amount) {
    const auto parsed = api::Quantity::parse(amount);
    return parsed ? amount_text(*parsed, r.resource) : amount;
  };
  if (!r.fits_one || r.missing == 0)
    return base::format("no node{} has {} {} free for pod {}: the most is {}", where, text(r.wanted), r.resource, r.pod,
                        text(r.most_free));
  return base::format("{}pod {} asks for {} {}, {} free, at most {} on one node", some, r.pod, text(r.wanted),
                      r.resource, text(r.free), text(r.most_free));
}

// Words of the original that only its developers understand, and what they mean.
constexpr std::pair<std::string_view, std::string_view> kInWords[] = {
    {"hami-vgpuDeviceSharing error", "node(s) had no vGPU card with what the pod asks for"},
    {"cannot allocate all claims", "node(s) had no free devices for the pod's resource claims"}};

std::string in_words(std::string text) {
  for (const auto& [original, meaning] : kInWords) {
    if (const std::size_t at = text.find(original); at != std::string::npos) text.replace(at, original.size(), meaning);
  }
  return text;
}

std::string filter_text(const WaitReason& r) {
  if (r.is_of_pod) return base::format("pod {}: {}", r.pod, r.detail);
  return base::format("no node{} fits pod {}: {}", r.domain.empty() ? "" : " in " + r.domain, r.pod,
                      in_words(r.detail));
}

std::string plain_text(const WaitReason& r) {
  switch (r.kind) {
    case WaitKind::kQueueNotFound: return base::format("queue {} does not exist", r.queue);
    case WaitKind::kQueueNotOpen: return base::format("queue {} is {}", r.queue, r.detail);
    case WaitKind::kNoNodes: return "the cluster has no nodes";
    case WaitKind::kNotEnoughPods:
      if (r.pods >= r.minimum) return r.detail;
      return base::format("{} of the {} pods that start together {}", r.pods, r.minimum,
                          r.pods == 1 ? "exists" : "exist");
    case WaitKind::kNotAdmitted: return r.detail;
    case WaitKind::kQueueLimit:
    case WaitKind::kNamespaceQuota:
    case WaitKind::kClusterFull: return limit_text(r.shortage);
    case WaitKind::kQueueOverused: return base::format("queue {} has had its share: {}", r.queue, r.detail);
    case WaitKind::kGated:
      return base::format("{} {} held by scheduling gates", r.missing, r.missing == 1 ? "pod is" : "pods are");
    case WaitKind::kRefused: return base::format("pod {}: {}", r.pod, r.detail);
    case WaitKind::kResources: return resources_text(r);
    case WaitKind::kFilter: return filter_text(r);
    case WaitKind::kDomain: return r.detail;
    case WaitKind::kReleasing:
      return base::format("{} for room that others are leaving",
                          r.missing == 1 ? "1 pod waits" : base::format("{} pods wait", r.missing));
    case WaitKind::kUnknown: break;
  }
  return r.detail;
}

// A second sentence follows the reason where the configuration has evictions.
std::string evictions_text(const WaitReason& r) {
  if (r.evictions.empty()) return "";
  const Shortage& s = r.shortage;
  if (!has_shortage(r.kind) || !s.is_admission) return "; " + r.evictions;
  return base::format("; {}, {} of {} {} admitted", r.evictions, amount_text(s.used, s.resource),
                      amount_text(s.allowed, s.resource), s.resource);
}

}  // namespace

std::string_view name_of(Limit limit) {
  switch (limit) {
    case Limit::kCapability: return "capability";
    case Limit::kDeserved: return "deserved";
    case Limit::kQuota: return "quota";
    case Limit::kOvercommit: break;
  }
  return "overcommit";
}

std::string_view name_of(WaitKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

std::string WaitReason::message() const {
  std::string out = !is_impossible       ? plain_text(*this) + evictions_text(*this)
                    : has_shortage(kind) ? "can never start: " + limit_text(shortage)
                                         : "can never start: " + detail;
  if (holds_nothing) out += base::format("; it holds nothing of queue {} meanwhile", queue);
  return out;
}

std::uint64_t WaitReason::digest() const {
  Digest out;
  out.add(static_cast<std::uint64_t>(kind) * 4 + (is_impossible ? 2 : 0) + (fits_one ? 1 : 0));
  out.add(std::uint64_t{holds_nothing});
  out.add(static_cast<std::uint64_t>(pods) << 32 | static_cast<std::uint32_t>(minimum));
  for (const std::string_view one : {queue, pod, resource, wanted, domain, evictions}) out.add(one);
  // How many nodes drop out for which reason changes with other pods.
  for (const char c : detail) {
    if (kind != WaitKind::kFilter || c < '0' || c > '9') out.add(static_cast<unsigned char>(c));
  }
  if (has_shortage(kind)) {
    out.add(static_cast<std::uint64_t>(shortage.limit));
    for (const std::string_view one : {shortage.name, shortage.resource}) out.add(one);
    out.add(static_cast<std::uint64_t>(shortage.wanted.milli_value()));
    if (shortage.is_fixed()) out.add(static_cast<std::uint64_t>(shortage.allowed.milli_value()));
  }
  return out.value();
}

api::Json WaitReason::json() const {
  api::Json out = api::Json::object({{"reason", name_of(kind)}, {"message", message()}});
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) out.set(key, value);
  };
  const auto number = [&](std::string_view key, std::int64_t value) {
    if (value != 0) out.set(key, value);
  };
  if (is_impossible) out.set("impossible", true);
  if (holds_nothing) out.set("holdsNothing", true);
  text("queue", queue);
  number("pods", pods);
  number("minAvailable", minimum);
  number("missing", missing);
  text("detail", detail);
  text("pod", pod);
  text("domain", domain);
  text("evictions", evictions);
  number("nodes", static_cast<std::int64_t>(nodes));
  number("refused", static_cast<std::int64_t>(refused));
  text("resource", has_shortage(kind) ? shortage.resource : resource);
  text("wanted", has_shortage(kind) ? shortage.wanted.to_string() : wanted);
  text("mostFree", most_free);
  text("free", free);
  if (!has_shortage(kind)) return out;
  text("limitedBy", shortage.name);
  out.set("limit", name_of(shortage.limit));
  text("allowed", shortage.allowed.to_string());
  text("used", shortage.used.to_string());
  return out;
}

api::Json waiting_json(const std::map<std::string, WaitReason>& waiting) {
  api::Json out = api::Json::object();
  for (const auto& [key, reason] : waiting) out.set(key, reason.json());
  return out;
}

}  // namespace scheduler
