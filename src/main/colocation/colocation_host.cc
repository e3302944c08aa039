// Its options, and its beginning and end.
#include "main/colocation/colocation_host.h"

#include "colocation/metrics.h"
#include "main/colocation/agent_flags.h"
#include "rt/tls/tls.h"

namespace volcano_main {

base::Status check_colocation(const UpOptions& options, bool has_containers) {
  if (!options.colocation || has_containers) return {};
  return base::make_error(
      base::Code::kInvalid,
      "--colocation: pods are plain processes here, which have no control groups to share a machine "
      "by; it needs root and runc");
}

void ColocationHost::start(const UpOptions& options, apiserver::Api& api, base::Metrics& metrics) {
  if (!options.colocation) return;
  metrics.add(colocation::metric_rows());
  colocation::AgentOptions of{.node_name = options.node_name, .pod_name = {}};
  of.paths = colocation::host_paths(environment_variable);
  of.tree = colocation::find_group_tree(of.paths, environment_variable, "");
  of.tree.driver = colocation::GroupDriver::kOwn;
  of.tree.above = "volcano-" + rt::sha256_hex(options.data + "/node").substr(0, 8);  // as the node agent names it
  of.features = {"*"};
  of.include_system_usage = true;  // people work on this machine outside pods, too
  of.predicts = true;
  of.one_machine = true;
  of.state_folder = options.data + "/colocation";
  of.metrics = &metrics;
  agent_.start("colocation", api, [&of](rt::Env& env, client::Client& client) {
    return std::make_unique<colocation::Agent>(env, client, of);
  });
}

void ColocationHost::stop() {
  if (agent_.env) on_loop<bool>(*agent_.env, [this](auto done) { agent_.part->stop([done] { done(true); }); });
  agent_.stop();
}

void ColocationHost::answer_page(std::function<void(std::string)> answer) {
  if (!agent_.env) return answer("{}\n");
  agent_.env->loop().post(
      [this, answer = std::move(answer)] { answer(agent_.part ? agent_.part->report().pretty() + "\n" : "{}\n"); });
}

}  // namespace volcano_main
