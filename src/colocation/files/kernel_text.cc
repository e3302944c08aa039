// Reading those texts.
#include "colocation/files/kernel_text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "api/json/json.h"
#include "base/number.h"
#include "base/saturate.h"
#include "base/split.h"
#include "base/trim.h"

namespace colocation {

namespace {

constexpr std::string_view kDigits = "0123456789";

// A number without a sign; one that 63 bits do not hold is kUnlimited.
std::optional<std::int64_t> parse_count(std::string_view word) {
  if (word.empty() || word.find_first_not_of(kDigits) != std::string_view::npos) return std::nullopt;
  return base::parse_number<std::int64_t>(word).value_or(kUnlimited);
}

std::string_view first_word(std::string_view text) {
  const std::string_view trimmed = base::trim(text);
  return trimmed.substr(0, trimmed.find_first_of(base::kBlanks));
}

// The words of a command line: /proc separates them by zero bytes, files by blanks and quotes.
std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view kBetween(" \t\r\n\0\"'=", 8);
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;
       at = text.find_first_not_of(kBetween, at)) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

std::string word_after(std::string_view text, std::string_view flag) {
  const std::vector<std::string_view> words = words_of(text);
  const auto found = std::ranges::find(words, flag);
  return found == words.end() || found + 1 == words.end() ? std::string() : std::string(found[1]);
}

std::optional<std::uint32_t> parse_metric(std::string_view word, int digits) {
  std::uint32_t metric = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), metric, digits);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return metric;
}

std::string unquoted(std::string_view text) { return std::string(base::trim(text, " \t\r\n\"'")); }

}  // namespace

std::optional<std::int64_t> parse_amount(std::string_view text) {
  const std::string_view word = first_word(text);
  if (word == "max" || word == "-1") return kUnlimited;
  return parse_count(word);
}

std::optional<std::int64_t> stat_value(std::string_view text, std::string_view key) {
  for (const std::string_view line : base::split(text, '\n')) {
    if (!line.starts_with(key) || line.size() <= key.size()) continue;
    const char next = line[key.size()];
    if (next == ' ' || next == ':' || next == '\t') return parse_count(first_word(line.substr(key.size() + 1)));
  }
  return std::nullopt;
}

std::optional<std::int64_t> busy_ticks(std::string_view stat) {
  const std::string_view line = stat.substr(0, stat.find('\n'));
  const std::vector<std::string_view> words = base::split_words(line, ' ');
  if (words.size() < 5 || words[0] != "cpu") return std::nullopt;
  std::int64_t sum = 0;
  // user nice system idle iowait irq softirq steal; guests are in user and nice already.
  for (std::size_t at = 1; at < std::min<std::size_t>(words.size(), 9); ++at) {
    const auto ticks = parse_count(words[at]);
    if (!ticks) return std::nullopt;
    if (at != 4 && at != 5) sum = base::saturating_add(sum, *ticks);
  }
  return sum;
}

std::optional<MachineMemory> machine_memory(std::string_view meminfo) {
  const auto total = stat_value(meminfo, "MemTotal"), available = stat_value(meminfo, "MemAvailable");
  if (!total || !available || *total == 0) return std::nullopt;
  const MachineMemory memory{base::saturating_multiply(*total, 1024), base::saturating_multiply(*available, 1024)};
  return MachineMemory{memory.total_bytes, std::min(memory.available_bytes, memory.total_bytes)};
}

std::optional<Pressure> parse_pressure(std::string_view text) {
  const auto total_of = [text](std::string_view kind) -> std::optional<std::int64_t> {
    for (const std::string_view line : base::split(text, '\n')) {
      if (!line.starts_with(kind)) continue;
      const std::size_t at = line.find("total=");
      return at == std::string_view::npos ? std::nullopt : parse_count(first_word(line.substr(at + 6)));
    }
    return std::nullopt;
  };
  const auto some = total_of("some ");
  if (!some) return std::nullopt;
  return Pressure{*some, total_of("full ").value_or(0)};
}

