// Tokens of service accounts that pods have in volumes: asked for before the volumes are laid out, and anew in time.
#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "node/agent/agent_state.h"
#include "node/machine/container_text.h"
#include "node/pod/volumes.h"

namespace node {

using api::Json;

namespace {

constexpr std::int64_t kSecondsDefault = 3600;

}  // namespace

std::string token_key(const Json& source) {
  return base::format("{}\n{}", source["audience"].as_string(), source["expirationSeconds"].as_int(kSecondsDefault));
}

bool Agent::State::fetch_tokens(PodWorker& worker) {
  bool waits = false;
  for (const Json& volume : worker.pod["spec"]["volumes"].items()) {
    for (const Json& source : volume["projected"]["sources"].items()) {
      if (!source.has("serviceAccountToken")) continue;
      PodToken& token = worker.tokens[token_key(source["serviceAccountToken"])];
      const bool due = token.text.empty() || env.uptime() >= token.renew_at;
      waits = waits || token.text.empty();
      if (due && !token.asked && env.uptime() >= token.ask_at)
        ask_for_token(worker, source["serviceAccountToken"], token);
    }
  }
  return waits;
}

void Agent::State::ask_for_token(PodWorker& worker, const Json& source, PodToken& token) {
  token.asked = true;
  const std::string uid(api::uid_of(worker.pod));
  Json spec = Json::object(
      {{"expirationSeconds", source["expirationSeconds"].as_int(kSecondsDefault)},
       {"boundObjectRef",
        Json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", api::name_of(worker.pod)}, {"uid", uid}})}});
  if (!source["audience"].as_string().empty()) spec.set("audiences", Json::array({source["audience"]}));
  client::Request request{.verb = client::Verb::kCreate,
                          .resource = api::resources::kServiceAccounts,
                          .ns = std::string(api::namespace_of(worker.pod)),
                          .name = worker.pod["spec"]["serviceAccountName"].str(),
                          .subresource = "token"};
  request.body =
      Json::object({{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", std::move(spec)}});
  client.call(std::move(request), [weak = weak_from_this(), uid, key = token_key(source)](base::Result<Json> answer) {
    if (const auto self = weak.lock()) self->token_came(uid, key, std::move(answer));
  });
}

// Tokens end by the wall clock of the server, which is often this machine's.
void Agent::State::renew_all_tokens() {
  std::vector<std::string> uids;
  for (const auto& [uid, worker] : pods.workers()) {
    for (auto& [key, token] : worker->tokens) token.renew_at = env.uptime();
    if (!worker->tokens.empty()) uids.push_back(uid);
  }
  for (const std::string& uid : uids) step(uid);
}

void Agent::State::token_came(const std::string& uid, const std::string& key, base::Result<Json> answer) {
  PodWorker* worker = find(uid);
  if (worker == nullptr) return;
  PodToken& token = worker->tokens[key];
  token.asked = false;
  const base::Duration now = env.uptime();
  base::Duration again = base::seconds(2);
  if (answer.ok()) {
    token.text = (*answer)["status"]["token"].str();
    // As kubelets renew them: when a fifth of their time is left. How long they last is said; when they end is said by
    // the server's clock.
    const base::Duration lasts = base::seconds((*answer)["spec"]["expirationSeconds"].as_int());
    again = std::max(again, base::Duration{lasts.ns / 5 * 4});
    token.renew_at = now + again;
    refresh_volumes_of(uid, *worker);
  } else {
    token.ask_at = now + again;
    event(worker->pod, "Warning", "FailedMount",
          "MountVolume.SetUp failed: failed to fetch token: " + reason_text(answer.error().message));
  }
  env.loop().after(again + base::milliseconds(1), [weak = weak_from_this(), uid] {
    if (const auto self = weak.lock()) self->step(uid);
  });
  step(uid);
}

}  // namespace node
