// The cost of a single pod to the agent scheduler, from its event to its binding, and the length of its wait.
//
//   agent_bench [PODS [NODES [ARRIVALS_A_SECOND]]]
//
// Everything that belongs to a pod is counted: its event is parsed and taken in, it has its turn, the request for its
// binding is written out, and the event that shows it bound is parsed and taken in. The CPU time of each step is
// real; arrivals and the API server (2 ms for a binding) are on a clock that only this time and the waiting move.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <string>
#include <vector>

#include "api/json/projection.h"
#include "base/format.h"
#include "scheduler/actions/all.h"
#include "scheduler/cache/intake_fields.h"
#include "scheduler/effects/outbox_requests.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"
#include "scheduler/single_pods/single_pods.h"

namespace {

using scheduler::CycleReport;

constexpr std::size_t kTurnsMax = 64;  // as the scheduler's

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Load {
  std::string name;
  int shapes;  // different pods; 0: every pod its own
};

// Pods as users write them, with what the API server adds.
std::string pod_text(const Load& load, int i, const std::string& node) {
  const int shape = load.shapes == 0 ? i : i % load.shapes;
  return base::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"agent-{0}","namespace":"agents","uid":"u-{0}",
"resourceVersion":"{1}","creationTimestamp":"2026-01-01T00:00:00Z","labels":{{"app":"agent","step":"{2}"}}}},
"spec":{{{3}"schedulerName":"agent-scheduler","priority":0,"restartPolicy":"Never","serviceAccountName":"default",
"tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}},
{{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}],
"containers":[{{"name":"main","image":"registry.example/agents/tool:v{2}","command":["run","--once"],
"env":[{{"name":"STEP","value":"{2}"}}],"resources":{{"requests":{{"cpu":"{4}m","memory":"{5}Mi"}}}}}}]}},
"status":{{"phase":"Pending"}}}})",
      i, node.empty() ? i + 10'000 : i + 1'000'000, shape % 1000,
      node.empty() ? "" : base::format(R"("nodeName":"{}",)", node), 50 + shape % 400, 64 + shape % 1900);
}

std::string node_text(int i) {
  return base::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{0:05}","uid":"n-{0}","resourceVersion":"{0}",
"labels":{{"zone":"z{1}","kubernetes.io/hostname":"node-{0:05}"}}}},"status":{{"allocatable":{{"cpu":"32",
"memory":"128Gi","pods":"110"}},"capacity":{{"cpu":"32","memory":"128Gi","pods":"110"}}}}}})",
      i, i % 8);
}

class Bench {
 public:
  Bench(const Load& load, int nodes)
      : load_(load),
        intake_(model_, ledger_, {.scheduler_names = {"agent-scheduler"}, .single_pods = true}),
        decider_(
            model_, ledger_,
            {scheduler::single_pod_plugins(), scheduler::single_pod_actions(), scheduler::single_pods_config_text()}, 1,
            "agent-scheduler"),
        singles_(model_, intake_) {
    for (int i = 0; i < nodes; ++i) receive(api::resources::kNodes, node_text(i), {});
  }

  void receive(const api::ResourceId& id, const std::string& text, base::Time now) {
    const auto object = api::parse_json(text, scheduler::fields_read(id));
    singles_.object_changed(id, intake_.set(id, *object), now);
  }
  void receive_pod(int i, const std::string& node, base::Time now) {
    receive(api::resources::kPods, pod_text(load_, i, node), now);
  }
  bool has_turns() const { return singles_.has_turns(); }

  // The requests of one cycle, as they go out.
  CycleReport decide(base::Time now) {
    decider_.take_turns(singles_.take_turns(kTurnsMax, now));
    CycleReport report = decider_.run_cycle(now);
    singles_.record_ends(report.single_pods, now);
    for (const scheduler::PlannedBind& one : report.plan.binds)
      written_ += scheduler::binding_request(one).body.dump().size();
    return report;
  }

  std::size_t written() const { return written_; }

 private:
  Load load_;
  scheduler::Model model_;
  scheduler::Ledger ledger_;
  scheduler::Intake intake_;
  scheduler::Decider decider_;
  scheduler::SinglePods singles_;
  std::size_t written_ = 0;
};

int number_of(const std::string& pod) { return std::atoi(pod.substr(pod.rfind('-') + 1).c_str()); }

// All pods wait; how fast are they decided?
void run_backlog(const Load& load, int pods, int nodes) {
  Bench bench(load, nodes);
  const base::Time now{1'800'000'000'000'000'000};
  for (int i = 0; i < pods; ++i) bench.receive_pod(i, "", now);
  const double begin = cpu_seconds();
  std::size_t bound = 0;
  while (bench.has_turns()) bound += bench.decide(now).plan.binds.size();
  const double took = cpu_seconds() - begin;
  std::printf("backlog %s: %zu of %d pods on %d nodes, %.0f decisions a second of CPU\n", load.name.c_str(), bound,
              pods, nodes, static_cast<double>(bound) / took);
}

struct Event {
  double at;  // seconds
  int pod;
  std::string node;  // empty: the pod arrives
  bool operator>(const Event& other) const { return at > other.at; }
};

void run_arrivals(const Load& load, int pods, int nodes, double rate) {
  Bench bench(load, nodes);
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  for (int i = 0; i < pods; ++i) events.push({i / rate, i, ""});
  std::vector<double> waits, cost(static_cast<std::size_t>(pods));
  double clock = 0, total = 0;
  const auto now = [&] { return base::Time{1'800'000'000'000'000'000 + static_cast<std::int64_t>(clock * 1e9)}; };
  const auto timed = [&](auto&& work) {
    const double begin = cpu_seconds();
    work();
    const double took = cpu_seconds() - begin;
    clock += took;
    total += took;
  };
  while (!events.empty() || bench.has_turns()) {
    if (!bench.has_turns()) clock = std::max(clock, events.top().at);
    while (!events.empty() && events.top().at <= clock) {
      const Event event = events.top();
      events.pop();
      timed([&] { bench.receive_pod(event.pod, event.node, now()); });
    }
    if (!bench.has_turns()) continue;
    CycleReport report;
    timed([&] { report = bench.decide(now()); });
    for (const scheduler::PlannedBind& one : report.plan.binds) {
      const int pod = number_of(one.pod);
      waits.push_back(clock - pod / rate);
      events.push({clock + 0.002, pod, one.node});
    }
  }
  std::sort(waits.begin(), waits.end());
  const auto at = [&](double share) {
    return waits[static_cast<std::size_t>(share * static_cast<double>(waits.size() - 1))] * 1e3;
  };
  std::printf(
      "arrivals %s: %zu of %d pods on %d nodes at %.0f/s, from event to decision %.3f ms (median) %.3f ms (99 %%) %.3f "
      "ms "
      "(worst), CPU of a pod %.3f ms\n",
      load.name.c_str(), waits.size(), pods, nodes, rate, at(0.5), at(0.99), at(1), total / pods * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  const int pods = argc > 1 ? std::atoi(argv[1]) : 10'000, nodes = argc > 2 ? std::atoi(argv[2]) : 5'000;
  const double rate = argc > 3 ? std::atof(argv[3]) : 1'000;
  if (pods <= 0 || nodes <= 0 || rate <= 0)
    return std::fprintf(stderr, "usage: agent_bench [PODS [NODES [RATE]]]\n"), 2;
  for (const Load& load : {Load{"equal", 1}, Load{"kinds-20", 20}, Load{"all-different", 0}}) {
    run_backlog(load, pods, nodes);
    run_arrivals(load, pods, nodes, rate);
  }
  return 0;
}