std::optional<std::int64_t> io_bytes(std::string_view io_stat) {
  std::optional<std::int64_t> sum;
  for (const std::string_view line : base::split(io_stat, '\n'))
    for (const std::string_view word : base::split_words(line, ' ')) {
      if (!word.starts_with("rbytes=") && !word.starts_with("wbytes=")) continue;
      if (const auto bytes = parse_count(word.substr(7))) sum = base::saturating_add(sum.value_or(0), *bytes);
    }
  return sum;
}

std::optional<std::int64_t> group_memory(std::string_view memory_stat) {
  // COMPAT(colocation-memory-once): kernel memory, slabs, stacks and page tables are parts of each other in v2, so the
  // sum of Volcano's list counts them twice: "kernel" alone has all of them.
  static constexpr std::string_view kOld[] = {"total_cache", "total_rss", "total_swap"};
  static constexpr std::string_view kUnified[] = {"anon", "file", "kernel", "sock"};
  std::int64_t sum = 0;
  bool found = false;
  const auto add = [&](std::string_view key) {
    const auto value = stat_value(memory_stat, key);
    found = found || value.has_value();
    sum = base::saturating_add(sum, value.value_or(0));
  };
  for (const std::string_view key : kOld) add(key);
  if (!found)
    for (const std::string_view key : kUnified) add(key);
  return found ? std::optional(sum) : std::nullopt;
}

std::optional<std::int64_t> counter_value(std::string_view text) { return parse_count(first_word(text)); }

bool is_interface_name(std::string_view name) {
  constexpr std::size_t kLengthMax = 15;
  return !name.empty() && name.size() <= kLengthMax && name != "." && name != ".." &&
         name.find_first_of("/: \t\r\n") == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

std::map<std::string, std::int64_t, std::less<>> received_bytes(std::string_view text) {
  std::map<std::string, std::int64_t, std::less<>> all;
  for (const std::string_view line : base::split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = base::trim(line.substr(0, colon));
    const auto bytes = counter_value(line.substr(colon + 1));
    if (bytes && is_interface_name(name)) all.emplace(name, *bytes);
  }
  return all;
}

std::string default_route_interface(std::string_view routes) {
  std::string best;
  std::uint32_t best_metric = std::numeric_limits<std::uint32_t>::max();
  for (const std::string_view line : base::split(routes, '\n')) {
    const std::vector<std::string_view> words = words_of(line);
    // Version 4: interface, destination, gateway, flags, two counts, metric, mask. Version 6: destination, its length,
    // source, its length, gateway, metric, two counts, flags, interface.
    const bool is_v4 = words.size() >= 8 && words[1] == "00000000" && words[7] == "00000000";
    const bool is_v6 = words.size() == 10 && words[0] == "00000000000000000000000000000000" && words[1] == "00";
    if (!is_v4 && !is_v6) continue;
    const std::string_view name = is_v4 ? words[0] : words[9];
    const auto metric = parse_metric(is_v4 ? words[6] : words[5], is_v4 ? 10 : 16);
    if (!metric || !is_interface_name(name) || name == "lo" || (!best.empty() && *metric >= best_metric)) continue;
    best = name;
    best_metric = *metric;
  }
  return best;
}

std::string named_driver(std::string_view text) {
  const auto known = [](std::string word) { return word == "systemd" || word == "cgroupfs" ? word : std::string(); };
  for (const std::string_view line : base::split(text, '\n')) {
    const std::string_view trimmed = base::trim(line);
    if (!trimmed.starts_with("cgroupDriver:")) continue;
    const std::string word = known(unquoted(trimmed.substr(13)));
    if (!word.empty()) return word;
  }
  return known(word_after(text, "--cgroup-driver"));
}

std::string config_path(std::string_view command_line) { return word_after(command_line, "--config"); }

std::string cpu_manager_policy(std::string_view text) {
  const auto read = api::parse_json(text);
  return read.ok() ? (*read)["policyName"].str() : std::string();
}

}  // namespace colocation
