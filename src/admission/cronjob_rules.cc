// CronJobs: the schedule, the time zone and the name (webhooks.md 12). The template of the jobs is not looked at.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "admission/names.h"
#include "admission/rules.h"
#include "api/resource.h"
#include "base/format.h"
#include "base/time.h"

namespace admission {

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0;;) {
    const std::size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// One of the five fields of a schedule: its range, and the names of its values (the first is that of `least`).
struct Field {
  int least;
  int most;
  std::string_view names;
};

constexpr std::array<Field, 5> kFields = {Field{0, 59, ""}, Field{0, 23, ""}, Field{1, 31, ""},
                                          Field{1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
                                          Field{0, 6, "sun mon tue wed thu fri sat"}};

bool read_number(std::string_view text, int& number) {
  if (text.starts_with("+")) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

bool read_value(const Field& field, std::string_view text, int& value) {
  const std::vector<std::string> names = split(field.names, ' ');
  const auto named = std::find(names.begin(), names.end(), lower(text));
  if (text.empty() || named == names.end()) return read_number(text, value);
  value = field.least + static_cast<int>(named - names.begin());
  return true;
}

// "*", "5", "1-5", "mon-fri", each perhaps with "/2" behind it.
bool is_range(const Field& field, std::string_view text) {
  const std::vector<std::string> stepped = split(text, '/');
  const std::vector<std::string> ends = split(stepped[0], '-');
  if (stepped.size() > 2 || ends.size() > 2) return false;
  if (int step = 1; stepped.size() == 2 && (!read_number(stepped[1], step) || step == 0)) return false;
  if (ends[0] == "*" || ends[0] == "?") return true;
  int first = 0;
  if (!read_value(field, ends[0], first)) return false;
  int last = first;
  if (ends.size() == 2 && !read_value(field, ends[1], last)) return false;
  return first >= field.least && last <= field.most && first <= last;
}

bool is_schedule(std::string_view text) {
  if (text.starts_with("TZ=") || text.starts_with("CRON_TZ=")) {
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return false;
    text.remove_prefix(std::min(text.find_first_not_of(" \t", blank), text.size()));
  }
  if (text.starts_with("@every ")) return base::parse_go_duration(text.substr(7)).has_value();
  if (text.starts_with("@")) {
    constexpr std::array<std::string_view, 7> kKnown = {"@yearly", "@annually", "@monthly", "@weekly",
                                                        "@daily",  "@midnight", "@hourly"};
    return std::find(kKnown.begin(), kKnown.end(), text) != kKnown.end();
  }
  std::size_t count = 0;
  for (std::size_t start = 0; (start = text.find_first_not_of(" \t\n", start)) != std::string_view::npos; ++count) {
    const std::size_t end = std::min(text.find_first_of(" \t\n", start), text.size());
    if (count == kFields.size()) return false;
    for (const std::string& range : split(text.substr(start, end - start), ','))
      if (!range.empty() && !is_range(kFields[count], range)) return false;
    start = end;
  }
  return count == kFields.size();
}

std::string check_schedule(std::string_view schedule) {
  if (schedule.empty()) return " schedule is required, but got empty";
  std::string text;
  if (schedule.find("TZ") != std::string_view::npos)
    text += " schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field";
  if (!is_schedule(schedule)) text += "schedule is not a valid cron expression";
  return text;
}

bool is_zone_part(const std::string& part) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_' || c == '+'; };
  return part != "." && part != ".." && !part.empty() && part.size() <= 14 && part.front() != '-' &&
         std::all_of(part.begin(), part.end(), allowed);
}

std::string check_zone(const Json& zone, const Options& options) {
  if (!zone.is_string()) return {};
  const std::string name = zone.str();
  if (name.empty()) return " timeZone must be nil or non-empty string, got empty string";
  std::string text;
  for (const std::string& part : split(name, '/'))
    if (!is_zone_part(part)) text += " unknown timeZone";
  const bool well_formed = text.empty();
  if (lower(name) == "local")
    text += " timeZone can't be Local, and must be defined in https://www.iana.org/time-zones";
  // Go knows a zone "Local", in this spelling.
  if (name != "Local" && (!well_formed || (options.knows_time_zone && !options.knows_time_zone(name))))
    text += " invalid timeZone";
  return text;
}

std::string check_name(const std::string& name) {
  if (name.size() > 52)
    return "cronJob name must be no more than 52 characters to accommodate job name suffix (max 63 total)";
  const auto problems = check_qualified_name(name);
  if (problems.empty()) return {};
  return base::format("invalid cronJob name {}: {}", quoted(name), join(problems, "; "));
}

}  // namespace

AdmissionAnswer check_cronjob(const AdmissionRequest& request, const Options& options) {
  if (request.operation != api::Operation::kCreate && request.operation != api::Operation::kUpdate)
    return refuse("expect operation to be 'CREATE' or 'UPDATE'");
  const Json& spec = request.object["spec"];
  std::string text = check_schedule(spec["schedule"].as_string()) + check_zone(spec["timeZone"], options);
  if (text.starts_with(" ")) text.erase(0, 1);
  if (const std::string name = check_name(std::string(api::name_of(request.object))); !name.empty())
    text += (text.empty() ? "" : "; ") + name;
  return text.empty() ? AdmissionAnswer{} : refuse(std::move(text));
}

}  // namespace admission
