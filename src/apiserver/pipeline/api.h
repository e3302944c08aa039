// The request pipeline: every request of every transport goes through here, on the API server's loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/admission.h"
#include "api/pod_logs.h"
#include "api/pod_streams.h"
#include "apiserver/custom/served_kinds.h"
#include "apiserver/kinds/services/service_network.h"
#include "apiserver/pipeline/read/api_watch.h"
#include "apiserver/pipeline/request/request.h"
#include "apiserver/pipeline/rights/account_tokens.h"
#include "apiserver/pipeline/rights/roles.h"
#include "apiserver/pipeline/rights/stream_shares.h"
#include "apiserver/pipeline/turns/side_work.h"
#include "apiserver/webhooks/caller.h"
#include "rt/env.h"
#include "store/store.h"

namespace apiserver {

struct ApiOptions {
  std::vector<api::AdmissionHook> hooks;
  api::PodLogs* pod_logs = nullptr;                          // may be null: no node agent in this process
  api::PodStreams* pod_streams = nullptr;                    // the same
  std::shared_ptr<const AccountTokens> account_tokens = {};  // null: service accounts have none
  std::string root_ca = {};                                  // PEM, for Secrets that hold such tokens
  ServiceNetwork services = {};
  std::size_t objects_bytes_max = 0;        // of all objects together, as text; 0: there is no bound
  WebhookCaller* webhook_caller = nullptr;  // null: webhooks are stored, and not called; it outlives the loop's tasks
};

class Api {
 public:
  Api(rt::Env& env, store::Store& store, ApiOptions options);
  ~Api();

  // Loop thread only; `on_answer` runs on the loop: at once for reads but long ones, when durable for writes.
  void call(Request request, OnAnswer on_answer);
  // Tells nothing before it is resumed.
  base::Result<std::unique_ptr<ApiWatch>> watch(const Request& request, WatchSink sink);

  // Makes the objects every cluster has: namespaces default, kube-system, kube-node-lease, kube-public; priority
  // classes.
  void bootstrap(std::function<void(base::Status)> done);

  rt::Env& env();
  store::Store& store();
  SideWork& side_work();  // loop thread only
  api::PodLogs* pod_logs();
  api::PodStreams* pod_streams();
  StreamShares& stream_shares();         // loop thread only, both
  std::uint64_t memory_refused() const;  // writes, by objects_bytes_max
  const api::ObjectReader& reader() const;
  // Any thread.
  const AccountTokens* account_tokens() const;
  std::shared_ptr<const RoleSet> roles() const;
  std::shared_ptr<const ServedKinds> kinds() const;
  bool knows_account(const std::string& uid) const;  // a service account
  // Loop thread only: whether the token of a service account still holds.
  bool token_holds(const TokenClaims& claims) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace apiserver
