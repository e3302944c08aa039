// The audit log of a server: what is asked, by whom, and what is answered, a line for each request.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/pipeline/audit.h"
#include "rt/env.h"
#include "rt/files/line_log.h"
#include "rt/http/http.h"

namespace apiserver {

// May be shared by servers. Any thread.
class Auditing {
 public:
  Auditing(rt::Env& env, AuditPolicy policy, std::shared_ptr<rt::LineLog> log)
      : env_(env), policy_(std::move(policy)), log_(std::move(log)) {}

  struct Caller {
    UserInfo user;
    std::optional<UserInfo> impersonated = {};
  };

  // The exchange that answers through `exchange` and writes the line; `exchange` itself where the policy wants none.
  // `notes` is where admission leaves its own, on the loop, before the answer; it may be left null.
  std::shared_ptr<rt::HttpExchange> watch(const rt::HttpRequest& http, const rt::Target& target, const Caller& caller,
                                          std::shared_ptr<rt::HttpExchange> exchange,
                                          std::shared_ptr<std::vector<std::string>>& audit_annotations) const;
  // A request that was refused before it was received.
  void refused(const rt::HttpRequest& http, const rt::Target& target, const Caller& caller,
               const rt::HttpResponse& response) const;

 private:
  std::optional<AuditRecord> record_for(const rt::HttpRequest& http, const rt::Target& target,
                                        const Caller& caller) const;

  rt::Env& env_;
  const AuditPolicy policy_;
  const std::shared_ptr<rt::LineLog> log_;
};

}  // namespace apiserver
