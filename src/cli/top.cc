// vcctl top: queues with their shares, and the groups that wait with their reasons; on a terminal refreshed in place.
#include <algorithm>
#include <map>

#include "api/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/utf8.h"
#include "cli/reasons.h"
#include "cli/table.h"
#include "cli/terminal_text.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

using Objects = std::map<std::string, Json>;  // by "namespace/name"
using Amounts = std::map<std::string, double>;

double amount_of(const Json& value) {
  const auto quantity = api::Quantity::from_json(value);
  return quantity ? quantity->as_double() : 0;
}

// The largest part of the cluster that a queue has of any resource (its dominant share, Ghodsi et al. 2011).
std::string dominant_share(const Json& allocated, const Amounts& cluster) {
  double most = 0;
  std::string_view of;
  for (const Json::Member& member : allocated.members()) {
    const auto total = cluster.find(std::string(member.name()));
    if (total == cluster.end() || total->second <= 0) continue;
    if (const double share = amount_of(member.value) / total->second; share > most) {
      most = share;
      of = member.name();
    }
  }
  return of.empty() ? "0%" : base::format("{:.0f}% {}", most * 100, of);
}

std::string text_of(const Json& quantity) { return quantity.is_null() ? "0" : quantity.str(); }

// Rows in columns as wide as their longest text; the last column is not padded.
std::string columns(const std::vector<std::vector<std::string>>& rows, std::size_t width_max) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size() + 2);
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) line += base::format("{:<{}}", row[i], widths[i]);
    line += row.back();
    if (width_max > 0 && line.size() > width_max) line.resize(base::utf8_prefix(line, width_max).size());
    text += line + "\n";
  }
  return text;
}

class Page {
 public:
  Page(World& world, Api& server, const Values& values) : world_(world), server_(server), values_(values) {
    queues_stream_ = server.follow({.resource = resources::kQueues});
    groups_stream_ = server.follow({.resource = resources::kPodGroups, .ns = values.text("namespace")});
    nodes_stream_ = server.follow({.resource = resources::kNodes});
  }

  base::Status run() {
    const bool is_once = !world_.terminal.is_one && values_.text("interval").empty();
    base::Time drawn{};
    const base::Duration interval = is_once ? base::Duration{} : interval_of();
    for (bool changed = false;;) {
      const base::Duration left = interval - (world_.now() - drawn);
      Happening news = server_.next(is_current() ? std::max(left, base::Duration{}) : base::hours(1));
      if (news.kind == Happening::Kind::kEnd && !news.end.ok()) return news.end.take_error();
      changed |= take(std::move(news));
      if (!is_current() || world_.now() - drawn < interval) continue;
      // What waits at a terminal also grows older.
      if (changed || world_.terminal.is_one) {
        TRY_VOID(draw());
        if (!world_.show(world_)) return {};
      }
      if (is_once) return {};
      changed = false;
      drawn = world_.now();
    }
  }

 private:
  base::Duration interval_of() const {
    const base::Duration asked = values_.span("interval");
    return std::max(values_.text("interval").empty() ? base::seconds(2) : asked, base::milliseconds(100));
  }
  bool is_current() const { return current_ == 3; }

  // Whether something on the page may differ.
  bool take(Happening news) {
    Objects& objects = news.stream == queues_stream_ ? queues_ : news.stream == groups_stream_ ? groups_ : nodes_;
    switch (news.kind) {
      case Happening::Kind::kCurrent: ++current_; return true;
      case Happening::Kind::kObject: objects[api::key_of(news.object)] = std::move(news.object); return true;
      case Happening::Kind::kGone: objects.erase(api::key_of(news.object)); return true;
      default: return false;
    }
  }

  Amounts cluster() const {
    Amounts sum;
    for (const auto& [name, node] : nodes_)
      for (const Json::Member& member : node["status"]["allocatable"].members())
        sum[std::string(member.name())] += amount_of(member.value);
    return sum;
  }

