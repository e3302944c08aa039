// A minute that is due by the five fields is due at each of its seconds that the sixth names.
#include "pipelines/schedule/run_schedule.h"

#include <algorithm>
#include <string>

#include "base/format.h"
#include "base/number.h"
#include "base/split.h"

namespace pipelines {

using api::Json;
using base::Code;
using base::make_error;
using base::Time;

namespace {

constexpr base::Duration kMinute = base::minutes(1), kInstant = base::nanoseconds(1);
constexpr std::int64_t kIntervalMax = std::int64_t{10} * 366 * 24 * 3600;

// "0", "*", "*/15", "10-40/5", and lists of these.
base::Result<std::uint64_t> seconds_of(std::string_view field) {
  std::uint64_t bits = 0;
  for (const std::string_view item : base::split(field, ',')) {
    const std::size_t slash = item.find('/');
    const std::string_view range = item.substr(0, slash);
    int first = 0, last = 59, step = 1;
    bool fits = true;
    if (range != "*" && range != "?") {
      const std::size_t hyphen = range.find('-');
      const auto from = base::parse_number<int>(range.substr(0, hyphen));
      const auto to = hyphen == std::string_view::npos ? from : base::parse_number<int>(range.substr(hyphen + 1));
      fits = from && to && *from >= 0 && *from <= *to && *to <= 59;
      first = from.value_or(0);
      last = hyphen == std::string_view::npos && slash != std::string_view::npos ? 59 : to.value_or(0);
    }
    if (slash != std::string_view::npos) {
      const auto given = base::parse_number<int>(item.substr(slash + 1));
      fits = fits && given && *given > 0;
      step = given.value_or(1);
    }
    if (!fits) return make_error(Code::kInvalid, base::format("{:?} does not name seconds of a minute", field));
    for (int second = first; second <= last; second += step) bits |= std::uint64_t{1} << second;
  }
  return bits;
}

base::Result<std::optional<Time>> time_of(const Json& schedule, std::string_view where, std::string_view name) {
  const std::string_view given = schedule[name].as_string();
  if (given.empty()) return std::optional<Time>();
  const auto time = base::parse_rfc3339(given);
  if (!time) return make_error(Code::kInvalid, base::format("trigger.{}.{}: {:?} is not a time", where, name, given));
  return std::optional(*time);
}

Time minute_of(Time time) { return time - base::nanoseconds(((time.ns % kMinute.ns) + kMinute.ns) % kMinute.ns); }

}  // namespace

base::Result<RunSchedule> RunSchedule::read(const Json& trigger) {
  const Json &cron = trigger["cronSchedule"], &periodic = trigger["periodicSchedule"];
  if (cron.is_object() == periodic.is_object())
    return make_error(Code::kInvalid, "trigger: it has either a cronSchedule or a periodicSchedule");
  RunSchedule schedule;
  const std::string_view where = cron.is_object() ? "cronSchedule" : "periodicSchedule";
  const Json& given = trigger[where];
  TRY(schedule.start_, time_of(given, where, "startTime"));
  TRY(schedule.end_, time_of(given, where, "endTime"));
  if (periodic.is_object()) {
    const std::int64_t seconds = periodic["intervalSecond"].as_int();
    if (seconds < 1 || seconds > kIntervalMax)
      return make_error(Code::kInvalid, base::format("trigger.periodicSchedule.intervalSecond: {} is not within 1 and "
                                                     "{}",
                                                     seconds, kIntervalMax));
    schedule.interval_ = base::seconds(seconds);
    return schedule;
  }
  std::string text = cron["cron"].str();
  const auto named = [&text](const base::Error& error) {
    return make_error(Code::kInvalid, base::format("trigger.cronSchedule.cron: {:?}: {}", text, error.message));
  };
  std::string fields = text;
  if (const auto words = base::split_words(std::string_view(text), ' '); words.size() == 6 && text[0] != '@') {
    auto seconds = seconds_of(words[0]);
    if (!seconds.ok()) return named(seconds.error());
    schedule.seconds_ = *seconds;
    fields = base::join({words.begin() + 1, words.end()}, " ");
  }
  auto minutes = api::CronSchedule::parse(fields, base::TimeZone());
  if (!minutes.ok()) return named(minutes.error());
  schedule.cron_ = *std::move(minutes);
  return schedule;
}

std::optional<Time> RunSchedule::next_of_cron(Time after) const {
  if (cron_->every().ns > 0) return after + cron_->every();
  std::optional<Time> minute = cron_->next(minute_of(after) - kInstant);
  // The minute of `after` may have no second left; the one behind it has all of them.
  for (int tries = 0; minute && tries < 2; ++tries) {
    for (int second = 0; second < 60; ++second)
      if (const Time time = *minute + base::seconds(second); (seconds_ >> second & 1) != 0 && time > after) return time;
    minute = cron_->next(*minute);
  }
  return std::nullopt;
}

std::optional<Time> RunSchedule::latest_of_cron(Time after, Time until) const {
  if (cron_->every().ns > 0) {
    const std::int64_t times = (until - after).ns / cron_->every().ns;
    return times < 1 ? std::nullopt : std::optional(after + cron_->every() * times);
  }
  std::optional<Time> minute = cron_->latest(minute_of(after) - kInstant, until);
  for (int tries = 0; minute && tries < 2; ++tries) {
    for (int second = 59; second >= 0; --second) {
      const Time time = *minute + base::seconds(second);
      if ((seconds_ >> second & 1) != 0 && time > after && time <= until) return time;
    }
    minute = cron_->latest(minute_of(after) - kInstant, *minute - kInstant);
  }
  return std::nullopt;
}

std::optional<Time> RunSchedule::next(Time after) const {
  std::optional<Time> time;
  if (cron_) {
    // The begin itself may be due.
    if (start_ && after < *start_) after = *start_ - kInstant;
    time = next_of_cron(after);
  } else {
    time = start_ && after < *start_ ? *start_ : after + interval_;
  }
  return time && !is_over(*time) ? time : std::nullopt;
}

std::optional<Time> RunSchedule::latest(Time after, Time until) const {
  if (end_ && *end_ < until) until = *end_;
  if (start_ && after < *start_) {
    if (until < *start_) return std::nullopt;
    after = *start_ - kInstant;
    if (!cron_) return *start_ + interval_ * ((until - *start_).ns / interval_.ns);
  }
  if (until <= after) return std::nullopt;
  if (cron_) return latest_of_cron(after, until);
  const std::int64_t times = (until - after).ns / interval_.ns;
  return times < 1 ? std::nullopt : std::optional(after + interval_ * times);
}

}  // namespace pipelines
