// The users of the REST API of pipelines on a cluster: by a bearer token that the cluster knows, or by the header of a
// proxy that has let them in.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "rt/env.h"
#include "rt/http/http.h"

namespace volcano_main {

// The audience of tokens that are meant for pipelines, as Kubeflow's clients ask for them.
inline constexpr std::string_view kPipelinesAudience = "pipelines.kubeflow.org";

struct PipelineCaller {
  std::string user;
  std::vector<std::string> groups = {};  // of the proxy's header alone
  std::string token = {};                // with which requests are made; empty: they are made as `user`
  std::string pod = {};                  // to which the token is bound
  bool is_for_pipelines = false;         // the token opens no other door
};

struct ProxyHeaders {
  std::string user, user_prefix;  // an empty name: no header is believed
  std::string groups;             // their names, apart by commas; empty: users have none
};

// Everything on the loop of `env`, which outlives it, as the client does. A token is judged by the cluster's
// TokenReview, and what that says is known for ten seconds.
class PipelineCallers {
 public:
  using OnCaller = std::function<void(base::Result<PipelineCaller>)>;

  PipelineCallers(rt::Env& env, client::Client& client, ProxyHeaders headers)
      : env_(env), client_(client), headers_(std::move(headers)) {}

  void find(const rt::HttpRequest& http, OnCaller done);
  // The step whose pod has this token, which has to be meant for pipelines.
  void find_step(const rt::HttpRequest& http, OnCaller done);

 private:
  struct Known {
    base::Result<PipelineCaller> caller;
    base::Duration until;
  };

  std::optional<base::Result<PipelineCaller>> by_header(const rt::HttpRequest& http) const;
  void review(const std::string& token, bool is_for_pipelines, const OnCaller& done);
  void remember(const std::string& token, const base::Result<PipelineCaller>& caller);

  rt::Env& env_;
  client::Client& client_;
  const ProxyHeaders headers_;
  std::map<std::string, Known> known_;  // by token
  std::deque<std::string> order_;       // the oldest first
  std::map<std::string, std::vector<OnCaller>> asked_;
};

}  // namespace volcano_main
