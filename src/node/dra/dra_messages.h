// The messages between a node and a DRA driver (v1 and v1beta1 are alike).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace node {

// The limits of a driver's answer for one claim; more is refused.
inline constexpr std::size_t kClaimDevicesMax = 512;
inline constexpr std::size_t kCdiNamesMax = 64;  // of one device

struct ClaimKey {
  std::string ns;
  std::string name;
  std::string uid;

  bool operator==(const ClaimKey&) const = default;
};

// A device of a claim as its driver made it ready.
struct PreparedDevice {
  std::vector<std::string> requests;  // of the claim; none: it is all requests'
  std::string pool;
  std::string device;
  std::vector<std::string> cdi_names;

  bool operator==(const PreparedDevice&) const = default;
};

// NodePrepareResourcesRequest and NodeUnprepareResourcesRequest.
std::string claims_request(const std::vector<ClaimKey>& claims);

struct ClaimAnswer {
  std::vector<PreparedDevice> devices;
  std::string error;  // text; not empty: it failed
};
using ClaimAnswers = std::map<std::string, ClaimAnswer>;  // by the claim's uid
// Errors name the field.
base::Result<ClaimAnswers> prepared_from(std::string_view message);
base::Result<ClaimAnswers> unprepared_from(std::string_view message);

// Whether each claim that was asked for is there, and nothing failed; `method` is part of the error, which is a
// kubelet's.
base::Status check_answers(std::string_view method, const std::vector<ClaimKey>& asked, const ClaimAnswers& answers);

}  // namespace node
