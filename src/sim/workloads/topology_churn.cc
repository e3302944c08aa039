// Nodes are told, and told again, on which leaf and which spine of the network they hang. A UFM server says the same of
// them, when it answers.
#include "base/format.h"
#include "client/client.h"
#include "sim/workloads/all.h"
#include "sim/world/env.h"
#include "sim/world/person_calls.h"

namespace sim {

using api::Json;

namespace {

constexpr std::uint16_t kPort = 8443;
constexpr std::string_view kConfig = R"(networkTopologyDiscovery:
- source: label
  enabled: true
  config: {networkTopologyTypes: {net: [{nodeLabel: net/spine}, {nodeLabel: net/leaf}, {nodeLabel: kubernetes.io/hostname}]}}
- source: ufm
  enabled: true
  interval: 20s
  credentials: {secretRef: {name: ufm, namespace: volcano-system}}
  config: {endpoint: "http://10.9.0.1:8443"}
)";

class TopologyChurn final : public Workload {
 public:
  TopologyChurn(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        every_(settings.pause_range("every", {2'000'000'000, 20'000'000'000})),
        rubbish_(settings.fraction("rubbish", 0.3, dice)) {}

  void start() override {
    person_ = world_.make_person("network-admin");
    world_.outside().set_host("10.9.0.1", kPort, [this](const rt::HttpRequest&) { return ports(); });
    person_->env->loop().after(base::seconds(1), [this] {
      const Json ns = Json::object({{"metadata", Json::object({{"name", "volcano-system"}})}});
      create(api::resources::kNamespaces, "", ns, [this] {
        create(api::resources::kConfigMaps, "volcano-system",
               Json::object({{"metadata", Json::object({{"name", "volcano-controller-configmap"}})},
                             {"data", Json::object({{"volcano-controller.conf", kConfig}})}}));
        create(api::resources::kSecrets, "volcano-system",
               Json::object({{"metadata", Json::object({{"name", "ufm"}})},
                             {"stringData", Json::object({{"username", "u"}, {"password", "p"}})}}));
      });
      arm();
    });
  }
  void stop() override { stopped_ = true; }
  bool done() const override { return open_ == 0; }

 private:
  void arm() {
    person_->env->loop().after({every_.draw(dice_)}, [this] {
      if (stopped_) return;
      relabel();
      arm();
    });
  }

  void relabel() {
    const auto& nodes = world_.truth().objects(api::resources::kNodes);
    if (nodes.empty()) return;
    auto node = nodes.begin();
    std::advance(node, static_cast<std::ptrdiff_t>(dice_.below(nodes.size())));
    const auto leaf = dice_.below(3);
    Json labels = Json::object({{"net/leaf", base::format("l{}", leaf)}, {"net/spine", base::format("s{}", leaf / 2)}});
    if (dice_.chance(0.2)) labels = Json::object({{"net/leaf", Json()}, {"net/spine", Json()}});
    client::Request request{.verb = client::Verb::kPatch, .resource = api::resources::kNodes, .name = node->first};
    request.body = Json::object({{"metadata", Json::object({{"labels", std::move(labels)}})}});
    ++open_;
    ask_until_answered(*person_, std::move(request), [this](base::Result<Json>, int) { --open_; });
  }

  std::optional<rt::HttpResponse> ports() {
    if (dice_.chance(rubbish_ / 2)) return std::nullopt;
    if (dice_.chance(rubbish_)) return rt::HttpResponse{.status = 200, .body = "[{\"description\": \"Comp"};
    Json list = Json::array();
    for (const auto& [name, node] : world_.truth().objects(api::resources::kNodes))
      list.push_back(Json::object(
          {{"description", "Computer IB Port"}, {"system_name", name}, {"peer_node_name", name + "-leaf"}}));
    return rt::HttpResponse{.status = 200, .body = list.dump()};
  }

  void create(
      const api::ResourceId& resource, std::string ns, Json body, std::function<void()> then = [] {}) {
    client::Request request{.verb = client::Verb::kCreate, .resource = resource, .ns = std::move(ns)};
    request.body = std::move(body);
    ++open_;
    ask_until_answered(*person_, std::move(request), [this, then = std::move(then)](base::Result<Json>, int) {
      --open_;
      then();
    });
  }

  World& world_;
  base::Random dice_;
  Settings::Range every_;
  double rubbish_;  // of the server's answers
  std::unique_ptr<Person> person_;
  int open_ = 0;
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Workload> make_topology_churn(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<TopologyChurn>(world, settings, dice);
}

}  // namespace sim
