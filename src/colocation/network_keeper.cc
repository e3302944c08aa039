// Looks at the network, and what follows from them.
#include "colocation/network_keeper.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "rt/files/files.h"

namespace colocation {

using api::Json;

namespace {

constexpr std::string_view kTable = "volcano_colocation";
// So much of an offline pod that no rule has seen passes by them.
constexpr std::int64_t kPassedBytes = std::int64_t{1} << 20;
// A single one may be of a moment in which the only pod ended.
constexpr int kSightlessMax = 2;

// Each `volcano up` of a machine has a table of its own.
std::string table_of(const GroupTree& tree) {
  const std::string own = tree.above.substr(tree.above.rfind('-') + 1);
  return tree.driver == GroupDriver::kOwn ? base::format("{}_{}", kTable, own) : std::string(kTable);
}

Json about(const PodFacts& pod) {
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", Json::object({{"name", pod.name}, {"namespace", pod.ns}, {"uid", pod.uid}})}});
}

// On the disk while there may be rules, so that the next start takes them away.
void mark(const std::string& path, const std::string& table) {
  if (path.empty()) return;
  if (const base::Status kept = rt::write_file(path, table + "\n", 0600); !kept.ok())
    base::log_warning("colocation", kept.error().message);
}
void unmark(const std::string& path) {
  if (!path.empty()) (void)rt::remove_tree(path);
}

}  // namespace

NetworkKeeper::NetworkKeeper(const AgentMeans& means, const NodeView& view, const ConfigKeeper& config,
                             AgentEvents& events, Journal& journal)
    : means_(means),
      view_(view),
      config_(config),
      events_(events),
      journal_(journal),
      network_(means.options.network ? means.options.network : make_kernel_network()),
      table_(table_of(means.options.tree)) {}

std::string NetworkKeeper::mark_path() const {
  const std::string& folder = means_.options.state_folder;
  return folder.empty() ? folder : folder + "/network";
}

void NetworkKeeper::start(rt::Worker& files) {
  files_ = &files;
  const std::string path = mark_path();
  has_written_ = !path.empty() && read_host_file(path).ok();
  if (has_written_) present_.reset();
}

void NetworkKeeper::stop() {
  stopped_ = true;
  means_.env.loop().cancel(timer_);
}

void NetworkKeeper::begin_anew() { events_.forget("network " + trouble_); }

void NetworkKeeper::follow(const MachineReading& look) {
  if (!config_.is_active(Feature::kNetworkQos)) return rest();
  look_at_counts();
  if (std::exchange(reads_, true)) return;
  auto reading = std::make_shared<NetworkReading>();
  files_->run(
      [network = network_, request = request_for(look), reading] { *reading = read_network(*network, request); },
      means_.guard.while_alive([this, reading] {
        reads_ = false;
        if (!stopped_) found(*reading);
      }));
}

// The feature is off.
void NetworkKeeper::rest() {
  trouble_.clear();
  is_blind_ = false;
  interfaces_.clear();
  sides_ = {};
  hold();
}

bool NetworkKeeper::has_running_pods() const {
  return std::ranges::any_of(view_.pods(), [](const auto& one) {
    return !one.second.ended && !one.second.host_network &&
           std::ranges::any_of(one.second.containers, [](const ContainerFacts& of) { return !of.id.empty(); });
  });
}

NetworkRequest NetworkKeeper::request_for(const MachineReading& look) {
  NetworkRequest request{means_.options.paths, means_.options.tree, {}};
  for (const auto& [uid, pod] : view_.pods()) {
    const auto groups = look.groups.find(uid);
    if (pod.ended || groups == look.groups.end()) continue;
    const bool is_skipped = pod.host_network || (pod.is_offline() && !pod.bandwidth_limits.empty());
    if (is_skipped && pod.is_offline()) report_skipped(pod);
    if (!is_skipped) request.groups[uid] = groups->second.all;
  }
  return request;
}

void NetworkKeeper::report_skipped(const PodFacts& pod) {
  if (!events_.is_first("network " + pod.uid)) return;
  events_.record(about(pod), "Warning", "NetworkQoSSkipped",
                 pod.host_network ? "Colocation Network QoS is not set, because the pod uses the network of its node"
                                  : base::format("Colocation Network QoS is not set, because it already has an "
                                                 "Ingress-Bandwidth/Egress-Bandwidth network rate limit({})",
                                                 pod.bandwidth_limits));
}

void NetworkKeeper::found(const NetworkReading& reading) {
  if (!config_.is_active(Feature::kNetworkQos)) return rest();
  if (!reading.trouble.empty()) return refuse(reading.trouble);
  if (view_.node() == nullptr) return;
  sightless_ = reading.sees_processes || !has_running_pods() ? 0 : sightless_ + 1;
  if (sightless_ >= kSightlessMax) return refuse("no process of any pod can be seen (hostPID)");
  const auto mbps = base_network_mbps(*view_.node(), reading.uplink);
  if (!mbps.ok()) return refuse(mbps.error().message);
  if (!is_blind_) trouble_.clear();
  rates_ = network_rates(config_.config(), *mbps);
  interfaces_ = reading.interfaces;
  sides_ = sides_of(reading);
  hold();
}

// An interface that both sides claim is an online pod's.
NetworkKeeper::Sides NetworkKeeper::sides_of(const NetworkReading& reading) {
  Sides sides;
  for (const auto& [uid, names] : reading.interfaces) {
    const auto pod = view_.pods().find(uid);
    if (pod == view_.pods().end() || pod->second.ended) continue;
    auto& side = pod->second.is_offline() ? sides.offline : sides.online;
    side.insert(side.end(), names.begin(), names.end());
  }
  std::ranges::sort(sides.online);
  std::ranges::sort(sides.offline);
  std::erase_if(sides.offline,
                [&sides](const std::string& name) { return std::ranges::binary_search(sides.online, name); });
  return sides;
}

void NetworkKeeper::refuse(const std::string& why) {
  warn(why);
  interfaces_.clear();
  sides_ = {};
  hold();
}

void NetworkKeeper::warn(const std::string& why) {
  trouble_ = why;
  events_.warn_once("network " + why, "NetworkQoSUnsupported",
                    base::format("network QoS: {}; the other features go on", why));
}

void NetworkKeeper::look_at_counts() {
  if (!present_ || present_->interfaces.empty()) return;
  auto counts = std::make_shared<base::Result<PacketCounts>>(PacketCounts());
  auto sent = std::make_shared<SentBytes>();
  files_->run(
      [network = network_, table = table_, paths = means_.options.paths, interfaces = present_->interfaces, counts,
       sent] {
        *counts = network->counts(table);
        *sent = read_sent_bytes(paths, interfaces);
      },
      means_.guard.while_alive([this, counts, sent] {
        if (!stopped_) counted(*counts, *sent);
      }));
}

void NetworkKeeper::counted(const base::Result<PacketCounts>& counts, const SentBytes& sent) {
  if (!counts.ok()) {
    if (counts.error().code == base::Code::kNotFound) present_.reset();  // the next reading puts it back
    return;
  }
  const bool sees = counts->seen_bytes > counts_.seen_bytes;
  const bool sent_much = offline_sent_ && sent_between(*offline_sent_, sent) >= kPassedBytes;
  if (sees || sent_much) is_blind_ = !sees;
  add_dropped(*counts);
  counts_ = *counts;
  offline_sent_ = sent;
  if (is_blind_)
    warn("what offline pods send passes by the rules at their interfaces: a network plugin takes it on earlier");
}

void NetworkKeeper::add_dropped(const PacketCounts& counts) {
  if (means_.options.metrics && counts.dropped_bytes > counts_.dropped_bytes)
    means_.options.metrics->counter("volcano_agent_network_dropped_bytes_total")
        .add(static_cast<double>(counts.dropped_bytes - counts_.dropped_bytes));
}

// Online pods are looked at only while there is somebody to hold back.
void NetworkKeeper::plan_check() {
  if (stopped_ || sides_.offline.empty() || std::exchange(checks_, true)) return;
  timer_ =
      means_.env.loop().after(network_check_interval(config_.config()), means_.guard.while_alive([this] { check(); }));
}

void NetworkKeeper::check() {
  if (stopped_ || sides_.offline.empty()) {
    checks_ = false;
    sent_.reset();
    rate_ = {};
    return;
  }
  auto now = std::make_shared<SentBytes>();
  files_->run(
      [paths = means_.options.paths, interfaces = sides_.online, now] { *now = read_sent_bytes(paths, interfaces); },
      means_.guard.while_alive([this, now] {
        checks_ = false;
        if (!stopped_) checked(*now);
      }));
}

void NetworkKeeper::checked(const SentBytes& now) {
  const base::Duration at = means_.env.uptime();
  const bool was_low = rate_.is_low;
  if (sent_) rate_ = next_rate_state(rate_, rates_, sent_between(*sent_, now), at - sent_at_);
  sent_ = now;
  sent_at_ = at;
  if (means_.options.metrics)
    means_.options.metrics->gauge("volcano_agent_network_online_bytes_per_second")
        .set(static_cast<double>(rate_.online_rate));
  if (rate_.is_low != was_low) hold();
  plan_check();
}

// Brings the rules to what is known now.
void NetworkKeeper::hold() {
  PacketRules rules;
  if (!sides_.offline.empty()) rules = {sides_.offline, rate_.is_low ? rates_.offline_low : rates_.offline_high};
  if (!present_ || *present_ != rules) set(std::move(rules));
  plan_check();
}

void NetworkKeeper::set(PacketRules rules) {
  const std::string before = present_ ? packet_rules_text(*present_) : "unknown";
  present_ = rules;
  auto done = std::make_shared<base::Result<PacketRules>>(rules);
  auto counts = std::make_shared<PacketCounts>();
  files_->run(
      [network = network_, table = table_, path = mark_path(), rules, done, counts, has_written = has_written_] {
        if (const auto last = network->counts(table); last.ok()) *counts = *last;
        if (!rules.interfaces.empty()) mark(path, table);
        *done = set_packet_rules(*network, table, rules);
        if (done->ok() ? (*done)->interfaces.empty() : !has_written) unmark(path);
      },
      means_.guard.while_alive([this, rules, before, done, counts] {
        if (stopped_) return;
        add_dropped(*counts);
        counts_ = {};
        offline_sent_.reset();
        is_blind_ = false;
        was_set(rules, before, *done);
      }));
}

void NetworkKeeper::was_set(const PacketRules& asked, const std::string& before,
                            const base::Result<PacketRules>& done) {
  JournalEntry entry{means_.env.now(),
                     std::string(feature_name(Feature::kNetworkQos)),
                     base::format("nftables: table netdev {}", table_),
                     before,
                     packet_rules_text(done.ok() ? *done : asked),
                     done.ok() ? std::string() : done.error().message};
  if (done.ok()) has_written_ = !done->interfaces.empty();
  if (present_ == asked && done.ok()) present_ = *done;
  if (present_ == asked && !done.ok()) present_ = has_written_ ? std::nullopt : std::optional(PacketRules());
  journal_.add(entry);
  if (!done.ok()) return warn(base::format("the packet rules cannot be set: {}", done.error().message));
  if (means_.options.metrics)
    means_.options.metrics->gauge("volcano_agent_network_offline_limit_bytes_per_second")
        .set(static_cast<double>(done->interfaces.empty() ? 0 : done->bytes_per_second));
}

void NetworkKeeper::take_back() {
  if (present_ && present_->interfaces.empty()) return;
  files_->run(
      [network = network_, table = table_, path = mark_path()] {
        const base::Status gone = network->set(table, {});
        if (gone.ok()) return unmark(path);
        base::log_warning("colocation", base::format("the packet rules stay: {}", gone.error().message));
      },
      [] {});
}

Json NetworkKeeper::report() const {
  const bool holds = present_ && !present_->interfaces.empty();
  Json interfaces = Json::array();
  for (const auto& [uid, names] : interfaces_) {
    const auto pod = view_.pods().find(uid);
    if (pod == view_.pods().end()) continue;
    for (const std::string& name : names)
      interfaces.push_back(Json::object({{"pod", pod->second.key()},
                                         {"interface", name},
                                         {"held", holds && std::ranges::binary_search(present_->interfaces, name)}}));
  }
  return Json::object({{"trouble", trouble_},
                       {"table", table_},
                       {"interfaces", std::move(interfaces)},
                       {"onlineBytesPerSecond", rate_.online_rate},
                       {"watermark", rates_.online_watermark},
                       {"limit", holds ? Json(present_->bytes_per_second) : Json()},
                       {"droppedBytes", counts_.dropped_bytes}});
}

}  // namespace colocation
