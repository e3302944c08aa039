// How tokens of service accounts are requested and renewed.
#include "node/agent/pods/pod_tokens.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "node/machine/container_text.h"

namespace node {

using api::Json;

namespace {

constexpr std::int64_t kSecondsDefault = 3600;

std::string token_key(const Json& source) {
  return base::format("{}\n{}", source["audience"].as_string(), source["expirationSeconds"].as_int(kSecondsDefault));
}

}  // namespace

PodTokens::PodTokens(AgentLoop& loop, client::Client& client, const PodTable& pods, PodEvents& events, PodSteps& steps,
                     std::function<void(const std::string& uid)> came)
    : loop_(loop), client_(client), pods_(pods), events_(events), steps_(steps), came_(std::move(came)) {}

void PodTokens::start() {
  clock_steps_ = std::make_unique<rt::ClockSteps>(loop_.env(), [this] { renew_all(); });
}

const std::string* PodTokens::find(const std::string& uid, const Json& source) const {
  const auto pod = tokens_.find(uid);
  if (pod == tokens_.end()) return nullptr;
  const auto found = pod->second.find(token_key(source));
  return found == pod->second.end() || found->second.text.empty() ? nullptr : &found->second.text;
}

bool PodTokens::fetch(const PodWorker& worker) {
  const std::string uid(api::uid_of(worker.pod));
  bool waits = false;
  for (const Json& volume : worker.pod["spec"]["volumes"].items()) {
    for (const Json& source : volume["projected"]["sources"].items()) {
      if (!source.has("serviceAccountToken")) continue;
      Token& token = tokens_[uid][token_key(source["serviceAccountToken"])];
      const bool due = token.text.empty() || loop_.uptime() >= token.renew_at;
      waits = waits || token.text.empty();
      if (due && !token.asked && loop_.uptime() >= token.ask_at) request(worker, source["serviceAccountToken"], token);
    }
  }
  return waits;
}

void PodTokens::request(const PodWorker& worker, const Json& source, Token& token) {
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
  client_.call(std::move(request), loop_.while_alive([this, uid, key = token_key(source)](base::Result<Json> answer) {
    received(uid, key, std::move(answer));
  }));
}

// Tokens end by the wall clock of the server, which is often this machine's.
void PodTokens::renew_all() {
  std::vector<std::string> uids;
  for (auto& [uid, tokens] : tokens_) {
    for (auto& [key, token] : tokens) token.renew_at = loop_.uptime();
    uids.push_back(uid);
  }
  for (const std::string& uid : uids) steps_.step(uid);
}

void PodTokens::received(const std::string& uid, const std::string& key, base::Result<Json> answer) {
  const PodWorker* worker = pods_.find(uid);
  if (worker == nullptr) return;
  Token& token = tokens_[uid][key];
  token.asked = false;
  const base::Duration now = loop_.uptime();
  base::Duration again = base::seconds(2);
  if (answer.ok()) {
    token.text = (*answer)["status"]["token"].str();
    // Kubelets renew tokens when a fifth of their time is left. The answer's duration counts here, because its end is a
    // time of the server's clock.
    const base::Duration lasts = base::seconds((*answer)["spec"]["expirationSeconds"].as_int());
    again = std::max(again, base::Duration{lasts.ns / 5 * 4});
    token.renew_at = now + again;
    came_(uid);
  } else {
    token.ask_at = now + again;
    events_.record(worker->pod, "Warning", "FailedMount",
                   "MountVolume.SetUp failed: failed to fetch token: " + reason_text(answer.error().message));
  }
  steps_.step_after(uid, again + base::milliseconds(1));
  steps_.step(uid);
}

}  // namespace node
