// Columns of roles, bindings and requests for certificates.
#include "apiserver/documents/access_tables.h"

#include <string>
#include <vector>

#include "base/format.h"
#include "base/split.h"

namespace apiserver {

using api::Json;

namespace {

std::vector<Json> role_cells(const Json& role, base::Time) { return {role["metadata"]["creationTimestamp"]}; }

Json subjects_of(const Json& binding, std::string_view kind) {
  std::vector<std::string> names;
  for (const Json& subject : binding["subjects"].items()) {
    if (subject["kind"].as_string() != kind) continue;
    const std::string name = subject["name"].str();
    names.push_back(kind == "ServiceAccount" ? base::format("{}/{}", subject["namespace"].as_string(), name) : name);
  }
  return Json(base::join(names, ", "));
}

std::vector<Json> binding_cells(const Json& binding, base::Time now) {
  const Json& role = binding["roleRef"];
  return {Json(base::format("{}/{}", role["kind"].as_string(), role["name"].as_string())), age_of(binding, now),
          subjects_of(binding, "User"), subjects_of(binding, "Group"), subjects_of(binding, "ServiceAccount")};
}

std::vector<Json> signing_request_cells(const Json& request, base::Time now) {
  const Json& spec = request["spec"];
  std::string state;
  for (const char* type : {"Approved", "Denied", "Failed"})
    for (const Json& condition : request["status"]["conditions"].items())
      if (condition["type"].as_string() == type) state += (state.empty() ? "" : ",") + std::string(type);
  if (state.empty()) state = "Pending";
  if (!request["status"]["certificate"].is_null()) state += ",Issued";
  const Json* seconds = spec.find("expirationSeconds");
  const std::string duration = seconds ? base::format_human_duration(base::seconds(seconds->as_int())) : "<none>";
  return {age_of(request, now), spec["signerName"], spec["username"], Json(duration), Json(state)};
}

}  // namespace

const Printer* access_printer(std::string_view kind) {
  static const Printer roles{{{"Created At", ""}}, role_cells};
  static const Printer bindings{{{"Role", ""},
                                 {"Age", ""},
                                 {"Users", "", "string", 1},
                                 {"Groups", "", "string", 1},
                                 {"ServiceAccounts", "", "string", 1}},
                                binding_cells};
  static const Printer signing_requests{
      {{"Age", ""}, {"SignerName", ""}, {"Requestor", ""}, {"RequestedDuration", ""}, {"Condition", ""}},
      signing_request_cells};
  if (kind == "CertificateSigningRequest") return &signing_requests;
  if (kind == "Role" || kind == "ClusterRole") return &roles;
  if (kind == "RoleBinding" || kind == "ClusterRoleBinding") return &bindings;
  return nullptr;
}

}  // namespace apiserver
