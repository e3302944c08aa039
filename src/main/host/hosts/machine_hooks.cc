// Hooks that complete an object come before those that look at the whole of it.
#include "main/host/hosts/machine_hooks.h"

#include "admission/rules/hooks.h"
#include "apiserver/kinds/pods/priority_class_hook.h"
#include "apiserver/kinds/pods/runtime_class_hook.h"
#include "apiserver/kinds/pods/scheduling_group_hook.h"
#include "apiserver/kinds/pods/service_account_hook.h"
#include "apiserver/kinds/services/ingress_class_hook.h"
#include "apiserver/kinds/storage/storage_class_hook.h"
#include "apiserver/kinds/storage/storage_protection_hook.h"
#include "base/time_zone.h"
#include "node/agent/field_effects.h"
#include "node/machine/image_hook.h"

namespace volcano_main {

std::vector<api::AdmissionHook> machine_hooks(const UpOptions& options, const node::Options& node, bool has_gateway) {
  const bool has_node = runs(options, "node");
  std::vector<api::AdmissionHook> hooks =
      admission::hooks({.mpi_version = options.mpi_version,
                        .knows_time_zone = [](const std::string& zone) { return base::TimeZone::load(zone).ok(); }});
  for (api::AdmissionHook& hook : apiserver::storage_protection_hooks()) hooks.push_back(std::move(hook));
  // Plain processes have no volumes to find a token in. The runner of pods for others is not known.
  if (has_gateway || !has_node) hooks.push_back(apiserver::service_account_hook());
  for (const auto hook : {apiserver::priority_class_hook, apiserver::runtime_class_hook, apiserver::storage_class_hook,
                          apiserver::claim_growth_hook, apiserver::ingress_class_hook})
    hooks.push_back(hook());
  if (options.default_scheduler) hooks.push_back(apiserver::scheduling_group_hook());
  if (has_gateway && options.host_rootfs) hooks.push_back(node::image_hook(node));
  if (has_node) {
    for (api::AdmissionHook& hook : node::field_hooks(node::missing_for_policies(node)))
      hooks.push_back(std::move(hook));
  }
  return hooks;
}

}  // namespace volcano_main
