// Which requests are written down, how much of each, and as what. Pure; what is made is shared between threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "apiserver/pipeline/request/request.h"
#include "apiserver/pipeline/rights/roles.h"
#include "base/result.h"
#include "base/time.h"

namespace apiserver {

enum class AuditLevel : std::uint8_t { kNone, kMetadata, kRequest, kRequestResponse };

struct AuditRule {
  AuditLevel level = AuditLevel::kNone;
  std::vector<std::string> users, groups, verbs, namespaces, urls;
  struct Resources {
    std::string group;
    std::vector<std::string> resources;  // "pods", "pods/log", "pods/*", "*/scale", "*"; none: all
    std::vector<std::string> names;
  };
  std::vector<Resources> resources;
  bool omits_complete = false;
  bool omits_managed_fields = false;
};

struct AuditChoice {
  AuditLevel level = AuditLevel::kNone;
  bool omits_managed_fields = false;
};

// The first rule that fits decides; none: nothing is written.
struct AuditPolicy {
  std::vector<AuditRule> rules;

  // Bodies that hold secrets or tokens are never chosen.
  AuditChoice choose(const UserInfo& user, const Attributes& of) const;
};

// Every request, with its metadata.
AuditPolicy default_audit_policy();
// An audit.k8s.io/v1 Policy. An error names what is wrong with it.
base::Result<AuditPolicy> read_audit_policy(const api::Json& policy);

// The source of a request, by what proxies say of it, which anybody may, and the connection's peer at last.
struct SourceHeaders {
  std::string_view forwarded_for, real_ip;  // X-Forwarded-For and X-Real-Ip
};
std::vector<std::string> source_ips(const SourceHeaders& headers, std::string_view peer);

struct AuditRecord {
  AuditChoice choice;
  std::string id;  // a UUID
  std::string uri;
  std::vector<std::string> source_ips = {};  // from the first proxy to the connection's peer
  std::string user_agent;
  UserInfo user;
  std::optional<UserInfo> impersonated = {};
  Attributes of;
  std::string version;  // of the resource's API
  base::Time received;
  base::Time ended;
  int code = 0;
  api::Json request_object = {};   // where the level has it
  api::Json response_object = {};  // likewise; of an error and of what was made: for the status and the name
  std::vector<std::string> audit_annotations = {};  // annotations of admission policies, "key=value"
};
// An audit.k8s.io/v1 Event of the stage ResponseComplete.
api::Json audit_event(AuditRecord record);

}  // namespace apiserver
