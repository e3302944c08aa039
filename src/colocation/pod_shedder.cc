// Shedding offline pods (agent.md 7): when, which, and how the server is told.
#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "base/saturate.h"
#include "colocation/agent_state.h"
#include "colocation/policy/words.h"

namespace colocation {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kShedMax = 256;  // entries of the log
constexpr base::Duration kRefusedPause = base::seconds(10);
constexpr std::size_t kGangsMax = 64;      // asked for at a time
constexpr std::int64_t kAvailableMin = 5;  // percent of the machine's memory

std::int64_t above_mark(std::int64_t used, std::int64_t whole, std::int64_t percent) {
  const double mark = static_cast<double>(whole) * static_cast<double>(percent) / 100.0;
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(used) - mark));
}

}  // namespace

void Agent::State::judge_pressure(bool counts) {
  const bool may_shed = supported.has(Feature::kEviction);
  if (cleaning) {
    const bool held = std::ranges::any_of(facts, [](const auto& one) {
      const PodFacts& pod = one.second;
      return pod.is_offline() && !pod.ended && (pod.batch_cpu_milli > 0 || pod.batch_memory_bytes > 0);
    });
    if (!held) cleaning = false;
    // A job makes its pods again at once: they must find no offer any more.
    if (tells_offer(*node(), options.names)) return clean_up_offer();
    if (held && may_shed) shed(NodeResource::kCpu, 1, true);
    return;
  }
  if (!may_shed) return;
  std::string problem;
  const Watermarks marks = watermarks_for(config, *node(), &problem);
  if (!problem.empty()) event_once("marks " + problem, "WatermarksIgnored", problem);
  const NodeAmounts whole = allocatable_of(*node());
  const std::int64_t cpu = measured.has_cpu ? percent_used(measured.whole.cpu_milli, whole.cpu_milli) : -1;
  const std::int64_t memory = measured.has_memory ? percent_used(measured.whole.memory_bytes, whole.memory_bytes) : -1;
  if (counts) {
    if (cpu >= 0) pressure.look(NodeResource::kCpu, cpu, marks);
    if (memory >= 0) pressure.look(NodeResource::kMemory, memory, marks);
  }
  const bool stall = std::exchange(stalled, false) || measured.memory_stalls;
  const bool scarce =
      measured.memory_total > 0 && measured.memory_available < measured.memory_total / 100 * kAvailableMin;
  // A count of looks ten seconds apart says nothing of this second.
  const bool memory_now = memory >= marks.memory_high && (stall || pressure.is_pressed(NodeResource::kMemory));
  const bool relaxed = cpu >= 0 && memory >= 0 && cpu <= marks.cpu_low && memory <= marks.memory_low;
  if (relaxed && !scarce) set_taint(false, {});
  if (!config.oversubscription) return;
  if (scarce || memory_now) {
    std::int64_t excess = above_mark(measured.whole.memory_bytes, whole.memory_bytes, marks.memory_high);
    if (scarce) excess = std::max(excess, measured.memory_total / 100 * kAvailableMin - measured.memory_available);
    shed(NodeResource::kMemory, excess, false);
  } else if (pressure.is_pressed(NodeResource::kCpu) && cpu >= marks.cpu_high) {
    shed(NodeResource::kCpu, above_mark(measured.whole.cpu_milli, whole.cpu_milli, marks.cpu_high), false);
  }
}

// The amounts of pods on their way out, as long as they can be expected to be gone soon.
std::int64_t Agent::State::releasing(NodeResource resource) const {
  std::int64_t sum = 0;
  for (const auto& [uid, since] : leaving) {
    const auto pod = facts.find(uid);
    if (pod == facts.end() || env.uptime() - since > kReleaseMax) continue;
    const auto used = measured.of_pod.find(uid);
    std::int64_t amount = used == measured.of_pod.end() ? 0 : amount_of(used->second, resource);
    if (amount == 0)
      amount = resource == NodeResource::kCpu ? std::max(pod->second.cpu_milli, pod->second.batch_cpu_milli)
                                              : std::max(pod->second.memory_bytes, pod->second.batch_memory_bytes);
    sum = base::saturating_add(sum, std::max<std::int64_t>(1, amount));
  }
  return sum;
}

