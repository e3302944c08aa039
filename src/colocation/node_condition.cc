// How the node's condition about the agent is written.
#include "colocation/node_condition.h"

#include "api/meta/resource.h"
#include "base/format.h"

namespace colocation {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr base::Duration kConditionPause = base::minutes(5);
constexpr std::string_view kConditionType = "ColocationReady";

}  // namespace

client::Request NodeCondition::request(const Words& words) const {
  const std::string now = base::format_rfc3339(means_.env.now());
  std::string since = now;
  for (const Json& old : (*view_.node())["status"]["conditions"].items())
    if (old["type"].as_string() == kConditionType && old["status"].as_string() == words.status)
      since = old["lastTransitionTime"].str();
  client::Request patch{.verb = client::Verb::kPatch,
                        .resource = resources::kNodes,
                        .ns = {},
                        .name = means_.options.node_name,
                        .subresource = "status"};
  patch.patch_type = client::PatchType::kStrategic;
  const Json condition = Json::object({{"type", kConditionType},
                                       {"status", words.status},
                                       {"reason", words.reason},
                                       {"message", words.message},
                                       {"lastHeartbeatTime", now},
                                       {"lastTransitionTime", since}});
  patch.body = Json::object({{"status", Json::object({{"conditions", Json::array({condition})}})}});
  return patch;
}

client::Request NodeCondition::end_request() const {
  return request({"False", "ColocationStopped", "the agent has ended, and has taken back what it set"});
}

void NodeCondition::publish(const std::string& trouble) {
  const bool fresh = reported_ == trouble + "." && means_.env.uptime() - reported_at_ < kConditionPause;
  if (fresh || under_way_) return;
  under_way_ = true;
  const Words words = trouble.empty() ? Words{"True", "ColocationWorks", "groups and offers are kept"}
                                      : Words{"False", "ColocationInTrouble", trouble};
  means_.client.call(request(words), means_.guard.while_alive([this, trouble](const base::Result<Json>& answer) {
    under_way_ = false;
    if (!answer.ok()) return;
    reported_ = trouble + ".";
    reported_at_ = means_.env.uptime();
  }));
}

}  // namespace colocation
