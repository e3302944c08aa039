// Abseil's time zones behind one class; its headers are compiled here only.
#include "base/time_zone.h"

#include <absl/time/time.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>

#include "base/format.h"

namespace base {

struct TimeZone::Zone {
  absl::TimeZone zone;
};

namespace {

std::string database() {
  const char* folder = std::getenv("TZDIR");
  return folder != nullptr && *folder != 0 ? folder : "/usr/share/zoneinfo";
}

// A relative path without steps upwards, in the characters that zones have.
bool is_zone_name(const std::string& name) {
  const auto allowed = [](unsigned char c) {
    return std::isalnum(c) || c == '/' || c == '.' || c == '-' || c == '_' || c == '+';
  };
  return !name.empty() && name.size() <= 100 && name.front() != '/' && name.find("..") == std::string::npos &&
         name.find("//") == std::string::npos && std::ranges::all_of(name, allowed);
}

}  // namespace

// Zones are few, as only names that the database has come here.
TimeZone TimeZone::intern(const std::string& name, bool local) {
  static std::mutex mutex;
  static std::map<std::string, const Zone*>& known = *new std::map<std::string, const Zone*>();
  const std::lock_guard lock(mutex);
  const auto found = known.find(name);
  if (found != known.end()) return TimeZone(found->second);
  absl::TimeZone zone = absl::UTCTimeZone();
  if (local)
    zone = absl::LocalTimeZone();
  else if (!absl::LoadTimeZone(name, &zone))
    return TimeZone();
  return TimeZone(known.emplace(name, new Zone{zone}).first->second);
}

Result<TimeZone> TimeZone::load(const std::string& name) {
  if (name == "UTC") return TimeZone();
  std::error_code error;
  if (is_zone_name(name) && std::filesystem::is_regular_file(database() + "/" + name, error))
    if (const TimeZone zone = intern(name, false); zone.zone_ != nullptr) return zone;
  return make_error(Code::kInvalid, format("unknown time zone {}", name));
}

TimeZone TimeZone::local() { return intern("", true); }

Duration TimeZone::offset_at(Time time) const {
  if (zone_ == nullptr) return {};
  return base::seconds(zone_->zone.At(absl::FromUnixNanos(time.ns)).offset);
}

std::optional<Time> TimeZone::next_change(Time time) const {
  absl::TimeZone::CivilTransition change;
  if (zone_ == nullptr || !zone_->zone.NextTransition(absl::FromUnixNanos(time.ns), &change)) return std::nullopt;
  return Time{absl::ToUnixNanos(zone_->zone.At(change.to).trans)};
}

std::string TimeZone::format_rfc3339(Time time) const {
  const std::int64_t minutes = offset_at(time).ns / 60'000'000'000;
  std::string text = base::format_rfc3339(time + base::minutes(minutes));
  if (minutes == 0) return text;
  text.pop_back();
  return format("{}{}{:02}:{:02}", text, minutes < 0 ? '-' : '+', std::abs(minutes) / 60, std::abs(minutes) % 60);
}

}  // namespace base
