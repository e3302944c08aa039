// How offline pods are chosen and evicted.
#include "colocation/pod_shedder.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "base/saturate.h"
#include "colocation/policy/words.h"

namespace colocation {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kShedMax = 256;  // entries of the log
constexpr base::Duration kRefusedPause = base::seconds(10);
constexpr std::size_t kGangsMax = 64;                      // asked for at a time
constexpr base::Duration kReleaseMax = base::seconds(30);  // how long a pod counts as on its way out
constexpr std::int64_t kAvailableMin = 5;                  // percent of the machine's memory

std::int64_t above_mark(std::int64_t used, std::int64_t whole, std::int64_t percent) {
  const double mark = static_cast<double>(whole) * static_cast<double>(percent) / 100.0;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(used) - mark));
}

}  // namespace

PodShedder::PodShedder(const AgentMeans& means, const NodeView& view, const Measured& measured, ConfigKeeper& config,
                       NodeOffer& offer, AgentEvents& events)
    : means_(means), view_(view), measured_(measured), config_(config), offer_(offer), events_(events) {}

void PodShedder::follow_pods() {
  const NodeView::Pods& pods = view_.pods();
  for (auto* times : {&leaving_, &refused_})
    std::erase_if(*times, [&pods](const auto& one) { return !pods.contains(one.first); });
  for (const auto& [uid, pod] : pods)
    if (pod.deleting) leaving_.emplace(uid, means_.env.uptime());
}

void PodShedder::clean_up() {
  const bool held = std::ranges::any_of(view_.pods(), [](const auto& one) {
    const PodFacts& pod = one.second;
    return pod.is_offline() && !pod.ended && (pod.batch_cpu_milli > 0 || pod.batch_memory_bytes > 0);
  });
  if (!held) config_.end_cleaning();
  // A job makes its pods again at once: they must find no offer any more.
  if (reports_offer(*view_.node(), means_.options.names)) return offer_.take_back();
  if (held && means_.supported.has(Feature::kEviction)) shed(NodeResource::kCpu, 1, true);
}

void PodShedder::judge(bool counts) {
  if (config_.is_cleaning()) return clean_up();
  if (!means_.supported.has(Feature::kEviction)) return;
  std::string problem;
  const Watermarks marks = watermarks_for(config_.config(), *view_.node(), &problem);
  if (!problem.empty()) events_.warn_once("marks " + problem, "WatermarksIgnored", problem);
  const NodeAmounts whole = allocatable_of(*view_.node());
  const std::int64_t cpu = measured_.has_cpu ? percent_used(measured_.whole.cpu_milli, whole.cpu_milli) : -1;
  const std::int64_t memory =
      measured_.has_memory ? percent_used(measured_.whole.memory_bytes, whole.memory_bytes) : -1;
  if (counts) {
    if (cpu >= 0) pressure_.look(NodeResource::kCpu, cpu, marks);
    if (memory >= 0) pressure_.look(NodeResource::kMemory, memory, marks);
  }
  const bool stall = std::exchange(stalled_, false) || measured_.memory_stalls;
  const bool scarce =
      measured_.memory_total > 0 && measured_.memory_available < measured_.memory_total / 100 * kAvailableMin;
  // A count of looks ten seconds apart says nothing of this second.
  const bool memory_now = memory >= marks.memory_high && (stall || pressure_.is_pressed(NodeResource::kMemory));
  // Offline pods move most of what the disks do meanwhile.
  const bool disks = measured_.online_stalls.io;
  const bool relaxed = !disks && cpu >= 0 && memory >= 0 && cpu <= marks.cpu_low && memory <= marks.memory_low;
  if (relaxed && !scarce) set_taint(false, {});
  if (!config_.config().oversubscription) return;
  if (scarce || memory_now) {
    std::int64_t excess = above_mark(measured_.whole.memory_bytes, whole.memory_bytes, marks.memory_high);
    if (scarce) excess = std::max(excess, measured_.memory_total / 100 * kAvailableMin - measured_.memory_available);
    shed(NodeResource::kMemory, excess, false);
  } else if (cpu >= marks.cpu_high && (measured_.online_stalls.cpu || pressure_.is_pressed(NodeResource::kCpu))) {
    shed(NodeResource::kCpu, above_mark(measured_.whole.cpu_milli, whole.cpu_milli, marks.cpu_high), false);
  } else if (disks) {
    shed(NodeResource::kIo, 1, false);
  }
}

