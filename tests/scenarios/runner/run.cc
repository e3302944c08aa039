// A scenario: what a file says happens, and what the scheduler does about it.
//
// Lines before a `cycle` make objects or events; below `----` stands what one cycle decides, sorted by kind. `show`
// adds further kinds of lines: phases, conditions, events, pods, queues, tasks.
#include "run.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "base/format.h"
#include "conf_line.h"
#include "delivery.h"
#include "objects.h"
#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/cache/intake_fields.h"
#include "scheduler/dump/dump.h"
#include "scheduler/intake_options.h"
#include "scheduler/one_shot/one_shot.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"
#include "scheduler/session/invariants.h"
#include "scheduler/session/plain_twin_for_tests.h"
#include "scheduler/single_pods/single_pods.h"

namespace scenario {
namespace {

using scheduler::CycleReport;
using scheduler::TaskStatus;

base::Error wrong(int line, std::string_view what) {
  return base::make_error(base::Code::kInvalid, base::format("line {}: {}", line, what));
}

// As the scheduler's informers deliver it: only what is read.
api::Json as_informed(const api::ResourceId& resource, const api::Json& object) {
  auto read = api::parse_json(object.dump(), scheduler::fields_read(resource));
  return read.ok() ? *std::move(read) : object;
}

class Stage {
 public:
  Stage(Player player, const scheduler::Options& options, std::uint64_t split)
      : player_(player),
        delivery_(player == Player::kSplit ? std::optional(split) : std::nullopt),
        options_(options),
        intake_(model_, ledger_, scheduler::intake_options(options)),
        decider_(model_, ledger_,
                 player == Player::kPlain ? scheduler::plain_registry(registry(options)) : registry(options), 1,
                 "volcano") {
    if (options.single_pods) singles_.emplace(model_, intake_);
    now_ = base::Time{} + base::seconds(1'700'000'000);
    if (player == Player::kFast) decider_.prove_rollbacks();
    decider_.sample(scheduler::sampling_options(options));
  }

  base::Status act(const Line& line) {
    if (line.verb == "conf") return configure(line);
    if (line.verb == "show") {
      shown_.insert(line.name);
      for (const auto& [key, value] : line.fields) shown_.insert(key);
      return {};
    }
    if (line.verb == "answer") return answers_.insert(answers_.begin(), line), base::Status();
    if (line.verb == "hide") return hidden_.insert(line.name), base::Status();
    if (line.verb == "wait-time") return now_ = now_ + base::seconds(std::atoll(line.name.c_str())), base::Status();
    for (const std::string& name : expand(line.name)) {
      if (line.verb == "usage") {
        TRY_VOID(delivery_.add("usage", "", "", [this, line, name, now = now_] { return measure(line, name, now); }));
        continue;
      }
      TRY(auto made, object_for(line, name, ++order_));
      const std::string known_as = line.verb + " " + name;
      if (made) {
        TRY_VOID(delivery_.add(line.verb, known_as, comes_after(line, known_as), [this, known_as, made = *made] {
          objects_[known_as] = made;
          intake_.set(made.resource, player_ == Player::kSplit ? as_informed(made.resource, made.object) : made.object);
          return base::Status();
        }));
      } else {
        // The place of a node that is gone is free when its last pod is, too, and the next node takes it.
        nodes_go_ |= line.get("kind", "pod") == "node";
        if (nodes_go_) TRY_VOID(receive_all());
        TRY_VOID(delivery_.add(line.get("kind", "pod"), "", "", [this, line, name] { return change(line, name); }));
        if (nodes_go_) TRY_VOID(receive_all());
      }
    }
    return {};
  }

  // The first line that names a node comes after the first that named the node before it, and all else of a node after
  // that.
  std::string comes_after(const Line& line, const std::string& known_as) {
    const std::string* node = line.find("node");
    if (node == nullptr && line.verb != "node") return "";
    const auto [named, is_new] = named_by_.try_emplace(node != nullptr ? "node " + *node : known_as, known_as);
    std::string out = is_new ? std::exchange(last_name_, known_as) : named->second;
    if (node == nullptr) {
      named->second = known_as;
      if (out.starts_with("node ")) out.clear();  // their watch keeps them in order
    }
    return out;
  }

  // Everything that happened since the last cycle has been heard of.
  base::Status receive_all() {
    return delivery_.deliver([this] {
      scheduler::dump_text(model_, ledger_, {.configuration = config_text_, .now = now_});
      decider_.waiting();
      decider_.report([](std::string_view, const std::vector<std::string>&, double) {});
    });
  }

  std::string cycle() {
    for (const std::string& key : leaving_) {
      const auto task = model_.find_task(key);
      if (task.is_set()) model_.remove_task(task);
    }
    leaving_.clear();
    if (player_ == Player::kReplayed) replay_objects();
    const scheduler::Before before = scheduler::look_before(model_, decider_.config());
    // For whom pods were evicted before is in no dump.
    const bool compares = player_ == Player::kDumped && ledger_.eviction_rounds.empty();
    const api::Json dumped = compares ? decided_from_dump() : api::Json();
    if (singles_) {
      singles_->facts_changed(now_);  // not everything that lines do is heard by the intake
      decider_.take_turns(singles_->take_turns(1000, now_));
    }
    if (player_ == Player::kPlain) scheduler::begin_plain_cycle(decider_);
    const CycleReport report = decider_.run_cycle(now_, true);
    if (singles_) singles_->record_ends(report.single_pods, now_);
    std::vector<std::string> lines = report_lines(report);
    for (const std::string& one : broken_invariants(model_, decider_.config(), before, report))
      lines.push_back("BROKEN " + one);
    answer_questions(lines);
    for (const auto& bind : report.plan.binds) {
      const auto task = model_.find_task(bind.ns + "/" + bind.pod);
      model_.move(task, TaskStatus::kRunning, model_.task(task).node);
    }
    for (const auto& eviction : report.plan.evictions) leaving_.push_back(eviction.ns + "/" + eviction.pod);
    for (const auto& gate : report.plan.gate_removals) model_.ungate(model_.find_task(gate.ns + "/" + gate.pod));
    if (compares) compare(dumped, report);
    for (const std::string& one : wrong_sums(model_)) lines.push_back("BROKEN " + one);
    now_ = now_ + base::seconds(1);
    std::string out;
    for (const std::string& one : lines) out += one + "\n";
    return out;
  }

  std::string differences;  // between what was decided and what is decided from dumps

 private:
  static scheduler::Registry registry(const scheduler::Options& options) {
    if (!options.single_pods) return {scheduler::all_plugins(), scheduler::all_actions()};
    return {scheduler::single_pod_plugins(), scheduler::single_pod_actions(), scheduler::single_pods_config_text()};
  }

  // `volcano schedule --as-is` on what is dumped now; it must decide the same, and be dumped as the same.
  api::Json decided_from_dump() {
    const scheduler::DumpOptions about{.configuration = config_text_, .now = now_};
    const std::string text = scheduler::dump_text(model_, ledger_, about);
    scheduler::OneShot other({.scheduler = options_, .as_is = true, .now_given = false, .tasks = true}, [] {
      return std::pair{0.0, 0.0};
    });
    base::Status loaded = other.configure();
    if (loaded.ok()) loaded = other.load("dump.json", text);
    if (!loaded.ok()) return api::Json(loaded.error().message);
    other.finish_loading();
    if (const std::string again = scheduler::dump_text(other.model(), other.ledger(), about); again != text)
      record_difference("the dump of a dump", text, again);
    other.run_phase();
    return other.result();
  }

  // Amounts that were computed and amounts that were parsed may be written differently.
  static api::Json as_read(const api::Json& amounts) {
    api::Json out = api::Json::object();
    for (const auto& one : amounts.members()) {
      const auto amount = api::Quantity::from_json(one.value);
      out.set(one.name(), amount ? amount->to_json() : one.value);
    }
    return out;
  }

  // The decisions of this cycle, as `volcano schedule` says them.
  void compare(const api::Json& dumped, const CycleReport& report) {
    api::Json binds = api::Json::object(), held = binds, queues = binds, groups = binds, tasks = binds;
    for (const auto& one : report.plan.binds) binds.set(one.ns + "/" + one.pod, one.node);
    for (const auto& [pod, node] : report.pipelined) held.set(pod, node);
    for (const auto& [pod, task] : report.tasks)
      tasks.set(pod, api::Json::object({{"status", name_of(task.status)}, {"node", task.node}}));
    model_.for_each_job([&](const scheduler::Job& job) {
      if (job.has_group) groups.set(job.key, name_of(job.phase));
    });
    for (std::uint32_t q = 0; q < model_.queue_count(); ++q) {
      const auto& queue = model_.queue(scheduler::QueueId{q});
      if (queue.in_use) queues.set(queue.name, as_read(api::to_json(ledger_.queue(queue.id).allocated)));
    }
    api::Json queues_from_dump = api::Json::object();
    for (const auto& queue : dumped["queues"].members())
      queues_from_dump.set(queue.name(), as_read(queue.value["allocated"]));
    if (queues != queues_from_dump) record_difference("queues", queues.dump(), queues_from_dump.dump());
    std::string mine, theirs;
    for (const auto& one : report.plan.evictions) mine += one.ns + "/" + one.pod + " for " + one.for_group + "\n";
    for (const api::Json& one : dumped["evictions"].items())
      theirs += one["pod"].str() + " for " + one["for"].str() + "\n";
    if (mine != theirs) record_difference("evictions", mine, theirs);
    api::Json phases = api::Json::object();
    for (const auto& group : dumped["podGroups"].members()) phases.set(group.name(), group.value["phase"]);
    if (phases != groups) record_difference("phases", groups.dump(), phases.dump());
    const std::pair<std::string_view, api::Json> parts[] = {{"binds", binds},
                                                            {"pipelined", held},
                                                            {"tasks", tasks},
                                                            {"waiting", scheduler::waiting_json(decider_.waiting())}};
    for (const auto& [name, value] : parts) {
      if (dumped[name] != value) record_difference(name, value.sorted().dump(), dumped[name].dump());
    }
  }

  void record_difference(std::string_view what, std::string_view mine, std::string_view theirs) {
    std::size_t at = 0;
    while (at < mine.size() && at < theirs.size() && mine[at] == theirs[at]) ++at;
    const std::size_t start = at < 80 ? 0 : at - 80;
    const auto around = [&](std::string_view text) { return text.substr(std::min(start, text.size()), 200); };
    differences += base::format("{}:\n  live: {}\n  dump: {}\n", what, around(mine), around(theirs));
  }

  // Pods and groups are left out: their objects here do not say what cycles made of them.
  void replay_objects() {
    for (const auto& [name, made] : objects_) {
      if (!name.starts_with("pod ") && !name.starts_with("group ")) intake_.set(made.resource, made.object);
    }
  }

  base::Status configure(const Line& line) {
    const api::Json document = configuration_from(line);
    config_text_ = document.dump();
    auto config = scheduler::config_from(document, registry(options_));
    if (!config.ok()) return wrong(line.number, config.error().message);
    decider_.use(*std::move(config));
    if (shows("warnings")) {
      for (const std::string& warning : decider_.warnings()) warnings_.push_back(warning);
    }
    return {};
  }

  // The `answer` lines answer what the cycle asked programs outside: answer URL-END [contains=TEXT] with a JSON patch
  // line, or error=TEXT. The first that fits counts; without one the answer is still under way.
  void answer_questions(std::vector<std::string>& lines) {
    std::map<std::string, int> asked;
    for (const scheduler::ExternalQuestion& question : model_.outside.take_questions()) {
      const std::string verb = question.url.substr(question.url.rfind('/') + 1);
      ++asked[verb];
      for (const Line& line : answers_) {
        if (line.name != verb || question.body.find(line.get("contains")) == std::string::npos) continue;
        const std::string* error = line.find("error");
        const std::string* text = line.find("text");
        model_.outside.put(question, {error == nullptr,
                                      error != nullptr  ? *error
                                      : text != nullptr ? *text
                                                        : line.patch.dump(),
                                      now_});
        break;
      }
    }
    if (!shows("asked")) return;
    for (const auto& [verb, times] : asked) lines.push_back(base::format("ask    {} {}", verb, times));
  }

  // usage n1 cpu=50 memory=30 [age=SECONDS]: what the metrics source measured.
  base::Status measure(const Line& line, const std::string& node, base::Time now) {
    const auto ago = base::seconds(std::atoll(line.get("age", "0").c_str()));
    model_.usage.by_node[node] = {std::atof(line.get("cpu", "0").c_str()), std::atof(line.get("memory", "0").c_str()),
                                  base::Time{now.ns - ago.ns}};
    ++model_.usage.generation;
    return {};
  }

  base::Status change(const Line& line, const std::string& name) {
    const auto task = model_.find_task(name.find('/') == std::string::npos ? "default/" + name : name);
    const auto move = [&](TaskStatus status, scheduler::NodeId node) -> base::Status {
      if (!task.is_set() && line.find("maybe") != nullptr) return {};
      if (!task.is_set()) return wrong(line.number, "no such pod: " + name);
      model_.move(task, status, node);
      return {};
    };
    if (line.verb == "finish") return move(TaskStatus::kSucceeded, {});
    if (line.verb == "fail") return move(TaskStatus::kFailed, {});
    if (line.verb == "terminate")
      return move(TaskStatus::kReleasing, task.is_set() ? model_.task(task).node : scheduler::NodeId{});
    if (line.verb == "bound")
      return move(TaskStatus::kBound, task.is_set() ? model_.task(task).node : scheduler::NodeId{});
    if (line.verb == "delete") {
      if (task.is_set() && !line.find("kind")) return model_.remove_task(task), base::Status();
      auto found = objects_.find(line.get("kind", "pod") + " " + name);
      if (found == objects_.end() && line.find("maybe") != nullptr) return {};
      if (found == objects_.end()) return wrong(line.number, "nothing to delete: " + name);
      intake_.remove(found->second.resource, found->second.object);
      objects_.erase(found);
      return {};
    }
    return wrong(line.number, "unknown verb " + line.verb);
  }

  bool shows(const std::string& what) const { return shown_.contains(what); }

  std::vector<std::string> report_lines(const CycleReport& report) {
    std::vector<std::string> out = std::exchange(warnings_, {});
    for (std::string& warning : out) warning = "warn   " + warning;
    for (const auto& one : report.plan.evictions)
      out.push_back(base::format("evict  {}/{} {}", one.ns, one.pod, one.action));
    std::sort(out.begin(), out.end());
    std::vector<std::string> binds;
    for (const auto& one : report.plan.binds)
      binds.push_back(base::format("bind   {}/{} {}", one.ns, one.pod, one.node));
    if (!shows("order")) std::sort(binds.begin(), binds.end());
    if (!hidden_.contains("binds")) out.insert(out.end(), binds.begin(), binds.end());
    for (const auto& gate : report.plan.gate_removals) out.push_back(base::format("ungate {}/{}", gate.ns, gate.pod));
    for (const auto& shard : report.plan.shards) {
      const auto list = [](const std::vector<std::string>& names) {
        std::string text;
        for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
        return text;
      };
      out.push_back(base::format("shard  {} uses={} remove={} add={}", shard.name, list(shard.in_use),
                                 list(shard.to_remove), list(shard.to_add)));
    }
    for (const auto& [pod, node] : report.pipelined) out.push_back(base::format("hold   {} {}", pod, node));
    model_.for_each_job([&](const scheduler::Job& job) {
      if (!job.has_group) return;
      if (shows("phases"))
        out.push_back(base::format("phase  {} {}", job.key, name_of(job.phase)));
      else if (job.is_pending() || job.ready_count() < job.min_available)
        out.push_back(base::format("wait   {} {}", job.key, name_of(job.phase)));
      if (!shows("conditions")) return;
      for (const auto& c : ledger_.group(job.id).status.conditions)
        out.push_back(base::format("cond   {} {} {}: {}", job.key, c.type, c.reason, c.message));
    });
    if (shows("reasons")) {
      for (const auto& [key, reason] : decider_.waiting())
        out.push_back(base::format("why    {} {}: {}", key, name_of(reason.kind), reason.message()));
    }
    if (shows("events")) {
      for (const auto& e : report.plan.group_events)
        out.push_back(base::format("event  {}/{} {} {}: {}", e.ns, e.name, e.type, e.reason, e.message));
    }
    if (shows("pods")) {
      for (const auto& c : report.plan.pod_conditions) {
        out.push_back(base::format("pod    {}/{} {}: {}{}", c.ns, c.pod, c.reason, c.message,
                                   c.nominated_node.empty() ? "" : " -> " + c.nominated_node));
      }
    }
    if (shows("domains")) {
      model_.for_each_job([&](const scheduler::Job& job) {
        if (!job.topology) return;
        const auto name = [&](scheduler::Symbol one) { return one.is_set() ? model_.symbols.text(one) : "-"; };
        out.push_back(base::format("domain {} {}", job.key, name(job.topology->allocated)));
        std::map<std::string, std::string> parts;
        for (const auto& part : job.topology->sub_jobs) {
          if (part.policy != scheduler::SubJob::kNoPolicy && part.task_count() > 0)
            parts[part.uid] = name(part.allocated);
        }
        for (const auto& [uid, domain] : parts) out.push_back(base::format("domain {} {}", uid, domain));
      });
    }
    if (shows("annotations")) {
      for (const auto& one : report.plan.groups) {
        if (one.allocated_domain)
          out.push_back(base::format("write  {}/{} hypernode={}", one.ns, one.name, *one.allocated_domain));
      }
    }
    if (shows("queues")) {
      std::map<std::string, std::string> queues;
      for (std::uint32_t q = 0; q < model_.queue_count(); ++q) {
        const auto& queue = model_.queue(scheduler::QueueId{q});
        if (queue.in_use) queues[queue.name] = api::to_json(ledger_.queue(queue.id).allocated).dump();
      }
      for (const auto& [name, allocated] : queues) out.push_back(base::format("queue  {} {}", name, allocated));
    }
    if (shows("devices")) {
      for (const auto& one : report.plan.binds) {
        for (const auto& [key, value] : one.annotations) {
          if (key.find("time") == std::string::npos)
            out.push_back(base::format("device {}/{} {}: {}", one.ns, one.pod, key, value));
        }
      }
    }
    if (shows("gauges")) {
      decider_.report([&](std::string_view name, const std::vector<std::string>& labels, double value) {
        std::string list;
        for (const std::string& label : labels) list += (list.empty() ? "" : ",") + label;
        out.push_back(base::format("gauge  {}{{{}}} {}", name, list, value));
      });
    }
    if (shows("tasks")) {
      for (const auto& [pod, task] : report.tasks)
        out.push_back(base::format("task   {} {} {}", pod, name_of(task.status), task.node));
    }
    return out;
  }

  const Player player_;
  Delivery delivery_;
  std::map<std::string, std::string> named_by_;  // of a node: its own line, or the first pod's until that comes
  bool nodes_go_ = false;
  std::string last_name_;  // whose line named a node that none before it did
  scheduler::Options options_;
  std::string config_text_;
  scheduler::Model model_;
  scheduler::Ledger ledger_;
  scheduler::Intake intake_;
  scheduler::Decider decider_;
  std::optional<scheduler::SinglePods> singles_;
  base::Time now_;
  std::int64_t order_ = 0;
  std::set<std::string> shown_, hidden_;
  std::map<std::string, Made> objects_;
  std::vector<std::string> leaving_;
  std::vector<std::string> warnings_;
  std::vector<Line> answers_;  // the newest first
};

}  // namespace

base::Result<std::string> play(std::string_view text, Player player, std::uint64_t split) {
  std::string out;
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  // flags [agent-scheduler] --NAME=VALUE...: of the program, for the whole scenario.
  std::vector<std::string> flags;
  for (const std::string& line : lines) {
    if (line.starts_with("flags ")) flags = words_of(line.substr(6));
  }
  const bool single_pods = !flags.empty() && flags.front() == "agent-scheduler";
  scheduler::Options options = single_pods ? scheduler::agent_options() : scheduler::Options();
  if (auto rest = scheduler::parse_options(flags, options); !rest.ok()) return rest.take_error();
  // The beginning of the walk over nodes depends on earlier questions: a dump does not say it. A dump of single pods is
  // one of the model, and not of whose turn it is.
  if (player == Player::kDumped && (options.sampling_asked || single_pods)) player = Player::kFast;
  Stage stage(player, options, split);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const int number = static_cast<int>(i + 1);
    out += line + "\n";
    if (line.empty() || line[0] == '#' || line.starts_with("flags ")) continue;
    TRY(Line parsed, parse_line(line, number));
    while (i + 1 < lines.size() && lines[i + 1].starts_with("  +")) {
      auto patch = api::parse_json(lines[i + 1].substr(3));
      if (!patch.ok()) return wrong(number + 1, patch.error().message);
      parsed.patch = *patch;
      out += lines[++i] + "\n";
    }
    if (parsed.verb != "cycle") {
      TRY_VOID(stage.act(parsed));
      continue;
    }
    TRY_VOID(stage.receive_all());
    for (int n = std::max(1, std::atoi(parsed.name.c_str())); n > 1; --n) stage.cycle();
    out += "----\n" + stage.cycle();
    if (!stage.differences.empty()) return wrong(number, stage.differences);
    if (i + 1 < lines.size() && lines[i + 1] == "----") ++i;
    while (i + 1 < lines.size() && !lines[i + 1].empty()) ++i;
  }
  return out;
}

}  // namespace scenario
