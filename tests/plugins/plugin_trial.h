// Asks the functions of a plugin by themselves, on a small cluster written in the language of scenarios
// (tests/scenarios/README.md).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/cache/intake.h"
#include "scheduler/session/decider.h"

namespace plugins {

inline constexpr base::Time kNow{std::int64_t{1'700'000'000} * 1'000'000'000};  // 2023-11-14T22:13:20Z

class PluginTrial {
 public:
  // `listed` is the tier as the configuration writes it: "{name: gang}, {name: drf}". Lines that make no object, and
  // configurations that cannot be used, fail the test.
  PluginTrial(std::string_view listed, std::string_view cluster, base::Time now = kNow);

  // The use of a node as measured just now, in percent.
  void measure(const std::string& node, double cpu, double memory);

  // Time passes.
  void wait(base::Duration span) { now_ = now_ + span; }

  // The answer of a program outside from now on to every question whose URL ends in `verb`; an error, where it is not
  // ok. A plugin that asks it has its answer when the session is opened the second time, so questions below run twice.
  void answers(const std::string& verb, bool ok, std::string text);

  // Runs `ask` where an action would run: the plugins have opened the session.
  void in_session(const std::function<void(scheduler::Session&)>& ask);

  // The scores of the nodes for the pod, all scorers summed as the search sums them: "n1 50, n2 12.5".
  std::string scores(std::string_view pod);
  // Which nodes the filters let through: "n1, n3"; and what the others are told, each reason once.
  std::string fits(std::string_view pod);
  std::string reasons(std::string_view pod);
  // The candidates that may go for the pod: "ns/a, ns/b".
  template <class Point>
  std::string victims(std::string_view pod, const std::vector<std::string>& candidates) {
    std::string out;
    in_session([&](scheduler::Session& session) {
      out.clear();
      const auto chosen = session.ask<Point>(session.model().task(task(pod)), tasks(candidates));
      for (const scheduler::TaskId one : chosen) out += (out.empty() ? "" : ", ") + session.model().task_key(one);
    });
    return out;
  }
  // -1, 0 or 1, as the point orders two groups, queues or pods.
  template <class Point>
  int job_order(std::string_view a, std::string_view b) {
    int out = 0;
    in_session([&](scheduler::Session& session) { out = session.ask<Point>(job(a), job(b)); });
    return sign(out);
  }
  template <class Point>
  int queue_order(std::string_view a, std::string_view b) {
    int out = 0;
    in_session([&](scheduler::Session& session) { out = session.ask<Point>(queue(a), queue(b)); });
    return sign(out);
  }
  template <class Point>
  int task_order(std::string_view a, std::string_view b) {
    int out = 0;
    in_session(
        [&](scheduler::Session& session) { out = session.ask<Point>(model_.task(task(a)), model_.task(task(b))); });
    return sign(out);
  }
  // A yes-or-no question about a group, a queue, or a queue and a pod.
  template <class Point>
  bool of_job(std::string_view name) {
    bool out = false;
    in_session([&](scheduler::Session& session) { out = static_cast<bool>(session.ask<Point>(job(name))); });
    return out;
  }
  template <class Point>
  bool of_queue(std::string_view name) {
    bool out = false;
    in_session([&](scheduler::Session& session) { out = session.ask<Point>(queue(name)); });
    return out;
  }
  template <class Point>
  bool of_task(std::string_view pod) {
    bool out = false;
    in_session([&](scheduler::Session& session) {
      const scheduler::Task& one = model_.task(task(pod));
      out = session.ask<Point>(model_.queue(model_.job(one.job).queue), one);
    });
    return out;
  }

  const scheduler::Job& job(std::string_view key) const;
  const scheduler::Queue& queue(std::string_view name) const;
  scheduler::TaskId task(std::string_view key) const;
  std::vector<scheduler::TaskId> tasks(const std::vector<std::string>& keys) const;

 private:
  static int sign(int value) { return (value > 0) - (value < 0); }
  std::string by_node(const std::function<std::string(scheduler::NodeId)>& text) const;

  scheduler::Model model_;
  scheduler::Ledger ledger_;
  scheduler::Intake intake_;
  scheduler::Decider decider_;
  base::Time now_;
  std::map<std::string, scheduler::ExternalAnswer> answers_;  // by verb
};

}  // namespace plugins
