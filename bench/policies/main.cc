// The cost of NetworkPolicies to the node: of all of them at once, and of one pod, one policy or one label that
// changes.
//
//   policies_bench [PODS [POLICIES]]
//
// The time of the node's loop, and that until the kernel has taken it, where this may ask it (root and nft; in a
// network namespace of its own, such as `unshare -n` makes).
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "api/json/yaml.h"
#include "base/format.h"
#include "node/os/services/policy_filter.h"
#include "node/policies/policy_book.h"

namespace {

using api::Json;

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

Json yaml(const std::string& text) { return *api::parse_yaml(text); }

constexpr const char* kSpecs[] = {
    "{podSelector: {}, policyTypes: [Ingress, Egress]}",
    ("{podSelector: {matchLabels: {app: a1}}, "
     "ingress: [{from: [{podSelector: {matchLabels: {app: a2}}}], ports: [{port: 8080}]}]}"),
    "{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {team: t1}}}]}]}",
    "{podSelector: {}, policyTypes: [Egress], egress: [{ports: [{protocol: UDP, port: 53}, {port: http}]}]}",
    ("{podSelector: {matchLabels: {app: a3}}, policyTypes: [Egress], "
     "egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8]}}, {podSelector: {}}]}]}"),
};

class Bench {
 public:
  Bench(int pods, int policies, int namespaces) : namespaces_count_(namespaces) {
    for (int i = 0; i < namespaces; ++i)
      namespaces_.push_back(yaml(base::format("{{metadata: {{name: ns{0}, labels: {{team: t{0}}}}}}}", i)));
    for (int i = 0; i < pods; ++i) add_pod();
    for (int i = 0; i < policies; ++i)
      policies_.push_back(yaml(base::format("{{metadata: {{name: p{}, namespace: ns{}}}, spec: {}}}", i, i % namespaces,
                                            kSpecs[i / namespaces % 5])));
    if (::geteuid() == 0)
      can_ask_kernel_ = filter_.open({.name = {}, .bridge = "vcbench", .subnet = "10.200.0.0/16"}).empty();
  }
  ~Bench() { filter_.close(); }

  void add_pod() {
    const int i = static_cast<int>(pods_.size());
    pods_.push_back(node::policy_pod(
        yaml(base::format("{{metadata: {{name: pod{0}, namespace: ns{1}, labels: {{app: a{2}, index: i{0}}}}}, spec: "
                          "{{containers: [{{ports: [{{name: http, containerPort: 8080}}]}}]}}}}",
                          i, i % namespaces_count_, i / namespaces_count_ % 10)),
        0x0ac80002u + static_cast<unsigned>(i)));
  }
  void remove_policy() { policies_.pop_back(); }
  void change_label() { pods_[7].labels = yaml("{app: a2, index: i7, changed: yes}"); }
  void change_namespace() { namespaces_[0].edit("metadata").set("labels", yaml("{team: t1}")); }

  void run(const char* what) {
    node::PolicyObjects objects{pods_, {}, {}};
    for (const Json& one : namespaces_) objects.namespaces.push_back(&one);
    for (const Json& one : policies_) objects.policies.push_back(&one);
    const double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
    const node::PolicyRules rules = book_.update(objects);
    const double decided = seconds(CLOCK_THREAD_CPUTIME_ID) - begin, asked = seconds(CLOCK_MONOTONIC);
    std::string kernel;
    if (can_ask_kernel_) {
      const base::Status set = filter_.set(rules);
      kernel = base::format(", {:.1f} ms until the kernel had it", (seconds(CLOCK_MONOTONIC) - asked) * 1e3);
      if (!set.ok()) kernel = ", and the kernel refused: " + set.error().message;
    }
    std::printf("%zu pods, %zu policies, %d namespaces: %s %.3f ms of the loop%s\n", pods_.size(), policies_.size(),
                namespaces_count_, what, decided * 1e3, kernel.c_str());
  }

 private:
  int namespaces_count_;
  std::vector<Json> namespaces_, policies_;
  std::vector<node::PolicyPod> pods_;
  node::PolicyBook book_;
  node::PolicyFilter filter_;
  bool can_ask_kernel_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const int pods = argc > 1 ? std::atoi(argv[1]) : 1'000, policies = argc > 2 ? std::atoi(argv[2]) : 100;
  if (pods < 10 || policies <= 0 || pods > 60'000)
    return std::fprintf(stderr, "usage: policies_bench [PODS [POLICIES]]\n"), 2;
  for (const int namespaces : {20, 1}) {
    Bench bench(pods, policies, namespaces);
    bench.run("all at once");
    bench.run("nothing new");
    bench.add_pod();
    bench.run("one more pod");
    bench.change_label();
    bench.run("a label of a pod");
    bench.remove_policy();
    bench.run("a policy less");
    bench.change_namespace();
    bench.run("a label of a namespace");
  }
  return 0;
}
