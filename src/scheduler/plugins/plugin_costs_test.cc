// Objects that say one thing very often, or very many things: the plugins decide about them as about small ones, and
// in a moment.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/random.h"
#include "scheduler/cache/intake.h"
#include "scheduler/plugins/nodeorder/image_locality.h"
#include "scheduler/plugins/numa/numa_assign.h"
#include "scheduler/plugins/predicates/predicates_volumes.h"
#include "scheduler/plugins/topology/task_buckets.h"

namespace scheduler {
namespace {

class PluginCosts : public testing::Test {
 protected:
  void set_node(const std::string& name, std::vector<ImageOnNode> images = {}) {
    NodeFacts facts;
    facts.name = name;
    facts.labels = {{model_.symbols.intern("host"), model_.symbols.intern(name)}};
    facts.images = std::move(images);
    model_.nodes.set_facts(model_.nodes.find_or_add(name), std::move(facts));
  }
  Symbol image(std::uint64_t i) { return model_.symbols.intern(base::format("image-{}", i)); }

  // A pod on node "n0" with claims "c0", "c1", ...
  TaskId set_pod(int claims) {
    std::string volumes;
    for (int i = 0; i < claims; ++i)
      volumes +=
          base::format(R"({}{{"name":"v{}","persistentVolumeClaim":{{"claimName":"c{}"}}}})", i == 0 ? "" : ",", i, i);
    const auto pod = api::parse_json(
        R"({"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":{"schedulerName":"volcano","nodeName":"n0",)"
        R"("containers":[{"name":"c"}],"volumes":[)" +
        volumes + R"(]},"status":{"phase":"Running"}})");
    EXPECT_TRUE(pod.ok());
    intake_.set(api::resources::kPods, *pod);
    return model_.find_task("ns/p");
  }
  // A claim that waits for its pod's node.
  void set_claim(int i) {
    Claim claim;
    claim.key = base::format("ns/c{}", i);
    claim.storage_class = "local";
    model_.volumes.claims[claim.key] = claim;
  }
  Volume& set_volume(const std::string& name, const std::string& node) {
    Volume& volume = model_.volumes.volumes[name];
    volume.name = name;
    volume.storage_class = "local";
    volume.available = true;
    volume.has_node_terms = true;
    NodeTerm term;
    term.expressions.push_back(
        {.key = model_.symbols.intern("host"), .op = Requirement::Op::kIn, .values = {model_.symbols.intern(node)}});
    volume.node_terms.push_back(term);
    return volume;
  }

