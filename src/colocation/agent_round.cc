// One round: from a look at the machine to groups, to the offer, and to the node's condition.
#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "base/saturate.h"
#include "colocation/agent_state.h"
#include "colocation/policy/words.h"
#include "rt/files/files.h"

namespace colocation {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::int64_t kTicksASecond = 100;  // of /proc/stat, on every Linux
constexpr std::int64_t kStallPercent = 15;
constexpr int kQuantile = 95;
constexpr base::Duration kConditionPause = base::minutes(5);
constexpr base::Duration kHistoryPause = base::minutes(10);
constexpr std::string_view kConditionType = "ColocationReady";

// Thousandths of a processor in use between two counts of nanoseconds; -1: it cannot be said.
std::int64_t milli_between(const std::optional<std::int64_t>& before, const std::optional<std::int64_t>& now,
                           base::Duration span) {
  if (!before || !now || *now < *before || span.ns <= 0) return -1;
  return static_cast<std::int64_t>(static_cast<double>(*now - *before) * 1000.0 / static_cast<double>(span.ns));
}

std::optional<std::int64_t> ticks_ns(const std::optional<std::int64_t>& ticks) {
  if (!ticks) return std::nullopt;
  return base::saturating_multiply(*ticks, 1'000'000'000 / kTicksASecond);
}

}  // namespace

Measured Agent::State::measure(const MachineReading& look) const {
  Measured out;
  out.at = env.uptime();
  const base::Duration span = out.at - last_look_at;
  const MachineReading none;
  const MachineReading& before = last_look ? *last_look : none;
  const std::int64_t pods_cpu = milli_between(before.pods.cpu_ns, look.pods.cpu_ns, span);
  const std::int64_t machine_cpu = milli_between(ticks_ns(before.machine_ticks), ticks_ns(look.machine_ticks), span);
  out.has_cpu = pods_cpu >= 0 && (!options.include_system_usage || machine_cpu >= 0);
  out.has_memory = look.pods.memory_bytes && (!options.include_system_usage || look.memory);
  out.pods = {std::max<std::int64_t>(0, pods_cpu), look.pods.memory_bytes.value_or(0)};
  out.whole = out.pods;
  if (look.memory) {
    out.memory_total = look.memory->total_bytes;
    out.memory_available = look.memory->available_bytes;
  }
  if (options.include_system_usage) {
    out.whole.cpu_milli = std::max(out.whole.cpu_milli, machine_cpu);
    if (look.memory) out.whole.memory_bytes = look.memory->total_bytes - look.memory->available_bytes;
  }
  out.online = out.whole;
  const bool exclusive = !look.cpu_manager_policy.empty() && look.cpu_manager_policy != "none";
  for (const auto& [uid, pod] : facts) {
    const auto now = look.of_pod.find(uid);
    if (now == look.of_pod.end()) continue;
    const auto earlier = before.of_pod.find(uid);
    const std::int64_t cpu =
        earlier == before.of_pod.end() ? -1 : milli_between(earlier->second.cpu_ns, now->second.cpu_ns, span);
    const NodeAmounts used{std::max<std::int64_t>(0, cpu), now->second.memory_bytes.value_or(0)};
    out.of_pod[uid] = used;
    // COMPAT(colocation-own-use): what offline pods use of the offer is a part of it, and not online work.
    const bool holds_offer = pod.is_offline() && (pod.batch_cpu_milli > 0 || pod.batch_memory_bytes > 0);
    const bool has_own_processors = exclusive && pod.qos == QosClass::kGuaranteed && !pod.is_offline();
    if (holds_offer || has_own_processors)
      out.online.cpu_milli = std::max<std::int64_t>(0, out.online.cpu_milli - used.cpu_milli);
    if (holds_offer) out.online.memory_bytes = std::max<std::int64_t>(0, out.online.memory_bytes - used.memory_bytes);
  }
  if (before.memory_stall && look.memory_stall && span.ns > 0)
    out.memory_stalls =
        static_cast<double>(look.memory_stall->some_us - before.memory_stall->some_us) * 1000.0 * 100.0 >=
        static_cast<double>(span.ns) * kStallPercent;
  return out;
}

void Agent::State::take(const MachineReading& look, bool full) {
  // Two looks in the same instant say nothing of what is used.
  if (last_look && env.uptime() - last_look_at < base::milliseconds(50) && !full) return;
  Measured now = measure(look);
  if (!full)
    for (const auto& [uid, used] : measured.of_pod) now.of_pod.emplace(uid, used);
  measured = std::move(now);
  last_look_at = measured.at;
  for (auto* times : {&leaving, &refused})
    std::erase_if(*times, [this](const auto& one) { return !facts.contains(one.first); });
  for (const auto& [uid, pod] : facts)
    if (pod.deleting) leaving.emplace(uid, env.uptime());
  last_look = look;
  const bool counts = env.uptime() >= counts_next;
  // The first figure of processors comes with the second look.
  const bool is_first = counts_next == base::Duration{};
  if (counts) counts_next = env.uptime() + (is_first ? kTick : kFullPeriod);
  if (!configured || node() == nullptr) return;
  if (full)
    for (const auto& [uid, pod] : facts)
      if (const auto used = measured.of_pod.find(uid); used != measured.of_pod.end() && !pod.ended)
        advice.add(pod.workload, used->second,
                   {std::max(pod.cpu_milli, pod.batch_cpu_milli), std::max(pod.memory_bytes, pod.batch_memory_bytes)},
                   env.uptime());
  if (full) write_groups(look);
  if (counts) {
    offer(look);
    tell_condition();
  }
  judge_pressure(counts && !is_first);
}

std::vector<GroupValue> Agent::State::wished(const MachineReading& look) {
  std::vector<GroupValue> values;
  std::set<std::string> problems;
  for (const auto& [uid, pod] : facts) {
    const auto groups = look.groups.find(uid);
    if (groups == look.groups.end() || pod.ended) continue;
    Wish wish = values_of_pod(options.tree, supported, config, pod, groups->second);
    values.insert(values.end(), wish.values.begin(), wish.values.end());
    const Json about =
        Json::object({{"apiVersion", "v1"},
                      {"kind", "Pod"},
                      {"metadata", Json::object({{"name", pod.name}, {"namespace", pod.ns}, {"uid", pod.uid}})}});
    for (const std::string& problem : wish.problems) {
      if (!pod_problems.contains(problem)) event(about, "Warning", "ColocationConfigParseFailed", problem);
      problems.insert(problem);
    }
    const bool skips_network = is_active(Feature::kNetworkQos, supported, config) && !pod.bandwidth_limits.empty();
    if (skips_network && said.insert("network " + uid).second)
      event(about, "Warning", "NetworkQoSSkipped",
            base::format("Colocation Network QoS is not set, because it already has an "
                         "Ingress-Bandwidth/Egress-Bandwidth network rate limit({})",
                         pod.bandwidth_limits));
  }
  pod_problems = std::move(problems);
  if (is_active(Feature::kCpuThrottle, supported, config) && options.tree.driver != GroupDriver::kOwn) {
    const NodeAmounts whole = allocatable_of(*node());
    if (measured.has_cpu && whole.cpu_milli > 0)
      if (const auto milli = next_throttle(config, whole.cpu_milli, measured.pods.cpu_milli, throttle))
        throttle_wish = throttle_value(options.tree, *milli);
    if (throttle_wish) values.push_back(*throttle_wish);
  }
  return values;
}

void Agent::State::write_groups(const MachineReading& look) {
  if (is_active(Feature::kNetworkQos, supported, config)) {
    const auto text = read_host_file(options.paths.os_release);
    const SystemRelease release = parse_os_release(text.ok() ? *text : std::string());
    if (!has_network_qos(release))
      event_once(kNetworkWord, "NetworkQoSUnsupported",
                 base::format("unsupported feature: os({}:{}) does not support network qos; the other features go on",
                              release.name, release.version));
  }
  auto values = std::make_shared<std::vector<GroupValue>>(wished(look));
  auto written = std::make_shared<WriteReport>();
  worker->run([writer = writer, values, written, now = env.now()] { *written = writer->apply(*values, now, true); },
              [weak = weak_from_this(), written] {
                if (const auto self = weak.lock(); self && !self->ending) self->take_report(*written);
              });
}

void Agent::State::take_report(const WriteReport& written) {
  failed_writes = written.failed;
  group_trouble = written.trouble;
  if (!written.trouble.empty())
    event_once("book", "ColocationStateNotKept",
               base::format("what groups had before cannot be kept: {}", written.trouble));
  for (const JournalEntry& entry : written.entries) {
    if (options.metrics)
      options.metrics
          ->counter("volcano_agent_group_writes_total", {entry.feature, entry.error.empty() ? "ok" : "error"})
          .add();
    // The same failure each ten seconds says nothing new.
    const bool repeated = !entry.error.empty() && std::ranges::any_of(journal, [&entry](const JournalEntry& other) {
      return other.file == entry.file && other.error == entry.error && other.after == entry.after;
    });
    if (repeated) continue;
    if (!entry.error.empty())
      event_once("write " + entry.error, "ColocationWriteFailed", base::format("{}: {}", entry.feature, entry.error));
    journal.push_back(entry);
    if (journal.size() > kJournalMax) journal.pop_front();
  }
  if (said.size() > kJournalMax) said.clear();
}

void Agent::State::offer(const MachineReading& look) {
  if (!supported.has(Feature::kOversubscription)) return;
  const NodeAmounts whole = allocatable_of(*node());
  if (measured.has_cpu && measured.has_memory) history.add(env.now(), measured.online, whole);
  if (!options.state_folder.empty() && env.uptime() - history_saved >= kHistoryPause) {
    history_saved = env.uptime();
    worker->run(
        [path = options.state_folder + "/history", text = history.text()] {
          if (const auto kept = rt::write_file(path, text, 0600); !kept.ok())
            base::log_warning("colocation", kept.error().message);
        },
        [] {});
  }
  if (!is_active(Feature::kOversubscription, supported, config)) {
    ring.clear();
    offered = {};
    if (tells_offer(*node(), options.names)) clean_up_offer();
    return;
  }
  if (!measured.has_cpu || !measured.has_memory) return;
  const std::string_view types = api::annotation_of(*node(), kTypesAnnotation);
  OfferInput input{.allocatable = whole,
                   .used = measured.online,
                   .foreseen = {},
                   .exclusive_cpu_milli = 0,
                   .ratio_percent = options.ratio_percent,
                   .types = types.empty() ? std::string_view(config.types) : types};
  foreseen = options.predicts ? history.foreseen(env.now(), kQuantile, whole) : NodeAmounts();
  input.foreseen = foreseen;
  if (!look.cpu_manager_policy.empty() && look.cpu_manager_policy != "none")
    for (const auto& [uid, pod] : facts)
      if (pod.qos == QosClass::kGuaranteed && !pod.is_offline() && !pod.ended)
        input.exclusive_cpu_milli = base::saturating_add(input.exclusive_cpu_milli, pod.cpu_milli);
  ring.add(offer_for(input));
  offered = ring.mean();
  if (!told_once || must_report(told_offer(*node(), options.names), offered, env.uptime() - told_at))
    tell_offer(offered);
}

void Agent::State::tell_offer(const NodeAmounts& amounts) {
  const Json patch = offer_patch(*node(), options.names, &amounts);
  const auto told = [weak = weak_from_this(), amounts](const base::Result<Json>& answer) {
    const auto self = weak.lock();
    if (!self) return;
    self->offer_under_way = false;
    if (!answer.ok())
      return self->event_once("offer " + answer.error().message, "OversubscriptionReportFailed",
                              base::format("node {}: {}", self->options.node_name, answer.error().message));
    self->told_once = true;
    self->told_at = self->env.uptime();
    if (!self->options.metrics) return;
    const auto gauge = [&self](const char* resource) {
      return self->options.metrics->gauge("volcano_agent_oversubscription_resource_quantity",
                                          {self->options.node_name, resource});
    };
    gauge("cpu").set(static_cast<double>(amounts.cpu_milli));
    gauge("memory").set(static_cast<double>(amounts.memory_bytes));
  };
  if (patch.is_null()) return told(Json());
  if (offer_under_way) return;
  offer_under_way = true;
  client.call({.verb = client::Verb::kPatch,
               .resource = resources::kNodes,
               .ns = {},
               .name = options.node_name,
               .subresource = "status",
               .body = patch},
              told);
}

void Agent::State::clean_up_offer() {
  const Json patch = offer_patch(*node(), options.names, nullptr);
  if (options.metrics)
    for (const char* resource : {"cpu", "memory"})
      options.metrics->gauge("volcano_agent_oversubscription_resource_quantity", {options.node_name, resource}).set(0);
  told_once = false;
  if (patch.is_null() || offer_under_way) return;
  offer_under_way = true;
  client.call({.verb = client::Verb::kPatch,
               .resource = resources::kNodes,
               .ns = {},
               .name = options.node_name,
               .subresource = "status",
               .body = patch},
              [weak = weak_from_this()](const base::Result<Json>&) {
                if (const auto self = weak.lock()) self->offer_under_way = false;
              });
}

client::Request Agent::State::condition_request(const ConditionWords& words) const {
  const std::string now = base::format_rfc3339(env.now());
  std::string since = now;
  for (const Json& old : (*node())["status"]["conditions"].items())
    if (old["type"].as_string() == kConditionType && old["status"].as_string() == words.status)
      since = old["lastTransitionTime"].str();
  client::Request request{.verb = client::Verb::kPatch,
                          .resource = resources::kNodes,
                          .ns = {},
                          .name = options.node_name,
                          .subresource = "status"};
  request.patch_type = client::PatchType::kStrategic;
  const Json condition = Json::object({{"type", kConditionType},
                                       {"status", words.status},
                                       {"reason", words.reason},
                                       {"message", words.message},
                                       {"lastHeartbeatTime", now},
                                       {"lastTransitionTime", since}});
  request.body = Json::object({{"status", Json::object({{"conditions", Json::array({condition})}})}});
  return request;
}

// The node says whether the agent does its work, and why not.
void Agent::State::tell_condition() {
  if (!config.colocation && condition_told.empty()) return;
  const std::string why = trouble();
  const bool fresh = condition_told == why + "." && env.uptime() - condition_told_at < kConditionPause;
  if (fresh || condition_under_way) return;
  condition_under_way = true;
  const ConditionWords words = why.empty() ? ConditionWords{"True", "ColocationWorks", "groups and offers are kept"}
                                           : ConditionWords{"False", "ColocationInTrouble", why};
  client.call(condition_request(words), [weak = weak_from_this(), why](const base::Result<Json>& told) {
    const auto self = weak.lock();
    if (!self) return;
    self->condition_under_way = false;
    if (!told.ok()) return;
    self->condition_told = why + ".";
    self->condition_told_at = self->env.uptime();
  });
}

}  // namespace colocation
