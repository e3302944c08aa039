// How the offer follows from the use of the node, and how the server is told.
#include "colocation/node_offer.h"

#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "base/saturate.h"
#include "colocation/policy/words.h"
#include "rt/files/bounded_files.h"
#include "rt/files/files.h"

namespace colocation {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr int kQuantile = 95;
constexpr std::size_t kHistoryBytesMax = std::size_t{1} << 20;
constexpr base::Duration kHistoryPause = base::minutes(10);

client::Request status_patch(const std::string& node_name, Json patch) {
  return {.verb = client::Verb::kPatch,
          .resource = resources::kNodes,
          .ns = {},
          .name = node_name,
          .subresource = "status",
          .body = std::move(patch)};
}

}  // namespace

NodeOffer::NodeOffer(const AgentMeans& means, const NodeView& view, const ConfigKeeper& config, AgentEvents& events)
    : means_(means), view_(view), config_(config), events_(events) {}

void NodeOffer::start() {
  const std::string& folder = means_.options.state_folder;
  if (folder.empty()) return;
  if (const auto text = rt::read_bounded_file(folder + "/history", kHistoryBytesMax, {}); text.ok())
    if (!history_.read(*text))
      base::log_warning("colocation", base::format("{}/history is damaged, and begins anew", folder));
}

void NodeOffer::keep_history(rt::Worker& files) {
  if (means_.options.state_folder.empty() || means_.env.uptime() - history_saved_ < kHistoryPause) return;
  history_saved_ = means_.env.uptime();
  files.run(
      [path = means_.options.state_folder + "/history", text = history_.text()] {
        if (const auto kept = rt::write_file(path, text, 0600); !kept.ok())
          base::log_warning("colocation", kept.error().message);
      },
      [] {});
}

void NodeOffer::update(const MachineReading& look, const Measured& measured, rt::Worker& files) {
  if (!means_.supported.has(Feature::kOversubscription)) return;
  const NodeAmounts whole = allocatable_of(*view_.node());
  if (measured.has_cpu && measured.has_memory) history_.add(means_.env.now(), measured.online, whole);
  keep_history(files);
  if (!config_.is_active(Feature::kOversubscription)) {
    ring_.clear();
    offered_ = {};
    if (reports_offer(*view_.node(), means_.options.names)) take_back();
    return;
  }
  if (!measured.has_cpu || !measured.has_memory) return;
  ring_.add(offer_of(look, measured, whole));
  offered_ = ring_.mean();
  const NodeAmounts present = reported_offer(*view_.node(), means_.options.names);
  if (!reported_once_ || must_report(present, offered_, means_.env.uptime() - reported_at_)) report(offered_);
}

NodeAmounts NodeOffer::offer_of(const MachineReading& look, const Measured& measured, const NodeAmounts& whole) {
  const std::string_view types = api::annotation_of(*view_.node(), kTypesAnnotation);
  OfferInput input{.allocatable = whole,
                   .used = measured.online,
                   .foreseen = {},
                   .exclusive_cpu_milli = 0,
                   .ratio_percent = means_.options.ratio_percent,
                   .types = types.empty() ? std::string_view(config_.config().types) : types};
  foreseen_ = means_.options.predicts ? history_.foreseen(means_.env.now(), kQuantile, whole) : NodeAmounts();
  input.foreseen = foreseen_;
  if (!look.cpu_manager_policy.empty() && look.cpu_manager_policy != "none")
    for (const auto& [uid, pod] : view_.pods())
      if (pod.qos == QosClass::kGuaranteed && !pod.is_offline() && !pod.ended)
        input.exclusive_cpu_milli = base::saturating_add(input.exclusive_cpu_milli, pod.cpu_milli);
  return offer_for(input);
}

void NodeOffer::report(const NodeAmounts& amounts) {
  Json patch = offer_patch(*view_.node(), means_.options.names, &amounts);
  if (patch.is_null()) return reported(amounts, Json());
  if (under_way_) return;
  under_way_ = true;
  means_.client.call(
      status_patch(means_.options.node_name, std::move(patch)),
      means_.guard.while_alive([this, amounts](const base::Result<Json>& answer) { reported(amounts, answer); }));
}

void NodeOffer::reported(const NodeAmounts& amounts, const base::Result<Json>& answer) {
  under_way_ = false;
  const std::string& node_name = means_.options.node_name;
  if (!answer.ok())
    return events_.warn_once("offer " + answer.error().message, "OversubscriptionReportFailed",
                             base::format("node {}: {}", node_name, answer.error().message));
  reported_once_ = true;
  reported_at_ = means_.env.uptime();
  if (!means_.options.metrics) return;
  const auto gauge = [&](const char* resource) {
    return means_.options.metrics->gauge("volcano_agent_oversubscription_resource_quantity", {node_name, resource});
  };
  gauge("cpu").set(static_cast<double>(amounts.cpu_milli));
  gauge("memory").set(static_cast<double>(amounts.memory_bytes));
}

void NodeOffer::take_back() {
  Json patch = offer_patch(*view_.node(), means_.options.names, nullptr);
  if (means_.options.metrics)
    for (const char* resource : {"cpu", "memory"})
      means_.options.metrics
          ->gauge("volcano_agent_oversubscription_resource_quantity", {means_.options.node_name, resource})
          .set(0);
  reported_once_ = false;
  if (patch.is_null() || under_way_) return;
  under_way_ = true;
  means_.client.call(status_patch(means_.options.node_name, std::move(patch)),
                     means_.guard.while_alive([this](const base::Result<Json>&) { under_way_ = false; }));
}

}  // namespace colocation
