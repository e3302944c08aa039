// cluster_fill KUBECONFIG NODES GROUPS PODS: makes a cluster that is full of pods, as an API server would hold it after
// a month: each pod belongs to a group and has a node, and its text has some 4 KB.
//
// Pods stay without a status: that they have a node is all that a scheduler needs to know of them here. The first one
// finds that the statuses of the groups are others, and writes them after its first decision.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <future>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "client/http/http_client.h"
#include "client/http/kubeconfig.h"
#include "client/watch/identity_parts.h"
#include "rt/env.h"

namespace {

using api::Json;

constexpr int kUnderWay = 512;

struct Size {
  int nodes = 0;
  int groups = 0;
  int pods = 0;
  int all() const { return nodes + groups + pods; }
};

Json node(int number) {
  Json room = Json::object({{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "110"}});
  Json labels = Json::object({{"kubernetes.io/hostname", base::format("node-{}", number)},
                              {"topology.kubernetes.io/zone", base::format("zone-{}", number % 3)}});
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "Node"},
                       {"metadata", Json::object({{"name", base::format("node-{}", number)}, {"labels", labels}})},
                       {"status", Json::object({{"capacity", room}, {"allocatable", room}})}});
}

Json group(int number) {
  return Json::object(
      {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
       {"kind", "PodGroup"},
       {"metadata", Json::object({{"name", base::format("podgroup-{}", number)}, {"namespace", "default"}})},
       {"spec", Json::object({{"minMember", 1}, {"queue", "default"}})},
       {"status", Json::object({{"phase", "Running"}})}});
}

Json environment_of_pod() {
  Json list = Json::array();
  for (int i = 0; i < 30; ++i)
    list.push_back(Json::object({{"name", base::format("SETTING_OF_THE_PROGRAM_{}", i)},
                                 {"value", base::format("/opt/program/data/part-{}/of-many", i)}}));
  return list;
}

Json pod(int number, const Size& size) {
  static const Json kEnvironment = environment_of_pod();
  Json container =
      Json::object({{"name", "main"},
                    {"image", "registry.example.com/team/program:v1.2.3"},
                    {"env", kEnvironment},
                    {"resources", Json::object({{"requests", Json::object({{"cpu", "100m"}, {"memory", "256Mi"}})}})}});
  Json annotations = Json::object({{"scheduling.k8s.io/group-name", base::format("podgroup-{}", number % size.groups)},
                                   {"volcano.sh/task-spec", "worker"}});
  Json labels = Json::object({{"app", base::format("program-{}", number % 500)}, {"team", "blue"}});
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", Json::object({{"name", base::format("pod-{}", number)},
                                                  {"namespace", "default"},
                                                  {"labels", std::move(labels)},
                                                  {"annotations", std::move(annotations)}})},
                       {"spec", Json::object({{"schedulerName", "volcano"},
                                              {"nodeName", base::format("node-{}", number % size.nodes)},
                                              {"containers", Json::array({std::move(container)})}})}});
}

// On the client's loop.
struct Filler {
  client::Client& client;
  Size size;
  std::promise<int> done;  // how many were refused
  int next = 0;
  int under_way = 0;
  int refused = 0;

  client::Request request_for(int number) const {
    client::Request out{.verb = client::Verb::kCreate, .resource = api::resources::kNodes};
    out.only = &client::identity_parts();
    if (number < size.nodes) {
      out.body = node(number);
      return out;
    }
    number -= size.nodes;
    out.ns = "default";
    const bool is_group = number < size.groups;
    out.resource = is_group ? api::resources::kPodGroups : api::resources::kPods;
    out.body = is_group ? group(number) : pod(number - size.groups, size);
    return out;
  }

  void go_on() {
    while (under_way < kUnderWay && next < size.all()) {
      ++under_way;
      client.call(request_for(next++), [this](base::Result<Json> answer) {
        if (!answer.ok() && refused++ == 0) std::fprintf(stderr, "cluster_fill: %s\n", answer.error().message.c_str());
        if (--under_way == 0 && next == size.all()) return done.set_value(refused);
        go_on();
      });
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: cluster_fill KUBECONFIG NODES GROUPS PODS\n");
    return 2;
  }
  const Size size{std::max(1, std::atoi(argv[2])), std::max(1, std::atoi(argv[3])), std::max(0, std::atoi(argv[4]))};
  auto access = client::load_kubeconfig(argv[1]);
  const auto env = rt::make_real_env("fill");
  auto client = access.ok() ? client::make_http_client({.access = *access, .user_agent = "fill"}, *env)
                            : base::Result<std::unique_ptr<client::Client>>(access.error());
  if (!client.ok()) {
    std::fprintf(stderr, "cluster_fill: %s\n", client.error().message.c_str());
    return 1;
  }
  Filler filler{.client = **client, .size = size, .done = {}};
  const base::Duration begun = env->uptime();
  env->loop().post([&] { filler.go_on(); });
  const int refused = filler.done.get_future().get();
  std::printf("made %d nodes, %d groups, %d pods in %.1f s, %d refused\n", size.nodes, size.groups, size.pods,
              (env->uptime() - begun).seconds(), refused);
  client->reset();
  env->stop();
  return refused == 0 ? 0 : 1;
}
