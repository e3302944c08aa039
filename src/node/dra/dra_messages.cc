// Fields by their numbers.
#include "node/dra/dra_messages.h"

#include <algorithm>

#include "base/format.h"
#include "base/utf8.h"
#include "node/devices/message_fields.h"

namespace node {

using base::Code;
using base::make_error;
using base::WireField;

namespace {

constexpr std::size_t kNameMax = 253;
constexpr std::size_t kRequestsMax = 64;  // of one device
constexpr std::size_t kErrorMax = 1024;
constexpr std::size_t kClaimsMax = 1024;

base::Result<PreparedDevice> device_from(std::string_view message) {
  PreparedDevice device;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number == 1) {
      if (device.requests.size() == kRequestsMax)
        return make_error(Code::kTooLarge, base::format("request_names: more than {}", kRequestsMax));
      if (!is_plain_text(field.bytes, kNameMax)) return wrong_field("request_names", field.bytes, "is not a name");
      device.requests.emplace_back(field.bytes);
    }
    if (field.number == 2) device.pool = field.bytes;
    if (field.number == 3) device.device = field.bytes;
    if (field.number != 4) return {};
    if (device.cdi_names.size() == kCdiNamesMax)
      return make_error(Code::kTooLarge, base::format("cdi_device_ids: more than {}", kCdiNamesMax));
    TRY_VOID(check_cdi_name("cdi_device_ids", field.bytes));
    device.cdi_names.emplace_back(field.bytes);
    return {};
  }));
  if (!is_plain_text(device.pool, kNameMax)) return wrong_field("pool_name", device.pool, "is not a name");
  if (!is_plain_text(device.device, kNameMax)) return wrong_field("device_name", device.device, "is not a name");
  return device;
}

std::string error_from(std::string_view bytes) { return base::to_utf8(base::utf8_prefix(bytes, kErrorMax)); }

base::Result<ClaimAnswer> prepared_claim_from(std::string_view message) {
  ClaimAnswer answer;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number == 2) answer.error = error_from(field.bytes);
    if (field.number != 1) return {};
    if (answer.devices.size() == kClaimDevicesMax)
      return make_error(Code::kTooLarge, base::format("devices: more than {}", kClaimDevicesMax));
    TRY(PreparedDevice device, device_from(field.bytes));
    answer.devices.push_back(std::move(device));
    return {};
  }));
  return answer;
}

base::Result<ClaimAnswer> unprepared_claim_from(std::string_view message) {
  ClaimAnswer answer;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number == 1) answer.error = error_from(field.bytes);
    return {};
  }));
  return answer;
}

// Both answers are a map in the field 1; an entry without a value is one that is empty.
base::Result<ClaimAnswers> answers_from(std::string_view message,
                                        base::Result<ClaimAnswer> (*claim_from)(std::string_view)) {
  ClaimAnswers answers;
  TRY_VOID(each_field(message, [&](const WireField& field) -> base::Status {
    if (field.number != 1) return {};
    if (answers.size() == kClaimsMax)
      return make_error(Code::kTooLarge, base::format("claims: more than {}", kClaimsMax));
    std::string uid;
    ClaimAnswer answer;
    TRY_VOID(each_field(field.bytes, [&](const WireField& inner) -> base::Status {
      if (inner.number == 1) uid = inner.bytes;
      if (inner.number != 2) return {};
      TRY(answer, claim_from(inner.bytes));
      return {};
    }));
    if (!is_plain_text(uid, kNameMax)) return wrong_field("claims", uid, "is not a uid");
    answers[std::move(uid)] = std::move(answer);
    return {};
  }));
  return answers;
}

}  // namespace

std::string claims_request(const std::vector<ClaimKey>& claims) {
  base::WireWriter request;
  for (const ClaimKey& key : claims) {
    base::WireWriter claim;
    claim.add(1, key.ns);
    claim.add(2, key.uid);
    claim.add(3, key.name);
    request.add_entry(1, claim.take());
  }
  return request.take();
}

base::Result<ClaimAnswers> prepared_from(std::string_view message) {
  return answers_from(message, prepared_claim_from);
}

base::Result<ClaimAnswers> unprepared_from(std::string_view message) {
  return answers_from(message, unprepared_claim_from);
}

base::Status check_answers(std::string_view method, const std::vector<ClaimKey>& asked, const ClaimAnswers& answers) {
  for (const auto& [uid, answer] : answers) {
    const auto claim = std::ranges::find(asked, uid, &ClaimKey::uid);
    if (claim == asked.end())
      return make_error(Code::kInvalid, base::format("{} returned result for unknown claim UID {}", method, uid));
    if (!answer.error.empty())
      return make_error(Code::kUnavailable,
                        base::format("{} failed for ResourceClaim {}: {}", method, claim->name, answer.error));
  }
  if (answers.size() < asked.size())
    return make_error(Code::kInvalid,
                      base::format("{} skipped {} ResourceClaims", method, asked.size() - answers.size()));
  return {};
}

}  // namespace node
