// Reading the policy, and what happens when the disk is full.
#include "main/host/data/audit_log.h"

#include <signal.h>
#include <unistd.h>

#include "api/json/yaml.h"
#include "base/format.h"
#include "base/log.h"
#include "rt/files/bounded_files.h"

namespace volcano_main {
namespace {

base::Result<apiserver::AuditPolicy> read_policy(const std::string& path) {
  if (path.empty()) return apiserver::default_audit_policy();
  TRY(const std::string text, rt::read_bounded_file(path, std::size_t{4} << 20, base::seconds(10)));
  auto json = api::parse_yaml(text);
  if (!json.ok()) return base::within(json.take_error(), "--audit-policy-file " + path);
  auto policy = apiserver::read_audit_policy(*json);
  if (!policy.ok()) return base::within(policy.take_error(), "--audit-policy-file " + path);
  return policy;
}

}  // namespace

base::Result<AuditLog> open_audit_log(rt::Env& env, const std::string& path, const std::string& policy_file,
                                      bool strict) {
  if (path.empty()) return AuditLog();
  TRY(apiserver::AuditPolicy policy, read_policy(policy_file));
  AuditLog log;
  TRY(log.lines, rt::open_line_log({.path = path, .on_problem = [strict](const std::string& problem) {
                                      base::log_error("audit", base::format("{}; requests go unrecorded", problem));
                                      if (!strict) return;
                                      base::log_error("audit", "--audit-strict: the cluster stops");
                                      ::kill(::getpid(), SIGTERM);
                                    }}));
  log.auditing = std::make_shared<const apiserver::Auditing>(env, std::move(policy), log.lines);
  return log;
}

}  // namespace volcano_main