// The amounts of pods on their way out, as long as they can be expected to be gone soon.
std::int64_t PodShedder::releasing(NodeResource resource) const {
  std::int64_t sum = 0;
  for (const auto& [uid, since] : leaving_) {
    const auto pod = view_.pods().find(uid);
    if (pod == view_.pods().end() || means_.env.uptime() - since > kReleaseMax) continue;
    const auto used = measured_.of_pod.find(uid);
    std::int64_t amount = used == measured_.of_pod.end() ? 0 : amount_of(used->second, resource);
    if (amount == 0)
      amount = resource == NodeResource::kCpu ? std::max(pod->second.cpu_milli, pod->second.batch_cpu_milli)
                                              : std::max(pod->second.memory_bytes, pod->second.batch_memory_bytes);
    sum = base::saturating_add(sum, std::max<std::int64_t>(1, amount));
  }
  return sum;
}

void PodShedder::shed(NodeResource resource, std::int64_t excess, bool is_cleaning) {
  if (shedding_) return;
  auto input = std::make_shared<EvictionInput>();
  input->resource = resource;
  input->excess = excess;
  input->releasing = releasing(resource);
  if (input->releasing >= excess) return;
  std::vector<std::string> gangs;
  auto kept = std::make_shared<std::vector<PodFacts>>();  // what is known of pods may change meanwhile
  for (const auto& [uid, pod] : view_.pods()) {
    const bool holds = pod.batch_cpu_milli > 0 || pod.batch_memory_bytes > 0;
    const auto until = refused_.find(uid);
    const bool rests = until != refused_.end() && means_.env.uptime() < until->second;
    if (!pod.is_offline() || leaving_.contains(uid) || pod.ended || rests || (is_cleaning && !holds)) continue;
    if (resource == NodeResource::kIo && !measured_.online_stalls.io_bytes.contains(uid)) continue;
    kept->push_back(pod);
    const std::string gang = pod.ns + "/" + pod.group;
    if (!pod.group.empty() && std::ranges::find(gangs, gang) == gangs.end()) gangs.push_back(gang);
  }
  if (kept->empty()) return;
  if (gangs.size() > kGangsMax) gangs.resize(kGangsMax);
  shedding_ = true;
  const std::string word(resource_word(resource));
  ask_gangs(std::move(gangs),
            means_.guard.while_alive([this, input, kept, word, is_cleaning](std::map<std::string, GangFacts> found) {
              input->gangs = std::move(found);
              for (const PodFacts& pod : *kept)
                input->candidates.push_back({&pod, measured_.of(pod.uid), measured_.io_bytes_of(pod.uid)});
              auto victims = std::shared_ptr<std::vector<Victim>>(new std::vector<Victim>(victims_in_order(*input)),
                                                                  [kept](std::vector<Victim>* list) { delete list; });
              const Order order =
                  is_cleaning ? Order{"Evict offline pod due to node overSubscription is turned off", "off"}
                              : Order{base::format("Evict offline pod due to {} resource pressure", word), word};
              const auto go_on = [this, victims, order] { evict_next(victims, 0, order); };
              if (is_cleaning || victims->empty()) return go_on();
              set_taint(true, go_on);
            }));
}

void PodShedder::ask_gangs(std::vector<std::string> keys, std::function<void(std::map<std::string, GangFacts>)> then) {
  struct Answers {
    std::map<std::string, GangFacts> found;
    std::size_t open = 0;
    std::function<void(std::map<std::string, GangFacts>)> then;
  };
  if (keys.empty()) return then({});
  auto answers = std::make_shared<Answers>();
  answers->open = keys.size();
  answers->then = std::move(then);
  for (const std::string& key : keys) {
    const std::size_t slash = key.find('/');
    means_.client.call(
        {.verb = client::Verb::kGet,
         .resource = resources::kPodGroups,
         .ns = key.substr(0, slash),
         .name = key.substr(slash + 1),
         .subresource = {}},
        [answers, key](const base::Result<Json>& group) {
          if (group.ok())
            answers->found[key] = {(*group)["status"]["running"].as_int(), (*group)["spec"]["minMember"].as_int()};
          if (--answers->open == 0) answers->then(std::move(answers->found));
        });
  }
}

