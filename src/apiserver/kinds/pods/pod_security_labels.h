// The labels pod-security.kubernetes.io/... of a namespace, and what they mean for what is written there.
#pragma once

#include <string>
#include <vector>

#include "api/admission.h"
#include "apiserver/kinds/pods/pod_security.h"
#include "base/result.h"

namespace store {
class Store;
}

namespace apiserver {

struct SecurityPolicy {
  SecurityStandard enforce, audit, warn;
};

// Each value that is none is told. A label that cannot be read is `restricted` to enforce, and `privileged` to audit
// and warn.
SecurityPolicy read_security_policy(const api::Json& labels, std::vector<base::Cause>& causes);

struct SecurityAnswer {
  std::string refusal;  // empty: allowed
  std::vector<std::string> warnings;
  std::string audit_annotation;  // for the audit log, "key=value"; empty: none
};

// The verdict of its namespace's labels on a pod that is written, or on an object with templates of pods.
SecurityAnswer judge_pods(const api::AdmissionRequest& request, const api::ObjectReader& objects);

// The warnings about present pods for a user who lets a namespace enforce more than before. Looks at a bounded number.
std::vector<std::string> warnings_of_pods(const store::Store& store, const api::Json& before, const api::Json& after);

}  // namespace apiserver
