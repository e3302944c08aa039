// As Argo: the time of all attempts is bounded by maxDuration, each pause by cap, their number by limit.
#include "pipelines/argo/retry.h"

#include <algorithm>

#include "base/format.h"
#include "base/number.h"
#include "pipelines/argo/text_template.h"

namespace pipelines::argo {

using api::Json;

namespace {

std::int64_t number_of(const Json& value, std::int64_t fallback) {
  if (value.is_number()) return value.as_int(fallback);
  return base::parse_number<std::int64_t>(value.as_string()).value_or(fallback);
}

// Seconds, or a duration such as "2m".
std::optional<base::Duration> duration_of(const Json& value) {
  if (value.is_null()) return std::nullopt;
  const std::string text = text_of(value);
  if (const auto seconds = base::parse_number<std::int64_t>(text))
    return base::seconds(std::max<std::int64_t>(*seconds, 0));
  return base::parse_go_duration(text);
}

base::Duration pause_of(const Json& backoff, std::int64_t attempts) {
  base::Duration pause = duration_of(backoff["duration"]).value_or(base::Duration{});
  const std::int64_t factor = std::clamp<std::int64_t>(number_of(backoff["factor"], 1), 1, 1000);
  for (std::int64_t i = 1; i < attempts && pause < base::minutes(60 * 24); ++i) pause = pause * factor;
  if (const auto most = duration_of(backoff["cap"])) pause = std::min(pause, *most);
  return pause;
}

bool is_wanted(std::string_view policy, Phase phase) {
  if (policy == "Always") return true;
  if (phase == Phase::kFailed) return policy.empty() || policy == "OnFailure";
  return policy == "OnError" || policy == "OnTransientError";
}

}  // namespace

RetryChoice choice_after(const RetryLook& look) {
  const Json& backoff = look.strategy["backoff"];
  const base::Time due = look.last.finished + pause_of(backoff, look.attempts);
  if (!is_wanted(look.strategy["retryPolicy"].as_string(), look.last.phase)) return {.end = look.last.message};
  if (look.attempts > number_of(look.strategy["limit"], INT64_MAX - 1))
    return {.end = base::format("No more retries left: {}", look.last.message)};
  if (const auto most = duration_of(backoff["maxDuration"])) {
    const base::Time deadline = look.first.started + *most;
    if (look.now > deadline) return {.end = base::format("Max duration limit exceeded: {}", look.last.message)};
    if (due > deadline) return {.end = base::format("Backoff would exceed max duration limit: {}", look.last.message)};
  }
  return {.wait = look.now < due ? due - look.now : base::Duration{}};
}

}  // namespace pipelines::argo
