// Definitions of worlds: what is read, and what is refused with its line.
#include "sim/world/definition.h"

#include <gtest/gtest.h>

#include "sim/world/world.h"

namespace sim {
namespace {

TEST(Definition, reads_tables_values_ranges_and_comments) {
  auto parsed = parse_definition(
      "# a world\n[world]\nnodes = [2, 4]  # a range\nname = \"a # b\"\n\n[[fault]]\nkind = \"restart\"\nevery = "
      "[\"1s\", \"1m30s\"]\nchance = 0.5\n"
      "[[fault]]\nkind = \"conflict\"\n");
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  base::Random dice(1);
  const std::int64_t nodes = parsed->world.number("nodes", 1, dice);
  EXPECT_GE(nodes, 2);
  EXPECT_LE(nodes, 4);
  EXPECT_EQ(parsed->world.text("name", ""), "a # b");
  EXPECT_EQ(parsed->world.text("absent", "fallback"), "fallback");
  EXPECT_TRUE(parsed->world.finish().ok());
  ASSERT_EQ(parsed->faults.size(), 2u);
  const Settings::Range every = parsed->faults[0].span_range("every", {});
  EXPECT_EQ(every.min, 1'000'000'000);
  EXPECT_EQ(every.max, 90'000'000'000);
  EXPECT_EQ(parsed->faults[0].fraction("chance", 0, dice), 0.5);
}

TEST(Definition, a_key_of_very_many_dots_is_refused) {
  std::string text = "[world]\na";
  for (int i = 0; i < 200'000; ++i) text += ".a";
  const auto parsed = parse_definition(text + " = 1\n");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message, "line 2: a key may have up to 1,000 dots");
}

TEST(Definition, a_rate_is_the_time_between_two) {
  auto parsed = parse_definition("[[workload]]\na = \"5/s\"\nb = \"30/m\"\nc = \"3600/h\"\n");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->workloads[0].interval("a", {}), base::milliseconds(200));
  EXPECT_EQ(parsed->workloads[0].interval("b", {}), base::seconds(2));
  EXPECT_EQ(parsed->workloads[0].interval("c", {}), base::seconds(1));
}

// The world without CronJobs has none to change.
TEST(Definition, a_workload_of_none_does_nothing) {
  auto world = World::make("[world]\nduration = \"2m\"\n[[workload]]\nkind = \"crons\"\ncount = 0\n", 1, {});
  ASSERT_TRUE(world.ok()) << world.error().message;
  EXPECT_TRUE((*world)->run().violations.empty());
}

struct Refusal {
  const char* text;
  const char* message;
};

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, names_the_line_and_the_problem) {
  const auto world = World::make(GetParam().text, 1, {});
  ASSERT_FALSE(world.ok());
  EXPECT_EQ(world.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Definition, Refused,
    testing::Values(
        Refusal{"nodes = 3\n", "line 1: nodes: must be [world] (once), [[workload]], [[fault]] or [[check]]"},
        Refusal{"[world]\nnodes\n", "line 2: Error while parsing key-value pair: expected '=', saw '\\n'"},
        Refusal{"[world]\nnodes = 3\nnodes = 4\n",
                "line 3: Error while parsing key-value pair: cannot redefine existing integer 'nodes'"},
        Refusal{"[world]\n\nnode = 3\n", "line 3: world: unknown key \"node\""},
        Refusal{"[world]\nnodes = \"many\"\n",
                "line 2: world: nodes = \"many\": must be a number or a range of two numbers"},
        Refusal{"[world]\nnodes = [4, 2]\n",
                "line 2: world: nodes = [4,2]: must be a range from low to high of numbers from 0 to 1000000"},
        Refusal{"[world]\nnodes = 1099511627776\n",
                "line 2: world: nodes = 1099511627776: must be a range from low to high of numbers from 0 to 1000000"},
        Refusal{
            "[world]\nduration = \"soon\"\n",
            "line 2: world: duration = \"soon\": must be a duration (\"1m30s\") or a range of two, from short to long"},
        Refusal{"[world]\nnodes = {}\n",
                "line 2: nodes: the value must be a string, a number, true, false, or an array of those"},
        Refusal{"[planet]\n", "line 1: planet: must be [world] (once), [[workload]], [[fault]] or [[check]]"},
        Refusal{"[world]\n[world]\n",
                "line 2: Error while parsing table header: cannot redefine existing table 'world'"},
        Refusal{"[world]\nparts = [\"moon\"]\n",
                "line 1: world: no part is called \"moon\"; there are: apiserver, nodes, scheduler, "
                "agent-scheduler, controllers"},
        Refusal{"[world]\n[$]\n", "line 2: this is not TOML that can be read"},
        Refusal{
            "[world]\nnodes = 1\n\xC2\xB5 = 1\n",
            "line 3: Error while parsing root table: expected keys, tables, whitespace or comments, saw '\xC2\xB5'"},
        Refusal{"[[fault]]\nkind = \"flood\"\n",
                "line 1: no fault is called \"flood\"; there are: conflict, cut-watch, disk-error, drop-answer, "
                "drop-request, refuse, restart, slow-network"},
        Refusal{"[[fault]]\nkind = \"conflict\"\nchance = 2\n",
                "line 3: fault: chance = 2: must be a number from 0 to 1, or a range of two"},
        Refusal{"[[workload]]\nkind = \"gang-jobs\"\nqueues = []\n",
                "line 3: workload: queues = []: must be an array of one string or more"},
        Refusal{"[[workload]]\nkind = \"queue-churn\"\nqueues = []\n",
                "line 3: workload: queues = []: must be an array of one string or more"},
        Refusal{
            "[[workload]]\nkind = \"training-jobs\"\nkinds = [\"TFJob\", \"Tfjob\"]\n",
            "line 3: workload: kinds = [\"TFJob\",\"Tfjob\"]: must be an array of some of PyTorchJob, TFJob, MPIJob, "
            "XGBoostJob, PaddleJob, JAXJob"},
        Refusal{"[[fault]]\nkind = \"restart\"\nwho = \"schedular\"\n",
                "line 3: fault: who = \"schedular\": must be one of any, apiserver, nodes, scheduler, controllers"},
        Refusal{"[[fault]]\nkind = \"refuse\"\nwho = [\"people\"]\n",
                "line 3: fault: who = [\"people\"]: must be an array of some of nodes, scheduler, agent-scheduler, "
                "controllers"},
        Refusal{
            "[[fault]]\nkind = \"refuse\"\ncodes = [\"gone\"]\n",
            "line 3: fault: codes = [\"gone\"]: must be an array of some of bad-request, denied, forbidden, invalid, "
            "too-many-requests"},
        Refusal{"[world]\nnode_cpu = \"many\"\n",
                "line 2: world: node_cpu = \"many\": must be a quantity from 0 on, such as \"16\" or \"64Gi\""},
        Refusal{"[[workload]]\nkind = \"job-churn\"\nevery = \"0s\"\n",
                "line 3: workload: every = \"0s\": must be a millisecond or longer"}));

}  // namespace
}  // namespace sim
