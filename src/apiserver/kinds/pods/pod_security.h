// The Pod Security Standards of Kubernetes: https://kubernetes.io/docs/concepts/security/pod-security-standards
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "api/json/json.h"

namespace apiserver {

enum class SecurityLevel : std::uint8_t { kPrivileged, kBaseline, kRestricted };

inline constexpr int kLatestMinor = std::numeric_limits<int>::max();

struct SecurityStandard {
  SecurityLevel level = SecurityLevel::kPrivileged;
  int minor = kLatestMinor;  // as it was in Kubernetes 1.`minor`

  std::string text() const;  // "restricted:latest"
  bool operator==(const SecurityStandard&) const = default;
};

struct SecurityProblem {
  std::string what;    // "hostPath volumes"
  std::string detail;  // `volume "v"`
};

// The controls that a pod, or the template of one, does not meet. Fields of a wrong type count as absent.
std::vector<SecurityProblem> security_problems(const api::Json& pod, const SecurityStandard& standard);

// "hostPath volumes, privileged", and the same with their details.
std::string in_short(const std::vector<SecurityProblem>& problems);
std::string in_detail(const std::vector<SecurityProblem>& problems);

}  // namespace apiserver