  Model model_;
  Ledger ledger_;
  Intake intake_{model_, ledger_, {}};
};

TEST_F(PluginCosts, images_score_as_often_as_a_pod_names_them_and_once_per_node) {
  base::Random random(3);
  for (int n = 0; n < 20; ++n) {
    std::vector<ImageOnNode> images;
    for (std::uint64_t i = random.below(12); i > 0; --i) images.push_back({image(random.below(8)), 700'000'000});
    set_node(base::format("n{}", n), std::move(images));
  }
  for (int round = 0; round < 50; ++round) {
    Shape shape;
    for (std::uint64_t i = 1 + random.below(10); i > 0; --i) shape.images.push_back(image(random.below(12)));
    shape.image_places = static_cast<std::int32_t>(shape.images.size());
    ImageLocality locality;
    const std::unique_ptr<NodeScorer> scorer = locality.scorer_for(model_, shape, 1);
    for (std::uint32_t n = 0; n < model_.nodes.size(); ++n) {
      const std::vector<ImageOnNode>& there = model_.nodes[NodeId{n}].images;
      double sum = 0;
      for (const Symbol name : shape.images) {
        if (std::none_of(there.begin(), there.end(), [&](const ImageOnNode& one) { return one.name == name; }))
          continue;
        const NodeTable::ImageState* state = model_.nodes.image(name);
        sum += std::trunc(static_cast<double>(state->bytes) * (static_cast<double>(state->nodes) / 20));
      }
      const double mib = 1024 * 1024, low = 23 * mib, high = 1000 * mib * shape.image_places;
      const double expected = std::trunc(100 * (std::clamp(sum, low, high) - low) / (high - low));
      ASSERT_EQ(scorer == nullptr ? 0 : scorer->score(n), expected) << round << " " << n;
    }
  }
}

TEST_F(PluginCosts, an_image_that_thousands_of_containers_name) {
  for (int n = 0; n < 500; ++n) {
    std::vector<ImageOnNode> images;
    for (std::uint64_t i = 0; i < 500; ++i) images.push_back({image(i), 1'000'000'000});
    set_node(base::format("n{}", n), std::move(images));
  }
  Shape shape;
  shape.images.assign(35'000, model_.symbols.intern("on no node"));
  shape.images.push_back(image(0));
  shape.image_places = 2;
  ImageLocality locality;
  EXPECT_GT(locality.scorer_for(model_, shape, 1)->score(7), 0);
}

TEST_F(PluginCosts, hundreds_of_volumes_for_a_hundred_claims) {
  set_node("n0");
  set_node("n1");
  StorageClass own;
  own.name = "local";
  own.waits_for_consumer = true;
  model_.volumes.classes["local"] = own;
  for (int i = 0; i < 100; ++i) set_claim(i);
  for (int i = 0; i < 800; ++i) set_volume(base::format("pv-{}", 10'000 + i), i < 600 ? "n1" : "n0");
  const TaskId pod = set_pod(100);
  ASSERT_TRUE(pod.is_set());
  EXPECT_EQ(reserve_volumes(model_, model_.task(pod)).reason, "");
  const std::vector<VolumeChoice>* choices = model_.volumes.promises_of(pod);
  ASSERT_NE(choices, nullptr);
  std::set<std::string> volumes;
  for (const VolumeChoice& choice : *choices) volumes.insert(choice.volume);
  EXPECT_EQ(volumes.size(), 100u) << "each claim has its own";
  EXPECT_EQ(*volumes.begin(), "pv-10600") << "none that another node has";
}

TEST_F(PluginCosts, attached_volumes_of_many_nodes) {
  for (int n = 0; n < 2'000; ++n) {
    const std::string node = base::format("node-{}", 10'000 + n);
    set_node(node);
    model_.volumes.attach_limits[node]["d"] = 1;
    if (n % 2 == 0) model_.volumes.attachments[base::format("a{}", n)] = {node, "other"};
  }
  Volume& own = set_volume("own", "node-10000");
  own.driver = "d", own.handle = "own";
  Volume& other = set_volume("other", "node-10000");
  other.driver = "d", other.handle = "other";
  set_claim(0);
  model_.volumes.claims["ns/c0"].volume = "own";
  const TaskId pod = set_pod(1);
  const auto filter = make_limit_filter(model_, model_.task(pod));
  ASSERT_NE(filter, nullptr);
  Sieve sieve(model_.nodes.known(), nullptr);
  filter->apply(sieve);
  EXPECT_EQ(sieve.failed().count(), 1'000u) << "those that hold one already";
}

TEST_F(PluginCosts, annotations_that_relate_a_thousand_roles_again_and_again) {
  Job job;
  std::string all;
  for (int i = 0; i < 1'024; ++i) {
    Role& role = job.roles.emplace_back();
    role.name = Text(base::format("r{}", i));
    role.has_min = true;
    all += base::format("{}r{}", i == 0 ? "" : ",", i);
  }
  TaskTopologyPreference preference;
  preference.affinity = "r5";
  for (int i = 0; i < 40; ++i) preference.affinity += ";" + all;
  const std::optional<RoleTopology> topology = role_topology_from(preference, job);
  ASSERT_TRUE(topology);
  EXPECT_TRUE(topology->together[5][5]) << "it is named alone";
  EXPECT_FALSE(topology->together[6][6]);
  EXPECT_TRUE(topology->together[6][5] && topology->together[5][6]);
  preference.order = "r1,r2,r1";
  EXPECT_FALSE(role_topology_from(preference, job)) << "named twice";
}

TEST_F(PluginCosts, containers_with_more_cpus_than_are_free_get_none) {
  NumaNode node;
  node.cpu_policy = "static";
  node.topology_policy = "restricted";
  CpuSet free;
  for (std::int32_t cpu = 0; cpu < 1'024; ++cpu) {
    node.cpus.push_back({cpu, cpu / 512, cpu / 512, cpu});
    free.push_back(cpu);
  }
  std::vector<ContainerAsk> asks;
  for (int i = 0; i < 1'025; ++i)
    asks.push_back({.name = base::format("c{}", i), .init = false, .cpu = 1'000, .devices = {}});
  std::string refusal;
  EXPECT_FALSE(assign_cpus(node, free, asks, refusal));
  EXPECT_EQ(refusal, "container c1024 cannot be assigned by numa");
}

}  // namespace
}  // namespace scheduler
