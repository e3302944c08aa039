// Tokens of service accounts that pods have in volumes: requested before the volumes are laid out, and anew in time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "client/client.h"
#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_steps.h"
#include "node/agent/core/pod_table.h"
#include "rt/clock_steps.h"

namespace node {

// Owns the tokens, by pod, and the watch of the wall clock that their times depend on. Asks the API server for tokens,
// and for a new look at pods whose tokens come or are due. Loop thread only.
class PodTokens {
 public:
  // `came` follows each new token.
  PodTokens(AgentLoop& loop, client::Client& client, const PodTable& pods, PodEvents& events, PodSteps& steps,
            std::function<void(const std::string& uid)> came);

  void start();
  void stop() { clock_steps_.reset(); }
  // Requests the tokens that are due. True while one that the pod needs is not there.
  bool fetch(const PodWorker& worker);
  // The token that a volume's serviceAccountToken asks for; null: it has not come.
  const std::string* find(const std::string& uid, const api::Json& source) const;
  void forget(const std::string& uid) { tokens_.erase(uid); }

 private:
  struct Token {
    std::string text;           // empty: it has not come
    bool asked = false;         // a request is under way
    base::Duration renew_at{};  // the uptime at which it is asked for anew
    base::Duration ask_at{};    // not earlier, after a failure
  };

  void renew_all();
  void request(const PodWorker& worker, const api::Json& source, Token& token);
  void received(const std::string& uid, const std::string& key, base::Result<api::Json> answer);

  AgentLoop& loop_;
  client::Client& client_;
  const PodTable& pods_;
  PodEvents& events_;
  PodSteps& steps_;
  std::function<void(const std::string& uid)> came_;
  std::map<std::string, std::map<std::string, Token>> tokens_;  // by uid, then audience and duration
  std::unique_ptr<rt::ClockSteps> clock_steps_;
};

}  // namespace node
