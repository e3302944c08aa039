// Which pods are asked what.
#include "controllers/jobflow/probes.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/job/job.h"

namespace controllers::jobflow {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kQuestionsMax = 8;  // at a time, of one node
constexpr base::Duration kPauseMin = base::seconds(1);
constexpr base::Duration kPauseMax = base::seconds(30);

bool is_address(std::string_view host) {
  return !host.empty() &&
         std::ranges::all_of(host, [](unsigned char c) { return std::isxdigit(c) || c == '.' || c == ':'; }) &&
         host.find_first_of(".:") != std::string_view::npos;
}

bool is_printable(std::string_view text, char least) {
  return std::ranges::all_of(text, [least](char c) { return c >= least && c <= '~'; });
}

bool is_header_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) || std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

// One entry of httpGetList or tcpSocketList, without the pods.
struct Wanted {
  std::string task;
  Probe probe;
};

base::Result<Wanted> read_wanted(const Json& entry, bool http) {
  const auto invalid = [](std::string text) { return base::make_error(base::Code::kInvalid, std::move(text)); };
  Wanted wanted{.task = entry["taskName"].str(), .probe = {}};
  const std::int64_t port = entry["port"].as_int();
  if (port < 1 || port > 65535) return invalid(base::format("probe: port {} is not between 1 and 65535", port));
  wanted.probe.port = static_cast<std::uint16_t>(port);
  if (!http) return wanted;
  wanted.probe.path = entry["path"].str();
  if (!wanted.probe.path.starts_with("/")) wanted.probe.path = base::format("/{}", wanted.probe.path);
  if (!is_printable(wanted.probe.path, '!'))
    return invalid(base::format("probe: path {:?} has a blank or a control character", wanted.probe.path));
  const Json& header = entry["httpHeader"];
  if (header["name"].as_string().empty()) return wanted;
  wanted.probe.header = {header["name"].str(), header["value"].str()};
  if (!is_header_name(wanted.probe.header.first) || !is_printable(wanted.probe.header.second, ' '))
    return invalid(base::format("probe: {:?} is not an HTTP header", wanted.probe.header.first));
  return wanted;
}

// A task of a target, with what the target's status counts of it.
struct Place {
  const job::Job* job;
  const job::Task* task;
  const Json* counts;
};

// Targets may have thousands of tasks, and a probe as many entries: each entry finds its tasks by name.
class Places {
 public:
  explicit Places(const std::vector<job::Job>& jobs) {
    static const Json none;
    for (const job::Job& job : jobs) {
      std::map<std::string_view, const Json*> counts;
      for (const Json::Member& one : job.object["status"]["taskStatusCount"].members())
        counts[one.name()] = &one.value["phase"];
      for (const job::Task& task : job.tasks) {
        const auto found = counts.find(task.name);
        const Place place{&job, &task, found == counts.end() ? &none : found->second};
        all_.push_back(place);
        by_name_[task.name].push_back(place);
      }
    }
  }
  // In the order of the targets. No name: all.
  const std::vector<Place>& of(const std::string& task) const {
    static const std::vector<Place> none;
    if (task.empty()) return all_;
    const auto found = by_name_.find(task);
    return found == by_name_.end() ? none : found->second;
  }

 private:
  std::vector<Place> all_;
  std::map<std::string, std::vector<Place>> by_name_;
};

class Judge {
 public:
  Judge(const View& view, const Probing& before) : view_(view), before_(before) { verdict_.passed = true; }

  Verdict take(const Json& probe, const std::vector<const Json*>& targets) {
    std::vector<job::Job> jobs;
    for (const Json* target : targets) jobs.push_back(job::read_job(*target));
    has_targets_ = !jobs.empty();
    const Places places(jobs);
    std::set<std::pair<std::string, std::string>> known;
    for (const Json& entry : probe["taskStatusList"].items()) {
      if (!known.emplace(entry["taskName"].str(), entry["phase"].str()).second) continue;
      known_task(entry["taskName"].str(), places);
      look_at_counts(entry, places);
    }
    std::set<std::string> asked;
    for (const bool http : {true, false})
      for (const Json& entry : probe[http ? "httpGetList" : "tcpSocketList"].items())
        if (asked.insert((http ? "http " : "tcp ") + entry.dump()).second) ask(entry, http, places);
    return std::move(verdict_);
  }

 private:
  void known_task(const std::string& task, const Places& places) {
    if (!places.of(task).empty()) return;
    verdict_.passed = false;
    if (has_targets_) verdict_.impossible = base::format("probe: no target has the task {:?}", task);
  }

  // Pods that have gone on to success were running before.
  void look_at_counts(const Json& entry, const Places& places) {
    const std::string_view word = entry["phase"].as_string();
    const std::string_view phase = word == "Completed" ? "Succeeded" : word;
    for (const Place& place : places.of(entry["taskName"].str())) {
      if (!verdict_.passed) return;
      if (place.task->replicas <= 0) continue;
      std::int64_t reached = (*place.counts)[phase].as_int();
      if (phase == "Running") reached += (*place.counts)["Succeeded"].as_int();
      verdict_.passed = reached >= place.task->replicas;
    }
  }

  void ask(const Json& entry, bool http, const Places& places) {
    const auto wanted = read_wanted(entry, http);
    if (!wanted.ok()) {
      verdict_.passed = false;
      verdict_.impossible = wanted.error().message;
      return;
    }
    known_task(wanted->task, places);
    for (const Place& place : places.of(wanted->task))
      for (std::int64_t index = 0; index < place.task->replicas; ++index)
        if (!ask_pod(*wanted, *place.job, job::pod_name(*place.job, *place.task, index))) return;
  }

  // False: the rest can wait, as this pod cannot answer yet, or enough is asked.
  bool ask_pod(const Wanted& wanted, const job::Job& job, const std::string& name) {
    const Json* pod = view_.find(resources::kPods, base::format("{}/{}", job.ns, name));
    const std::string host = pod ? (*pod)["status"]["podIP"].str() : "";
    if (!pod || api::controller_of(*pod)["uid"].as_string() != job.uid || api::is_deleting(*pod) ||
        (*pod)["status"]["phase"].as_string() != "Running" || !is_address(host)) {
      verdict_.passed = false;
      return false;
    }
    // A path or a header has no line break.
    Question question{base::format("{}:{}{}\n{}: {}", api::uid_of(*pod), wanted.probe.port, wanted.probe.path,
                                   wanted.probe.header.first, wanted.probe.header.second),
                      wanted.probe};
    if (before_.passed.contains(question.key)) return true;
    verdict_.passed = false;
    if (verdict_.questions.size() == kQuestionsMax) return false;
    question.probe.host = host;
    verdict_.questions.push_back(std::move(question));
    return true;
  }

  const View& view_;
  const Probing& before_;
  bool has_targets_ = false;
  Verdict verdict_;
};

}  // namespace

Verdict judge(const View& view, const Json& probe, const std::vector<const Json*>& targets, const Probing& before) {
  return Judge(view, before).take(probe, targets);
}

void record_answers(const std::vector<std::string>& keys, const std::vector<bool>& answered, base::Time now,
                    Probing& probing) {
  bool all = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i < answered.size() && answered[i])
      probing.passed.insert(keys[i]);
    else
      all = false;
  }
  probing.pause = all ? base::Duration{} : std::clamp(probing.pause * 2, kPauseMin, kPauseMax);
  probing.next = now + probing.pause;
}

}  // namespace controllers::jobflow
