// Counting, combining and muting of reports.
#include "client/events/event_correlator.h"

#include <algorithm>

#include "base/format.h"

namespace client {

namespace {

constexpr std::size_t kMessagesMax = 10;  // as many different ones make a combined event
constexpr base::Duration kSimilarFor = base::minutes(10);
constexpr double kBurst = 25;  // events of one object
constexpr double kTokensPerSecond = 1.0 / 300;

std::uint64_t fnv(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return hash;
}

}  // namespace

TextHash hash_text(std::string_view text) {
  return {fnv(text, 0xcbf29ce484222325ull), fnv(text, 0x9ae16a3b2f90404full)};
}

EventCorrelator::Verdict EventCorrelator::judge(const Report& report, base::Time now) {
  Verdict verdict;
  const std::string group = base::format("{}\n{}", report.object, report.kind);
  Similar& similar = similar_.use(hash_text(group));
  if (now - similar.last > kSimilarFor) similar.messages.clear();
  similar.last = now;
  const std::uint64_t message = hash_text(report.message).high;
  if (std::ranges::find(similar.messages, message) == similar.messages.end()) similar.messages.push_back(message);
  verdict.combined = similar.messages.size() >= kMessagesMax;
  if (verdict.combined) {
    similar.messages.pop_back();  // it stays one short, and each further message is combined
    verdict.event = hash_text(group);
  } else {
    verdict.event = hash_text(base::format("{}\n{}", group, report.message));
  }
  Allowance& allowance = allowances_.use(hash_text(report.object));
  if (allowance.tokens < 0)
    allowance.tokens = kBurst;
  else
    allowance.tokens = std::min(kBurst, allowance.tokens + (now - allowance.filled).seconds() * kTokensPerSecond);
  allowance.filled = now;
  verdict.is_written = allowance.tokens >= 1;
  if (verdict.is_written) allowance.tokens -= 1;
  return verdict;
}

}  // namespace client