void Agent::State::shed(NodeResource resource, std::int64_t excess, bool is_cleaning) {
  if (shedding) return;
  auto input = std::make_shared<EvictionInput>();
  input->resource = resource;
  input->excess = excess;
  input->releasing = releasing(resource);
  if (input->releasing >= excess) return;
  std::vector<std::string> gangs;
  auto kept = std::make_shared<std::vector<PodFacts>>();  // what is known of pods may change meanwhile
  for (const auto& [uid, pod] : facts) {
    const bool holds = pod.batch_cpu_milli > 0 || pod.batch_memory_bytes > 0;
    const auto until = refused.find(uid);
    const bool rests = until != refused.end() && env.uptime() < until->second;
    if (!pod.is_offline() || leaving.contains(uid) || pod.ended || rests || (is_cleaning && !holds)) continue;
    kept->push_back(pod);
    const std::string gang = pod.ns + "/" + pod.group;
    if (!pod.group.empty() && std::ranges::find(gangs, gang) == gangs.end()) gangs.push_back(gang);
  }
  if (kept->empty()) return;
  if (gangs.size() > kGangsMax) gangs.resize(kGangsMax);
  shedding = true;
  const std::string word(resource_word(resource));
  ask_gangs(std::move(gangs), [weak = weak_from_this(), input, kept, word,
                               is_cleaning](std::map<std::string, GangFacts> found) {
    const auto self = weak.lock();
    if (!self) return;
    input->gangs = std::move(found);
    for (const PodFacts& pod : *kept) {
      const auto used = self->measured.of_pod.find(pod.uid);
      input->candidates.push_back({&pod, used == self->measured.of_pod.end() ? NodeAmounts() : used->second});
    }
    auto victims = std::shared_ptr<std::vector<Victim>>(new std::vector<Victim>(victims_in_order(*input)),
                                                        [kept](std::vector<Victim>* list) { delete list; });
    const std::string message = is_cleaning ? "Evict offline pod due to node overSubscription is turned off"
                                            : base::format("Evict offline pod due to {} resource pressure", word);
    const std::string label = is_cleaning ? "off" : word;
    const auto go_on = [weak, victims, message, label] {
      if (const auto again = weak.lock()) again->evict_next(victims, 0, message, label);
    };
    if (is_cleaning || victims->empty()) return go_on();
    self->set_taint(true, go_on);
  });
}

void Agent::State::ask_gangs(std::vector<std::string> keys,
                             std::function<void(std::map<std::string, GangFacts>)> then) {
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
    client.call(
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
void Agent::State::evict_next(std::shared_ptr<std::vector<Victim>> victims, std::size_t at, std::string message,
                              std::string label) {
  if (at >= victims->size() || ending) {
    shedding = false;
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
    evict(*pod, message, label, [weak = weak_from_this(), outcome, victims, at, message, label](bool gone) {
      outcome->any = outcome->any || gone;
      const auto self = weak.lock();
      if (!self || --outcome->open > 0) return;
      if (outcome->any)
        self->shedding = false;
      else
        self->evict_next(victims, at + 1, message, label);
    });
}

void Agent::State::evict(const PodFacts& pod, const std::string& message, const std::string& label,
                         std::function<void(bool)> then) {
  const Json metadata = Json::object({{"name", pod.name}, {"namespace", pod.ns}});
  Json about = metadata;
  about.set("uid", pod.uid);
  const Json object = Json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", about}});
  client.call(
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
      [weak = weak_from_this(), object, message, label, uid = pod.uid, key = pod.key(),
       then = std::move(then)](const base::Result<Json>& done) {
        const auto self = weak.lock();
        if (!self) return;
        // A pod that is gone, or another of its name, holds nothing here.
        const bool gone = !done.ok() && done.error().code == base::Code::kNotFound;
        if (self->options.metrics)
          self->options.metrics->counter("volcano_agent_evictions_total", {label, done.ok() || gone ? "ok" : "error"})
              .add();
        Json entry = Json::object({{"time", base::format_rfc3339_micro(self->env.now())},
                                   {"pod", key},
                                   {"message", done.ok() || gone ? message : done.error().message}});
        self->shed_log.push_back(std::move(entry));
        if (self->shed_log.size() > kShedMax) self->shed_log.pop_front();
        if (done.ok()) {
          self->leaving.emplace(uid, self->env.uptime());
          self->event(object, "Warning", "Evicted", message);
        } else if (!gone) {
          self->refused[uid] = self->env.uptime() + kRefusedPause;
          base::log_warning("colocation", base::format("pod {} cannot be evicted: {}", key, done.error().message));
        }
        then(done.ok() || gone);
      });
}

void Agent::State::set_taint(bool wanted, std::function<void()> then) {
  const auto go_on = [then = std::move(then)] {
    if (then) then();
  };
  const Json* present = node();
  if (present == nullptr) return go_on();
  Json taints = Json::array();
  bool has = false;
  for (const Json& taint : (*present)["spec"]["taints"].items()) {
    const bool ours = taint["key"].as_string() == kEvictingTaint && taint["effect"].as_string() == "NoSchedule";
    has = has || ours;
    if (!ours) taints.push_back(taint);
  }
  if (has == wanted || taint_under_way) return go_on();
  if (wanted) taints.push_back(Json::object({{"key", kEvictingTaint}, {"effect", "NoSchedule"}}));
  taint_under_way = true;
  client.call(
      {.verb = client::Verb::kPatch,
       .resource = resources::kNodes,
       .ns = {},
       .name = options.node_name,
       .subresource = {},
       .body = Json::object({{"metadata", Json::object({{"resourceVersion", api::resource_version_of(*present)}})},
                             {"spec", Json::object({{"taints", taints.empty() ? Json() : taints}})}})},
      [weak = weak_from_this(), go_on](const base::Result<Json>& set) {
        const auto self = weak.lock();
        if (!self) return;
        self->taint_under_way = false;
        if (!set.ok() && set.error().code != base::Code::kConflict)
          self->event_once("taint " + set.error().message, "NodeUpdateFailed",
                           base::format("node {}: {}", self->options.node_name, set.error().message));
        go_on();
      });
}

}  // namespace colocation