// The next victim only where the one before could not go.
void PodShedder::evict_next(Victims victims, std::size_t at, const Order& order) {
  if (at >= victims->size() || stopped_) {
    shedding_ = false;
    return;
  }
  struct Outcome {
    std::size_t open = 0;
    bool any = false;
  };
  auto outcome = std::make_shared<Outcome>();
  const Victim& victim = (*victims)[at];
  outcome->open = victim.pods.size();
  for (const PodFacts* pod : victim.pods)
    evict(*pod, order, [this, outcome, victims, at, order](bool gone) {
      outcome->any = outcome->any || gone;
      if (--outcome->open > 0) return;
      if (outcome->any)
        shedding_ = false;
      else
        evict_next(victims, at + 1, order);
    });
}

void PodShedder::evict(const PodFacts& pod, const Order& order, std::function<void(bool)> then) {
  const Json metadata = Json::object({{"name", pod.name}, {"namespace", pod.ns}});
  means_.client.call(
      {.verb = client::Verb::kCreate,
       .resource = resources::kPods,
       .ns = pod.ns,
       .name = pod.name,
       .subresource = "eviction",
       .body = Json::object({{"apiVersion", "policy/v1"},
                             {"kind", "Eviction"},
                             {"metadata", metadata},
                             {"deleteOptions", Json::object({{"gracePeriodSeconds", 0},
                                                             {"preconditions", Json::object({{"uid", pod.uid}})}})}})},
      means_.guard.while_alive([this, pod, order, then = std::move(then)](const base::Result<Json>& done) {
        answered(pod, order, done);
        then(done.ok() || done.error().code == base::Code::kNotFound);
      }));
}

void PodShedder::answered(const PodFacts& pod, const Order& order, const base::Result<Json>& done) {
  // A pod that is gone, or another of its name, holds nothing here.
  const bool gone = !done.ok() && done.error().code == base::Code::kNotFound;
  if (means_.options.metrics)
    means_.options.metrics->counter("volcano_agent_evictions_total", {order.label, done.ok() || gone ? "ok" : "error"})
        .add();
  log_.push_back(Json::object({{"time", base::format_rfc3339_micro(means_.env.now())},
                               {"pod", pod.key()},
                               {"message", done.ok() || gone ? order.message : done.error().message}}));
  if (log_.size() > kShedMax) log_.pop_front();
  if (done.ok()) {
    leaving_.emplace(pod.uid, means_.env.uptime());
    const Json about = Json::object({{"name", pod.name}, {"namespace", pod.ns}, {"uid", pod.uid}});
    events_.record(Json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", about}}), "Warning", "Evicted",
                   order.message);
  } else if (!gone) {
    refused_[pod.uid] = means_.env.uptime() + kRefusedPause;
    base::log_warning("colocation", base::format("pod {} cannot be evicted: {}", pod.key(), done.error().message));
  }
}

void PodShedder::set_taint(bool wanted, std::function<void()> then) {
  const auto go_on = [then = std::move(then)] {
    if (then) then();
  };
  const Json* present = view_.node();
  if (present == nullptr) return go_on();
  Json taints = Json::array();
  bool has = false;
  for (const Json& taint : (*present)["spec"]["taints"].items()) {
    const bool ours = taint["key"].as_string() == kEvictingTaint && taint["effect"].as_string() == "NoSchedule";
    has = has || ours;
    if (!ours) taints.push_back(taint);
  }
  if (has == wanted || taint_under_way_) return go_on();
  if (wanted) taints.push_back(Json::object({{"key", kEvictingTaint}, {"effect", "NoSchedule"}}));
  taint_under_way_ = true;
  means_.client.call(
      {.verb = client::Verb::kPatch,
       .resource = resources::kNodes,
       .ns = {},
       .name = means_.options.node_name,
       .subresource = {},
       .body = Json::object({{"metadata", Json::object({{"resourceVersion", api::resource_version_of(*present)}})},
                             {"spec", Json::object({{"taints", taints.empty() ? Json() : taints}})}})},
      means_.guard.while_alive([this, go_on](const base::Result<Json>& set) {
        taint_under_way_ = false;
        if (!set.ok() && set.error().code != base::Code::kConflict)
          events_.warn_once("taint " + set.error().message, "NodeUpdateFailed",
                            base::format("node {}: {}", means_.options.node_name, set.error().message));
        go_on();
      }));
}

}  // namespace colocation
