// vcctl top: queues with their shares, the jobs that run, and those that wait with their reasons; on a terminal
// refreshed in place.
#include <algorithm>
#include <map>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "cli/reasons.h"
#include "cli/table.h"
#include "cli/text/people_table.h"
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

// The job that a group is made for, else the group, with its namespace.
std::string title_of(const Json& group) {
  const std::string_view owner = api::controller_of(group)["name"].as_string();
  return base::format("{}/{}", api::namespace_of(group), owner.empty() ? api::name_of(group) : owner);
}

class Page {
 public:
  Page(World& world, Api& server, const Values& values)
      : world_(world), server_(server), values_(values), ns_(values.text("namespace")) {
    // A person with the rights of one namespace sees its groups, and shares of the cluster only where its nodes are
    // theirs to see.
    if (ns_.empty() && world.context_namespace && is_refused(resources::kPodGroups))
      ns_ = world.context_namespace(values.text("kubeconfig"));
    queues_stream_ = server.follow({.resource = resources::kQueues});
    groups_stream_ = server.follow({.resource = resources::kPodGroups, .ns = ns_});
    if (is_refused(resources::kNodes))
      ++current_;
    else
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
      // A waiting job at a terminal also grows older.
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
  bool is_refused(const api::ResourceId& resource) {
    const auto one = server_.call({.verb = client::Verb::kList, .resource = resource, .limit = 1});
    return !one.ok() && one.error().code == base::Code::kForbidden;
  }
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
    return people_table(shown_on(), rows);
  }

  // Jobs that have begun, in natural order.
  std::string running_rows(std::size_t rows_max) const {
    std::vector<const Json*> running;
    for (const auto& [key, group] : groups_)
      if (group["status"]["phase"].as_string() == "Running") running.push_back(&group);
    if (running.empty()) return {};
    std::ranges::sort(running, [](const Json* a, const Json* b) { return natural_less(title_of(*a), title_of(*b)); });
    std::vector<std::vector<std::string>> rows = {{"RUNNING", "QUEUE", "AGE", "PODS"}};
    for (const Json* group : running) {
      if (rows.size() > rows_max) break;
      const Json& status = (*group)["status"];
      std::string pods = base::format("{} running", status["running"].as_int());
      for (const char* field : {"succeeded", "failed"})
        if (const std::int64_t count = status[field].as_int(); count > 0) pods += base::format(", {} {}", count, field);
      rows.push_back({title_of(*group), (*group)["spec"]["queue"].str(), age_of(world_, *group), pods});
    }
    std::string text = people_table(shown_on(), rows);
    if (running.size() + 1 > rows.size()) text += base::format("and {} more\n", running.size() + 1 - rows.size());
    return text + "\n";
  }

  // Rows of waiting jobs, the longest first.
  base::Result<std::string> waiting_rows(std::size_t rows_max) const {
    TRY(const Json live, ask_scheduler(world_, values_));
    std::vector<const Json*> waiting;
    for (const auto& [key, group] : groups_)
      if (!has_started(group)) waiting.push_back(&group);
    std::ranges::stable_sort(waiting, {},
                             [](const Json* group) { return (*group)["metadata"]["creationTimestamp"].as_string(); });
    if (waiting.empty()) return std::string("no group waits\n");
    TRY(const AdmissionEvents events, admission_events(server_, ns_));
    std::vector<std::vector<std::string>> rows = {{"WAITING", "QUEUE", "AGE", "REASON"}};
    for (const Json* group : waiting) {
      if (rows.size() > rows_max) break;
      const auto queue = queues_.find((*group)["spec"]["queue"].str());
      rows.push_back(
          {title_of(*group), (*group)["spec"]["queue"].str(), age_of(world_, *group),
           plain_reason(reason_of(*group, queue == queues_.end() ? nullptr : &queue->second, live, events))});
    }
    std::string text = people_table(shown_on(), rows);
    if (waiting.size() + 1 > rows.size()) text += base::format("and {} more\n", waiting.size() + 1 - rows.size());
    return text;
  }

  base::Status draw() {
    const std::string queues = queue_rows();
    const auto lines = [](const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); };
    const auto rows = static_cast<std::size_t>(std::max(world_.terminal.rows, 0));
    constexpr std::size_t kAll = 1'000'000;
    const auto left_below = [&](std::size_t above) {
      return !world_.terminal.is_one ? kAll : rows > above + 3 ? rows - above : std::size_t{3};
    };
    const std::size_t below = left_below(lines(queues) + 4);
    const std::string running = running_rows(below == kAll ? kAll : std::max<std::size_t>(below / 2, 3));
    TRY(const std::string waiting, waiting_rows(left_below(lines(queues) + lines(running) + 4)));
    // Home, then erase to the end: what was there before goes without a flicker.
    if (world_.terminal.is_one) world_.out += "\x1b[H\x1b[J";
    world_.out += queues + "\n" + running + waiting;
    return {};
  }

  // Into a pipe reasons are whole.
  Terminal shown_on() const {
    Terminal terminal = world_.terminal;
    if (!terminal.is_for_people) terminal.columns = 100'000;
    return terminal;
  }

  World& world_;
  Api& server_;
  const Values& values_;
  std::string ns_;  // of the groups; empty: of all
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
          .is_extra = true,
          .failure = "show queues and jobs"};
}

}  // namespace cli