  std::string queue_rows() const {
    const Amounts total = cluster();
    std::map<std::string, std::map<std::string, int>> counts;  // queue, phase
    for (const auto& [key, group] : groups_) {
      const std::string_view phase = group["status"]["phase"].as_string();
      ++counts[group["spec"]["queue"].str()][phase.empty() ? "Pending" : std::string(phase)];
    }
    std::vector<std::vector<std::string>> rows = {
        {"QUEUE", "STATE", "WEIGHT", "SHARE", "CPU", "MEMORY", "RUNNING", "INQUEUE", "PENDING"}};
    for (const auto& [name, queue] : queues_) {
      const Json& allocated = queue["status"]["allocated"];
      auto& of = counts[name];
      rows.push_back({name, std::string(queue["status"]["state"].as_string("Open")),
                      std::to_string(queue["spec"]["weight"].as_int()), dominant_share(allocated, total),
                      text_of(allocated["cpu"]), text_of(allocated["memory"]), std::to_string(of["Running"]),
                      std::to_string(of["Inqueue"]), std::to_string(of["Pending"])});
    }
    return columns(rows, width());
  }

  // Those that wait, the longest first.
  base::Result<std::string> waiting_rows(std::size_t rows_max) const {
    TRY(const Json live, ask_scheduler(world_, values_));
    std::vector<const Json*> waiting;
    for (const auto& [key, group] : groups_)
      if (!has_started(group)) waiting.push_back(&group);
    std::ranges::stable_sort(waiting, {},
                             [](const Json* group) { return (*group)["metadata"]["creationTimestamp"].as_string(); });
    if (waiting.empty()) return std::string("no group waits\n");
    TRY(const AdmissionEvents events, admission_events(server_, values_.text("namespace")));
    std::vector<std::vector<std::string>> rows = {{"WAITING", "QUEUE", "AGE", "REASON"}};
    for (const Json* group : waiting) {
      if (rows.size() > rows_max) break;
      const auto queue = queues_.find((*group)["spec"]["queue"].str());
      const auto made = base::parse_rfc3339((*group)["metadata"]["creationTimestamp"].as_string());
      rows.push_back({api::key_of(*group), (*group)["spec"]["queue"].str(),
                      made ? base::format_human_duration(world_.now() - *made) : "<unknown>",
                      reason_of(*group, queue == queues_.end() ? nullptr : &queue->second, live, events)});
    }
    std::string text = columns(rows, width());
    if (waiting.size() + 1 > rows.size()) text += base::format("and {} more\n", waiting.size() + 1 - rows.size());
    return text;
  }

  base::Status draw() {
    const std::string queues = queue_rows();
    const std::size_t above = static_cast<std::size_t>(std::ranges::count(queues, '\n')) + 4;
    const auto rows = static_cast<std::size_t>(std::max(world_.terminal.rows, 0));
    constexpr std::size_t kAll = 1'000'000;
    TRY(const std::string waiting, waiting_rows(!world_.terminal.is_one ? kAll : rows > above + 3 ? rows - above : 3));
    // Home, then erase to the end: what was there before goes without a flicker.
    if (world_.terminal.is_one) world_.out += "\x1b[H\x1b[J";
    world_.out += for_terminal(queues + "\n" + waiting);
    return {};
  }

  std::size_t width() const {
    return world_.terminal.is_one ? static_cast<std::size_t>(std::max(world_.terminal.columns, 20)) : 0;
  }

  World& world_;
  Api& server_;
  const Values& values_;
  int queues_stream_ = 0, groups_stream_ = 0, nodes_stream_ = 0;
  int current_ = 0;  // streams that have told all that is there
  Objects queues_, groups_, nodes_;
};

base::Status top(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  world.as_it_is = true;
  return Page(world, *server, values).run();
}

}  // namespace

Command top_command() {
  using enum Flag::Type;
  return {.name = "top",
          .summary = "queues and their shares, and what waits and why; refreshed until interrupted",
          .flags = with_connection({{"namespace", 'n', kText, "", "only groups of this namespace; empty: of all"},
                                    {"interval", 0, kText, "",
                                     "time between two looks, at least 100ms; empty: 2s at a terminal, else one look"},
                                    scheduler_flag()}),
          .run = top,
          .is_extra = true};
}

}  // namespace cli
