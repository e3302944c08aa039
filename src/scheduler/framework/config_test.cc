// Configuration files that are accepted, refused, or taken with warnings.
#include "scheduler/framework/config.h"

#include <gtest/gtest.h>

#include "scheduler/actions/all.h"
#include "scheduler/framework/config_report.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"

namespace scheduler {
namespace {

const Registry kRegistry{all_plugins(), all_actions()};

struct Case {
  const char* fact;
  const char* text;
  const char* message;  // empty: accepted
};

// The configurations that Helm charts and manifests install.
const char* kPackaged = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
)";

TEST(Config, refuses_what_cannot_be_used_and_says_why) {
  const Case cases[] = {
      {"default", default_config_text().data(), ""},
      {"packaged", kPackaged, ""},
      {"metrics of another type", "actions: allocate\nmetrics: [a]\n", "metrics must be a map"},
      {"configurations of another type", "actions: allocate\nconfigurations: {a: b}\n",
       "configurations must be a list"},
      {"a quirk of another type", "actions: allocate\ncompat: {tdm-midnight: soon}\n",
       "compat: tdm-midnight must be a boolean"},
      {"empty", "", "failed to find Action "},
      {"unknown action", "actions: \"enqueue, dance\"", "failed to find Action dance"},
      {"an action in other letters", "actions: \"enqueue, gangprempt\"",
       "failed to find Action gangprempt; did you mean gangpreempt?"},
      {"only commas", "actions: \", ,\"", "failed to find Action "},
      {"a comma at the end", "actions: \"enqueue, allocate,\"", ""},
      {"commas between", "actions: \",enqueue,, allocate, ,\"", ""},
      {"names in another case", "actions: \"Enqueue, gangPreempt\"", ""},
      {"a key in another case", "Actions: allocate\n", "key Actions is written actions"},
      {"a whole ConfigMap",
       "apiVersion: v1\nkind: ConfigMap\ndata:\n  volcano-scheduler.conf: |\n    actions: \"enqueue, allocate\"\n", ""},
      {"a ConfigMap with one other key", "kind: ConfigMap\ndata:\n  my.conf: |\n    actions: allocate\n", ""},
      {"a ConfigMap that does not say which",
       "kind: ConfigMap\ndata:\n  a: \"actions: allocate\"\n  b: \"actions: allocate\"\n",
       "the file is a ConfigMap with 2 keys, none of them volcano-scheduler.conf: give the text of one"},
      {"a ConfigMap with a bad text", "kind: ConfigMap\ndata:\n  my.conf: \"actions: dance\"\n",
       "failed to find Action dance"},
      {"blanks around names", "actions: \" enqueue ,allocate \"", ""},
      {"unknown keys", "actions: allocate\nfoo: bar\ntiers:\n- plugins:\n  - name: gang\n    something: 1\n", ""},
      {"unknown plugin", "actions: allocate\ntiers:\n- plugins:\n  - name: nobody\n", ""},
      {"actions of another type", "actions: [allocate]", "actions must be a string"},
      {"a tier of another type", "actions: allocate\ntiers: [gang]\n", "tiers: each must be a map with plugins"},
      {"plugins without dashes", "actions: allocate\ntiers:\n- plugins:\n    name: gang\n",
       "tiers: plugins must be a list"},
      {"plugins by their names", "actions: allocate\ntiers:\n- plugins: [gang, predicates]\n",
       "tiers: a plugin must be a map with its name, not \"gang\""},
      {"a tier without plugins", "actions: allocate\ntiers:\n- plugins:\n- {}\n- plugins:\n  - name: gang\n  -\n", ""},
      {"switch of another type", "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: maybe\n",
       "plugin gang: enableJobOrder must be a boolean"},
      {"hierarchy with proportion",
       "actions: allocate\ntiers:\n- plugins:\n  - name: drf\n    enableHierarchy: true\n  - name: proportion\n",
       "proportion and drf with hierarchy enabled conflicts"},
      {"hierarchy with proportion elsewhere",
       "actions: allocate\ntiers:\n- plugins:\n  - name: drf\n    enableHierarchy: true\n- plugins:\n  - name: "
       "proportion\n",
       ""},
  };
  for (const Case& one : cases) {
    const auto config = parse_config(one.text, kRegistry);
    EXPECT_EQ(config.ok() ? "" : config.error().message, one.message) << one.fact;
  }
  EXPECT_FALSE(parse_config("actions: \"allocate", kRegistry).ok());
}

TEST(Config, a_bad_text_keeps_the_configuration_in_use) {
  Model model;
  Ledger ledger;
  Decider decider(model, ledger, kRegistry, 1, "volcano");
  ASSERT_TRUE(decider.configure("actions: allocate\n").ok());
  EXPECT_FALSE(decider.configure("actions: nothing\n").ok());
  EXPECT_EQ(decider.config().actions, std::vector<std::string>{"allocate"});
}

TEST(Config, names_in_another_case_are_read_as_the_known_ones_and_said) {
  const auto config = parse_config(
      "actions: \"Enqueue,\"\ntiers:\n- plugins:\n  - name: NumaAware\n  - name: gang\n    EnableJobOrder: false\n    "
      "enableJobOrdr: true\n",
      kRegistry);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->actions, std::vector<std::string>{"enqueue"});
  ASSERT_EQ(config->tiers.size(), 1u);
  EXPECT_EQ(config->tiers[0][0].name, "numa-aware");
  EXPECT_FALSE(config->tiers[0][1].is_on("enableJobOrder", true));
  EXPECT_EQ(config->warnings, (std::vector<std::string>{
                                  "action Enqueue is read as enqueue", "plugin NumaAware is read as numa-aware",
                                  "plugin gang: key EnableJobOrder is read as enableJobOrder",
                                  "plugin gang: unknown key enableJobOrdr is ignored; did you mean enableJobOrder?"}));
}

TEST(Config, the_first_arguments_of_an_action_count) {
  const auto config = parse_config(
      "actions: allocate\nconfigurations:\n- name: allocate\n  arguments: {a: 1}\n- name: allocate\n  arguments: {a: "
      "2}\n",
      kRegistry);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->arguments_of("allocate")["a"].as_int(), 1);
  EXPECT_TRUE(config->arguments_of("enqueue").is_null());
}

TEST(Arguments, a_value_of_the_wrong_type_keeps_the_default_and_is_noted) {
  auto map = api::parse_json(R"({"i": 3, "f": 1.5, "b": "T", "s": "x", "bad": "y"})");
  ASSERT_TRUE(map.ok());
  const Arguments arguments(*map, "plugin x");
  EXPECT_EQ(arguments.get_int("i", 0), 3);
  EXPECT_EQ(arguments.get_int("f", 7), 7);
  EXPECT_EQ(arguments.get_double("f", 0), 1.5);
  EXPECT_EQ(arguments.get_double("i", 0), 3);
  EXPECT_TRUE(arguments.get_bool("b", false));
  EXPECT_TRUE(arguments.get_bool("bad", true));
  EXPECT_EQ(arguments.get_string("s", ""), "x");
  EXPECT_EQ(arguments.get_string("i", "d"), "d");
  EXPECT_EQ(arguments.get_int("absent", 9), 9);
  EXPECT_EQ(arguments.warnings(),
            (std::vector<std::string>{"plugin x: argument f is 1.5, not an integer; its default is used",
                                      "plugin x: argument bad is \"y\", not a boolean; its default is used",
                                      "plugin x: argument i is 3, not a string; its default is used"}));
}

TEST(Arguments, weights_that_turn_a_score_around_or_drown_the_others_are_noted) {
  auto map = api::parse_json(R"({"less": -5, "most": 9223372036854775807, "some": 10, "floor": -1})");
  ASSERT_TRUE(map.ok());
  const Arguments arguments(*map, "plugin x");
  EXPECT_EQ(arguments.get_weight("less", 1), -5);
  EXPECT_EQ(arguments.get_weight("most", 1), 0x1p63);
  EXPECT_EQ(arguments.get_weight("some", 1), 10);
  EXPECT_EQ(arguments.get_int_from("floor", 0, 7), 7);
  EXPECT_EQ(arguments.get_int_from("some", 0, 7), 10);
  EXPECT_EQ(
      arguments.warnings(),
      (std::vector<std::string>{"plugin x: argument less is -5: what it weighs counts against a node",
                                "plugin x: argument most is 9223372036854775807: no other score matters beside it",
                                "plugin x: argument floor is -1, less than 0; 7 is used"}));
}

TEST(Config, lists_no_more_than_a_cycle_can_ask) {
  std::string plugins = "actions: allocate\ntiers:\n- plugins:\n", actions = "actions: \"allocate";
  for (int i = 0; i < 1001; ++i) plugins += "  - name: gang\n", actions += ", allocate";
  const auto refusal = [](const std::string& text) { return parse_config(text, kRegistry).error().message; };
  EXPECT_EQ(refusal(plugins), "tiers: more than 1000 plugins");
  EXPECT_EQ(refusal(actions + "\""), "actions: more than 1000");
  EXPECT_LT(refusal("actions: " + std::string(100000, 'x')).size(), 200u);
  EXPECT_LT(refusal("tiers: [{plugins: [" + std::string(100000, 'x') + "]}]").size(), 200u);
}

TEST(Config, plugins_and_arguments_that_are_not_understood_are_listed) {
  Model model;
  Ledger ledger;
  Decider decider(model, ledger, kRegistry, 1, "volcano");
  ASSERT_TRUE(decider
                  .configure("actions: allocate\ntiers:\n- plugins:\n  - name: nobody\n  - name: binpack\n    "
                             "arguments: {binpack.weight: heavy}\n")
                  .ok());
  const auto warnings = decider.warnings();
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0], "plugin nobody is unknown and is skipped");
  EXPECT_EQ(warnings[1], "plugin binpack: argument binpack.weight is \"heavy\", not an integer; its default is used");
}

TEST(Config, the_packaged_one_is_understood_whole) {
  Model model;
  Ledger ledger;
  Decider decider(model, ledger, kRegistry, 1, "volcano");
  ASSERT_TRUE(decider.configure(kPackaged).ok());
  EXPECT_TRUE(decider.warnings().empty());
}

// The last listing's arguments count, and every listing asks with its own switches.
TEST(Config, a_plugin_may_be_listed_twice) {
  Model model;
  const auto config = parse_config(
      "actions: allocate\ntiers:\n- plugins:\n  - {name: sla, arguments: {sla-waiting-time: soon}}\n"
      "- plugins:\n  - {name: sla, enableJobOrder: false, arguments: {sla-waiting-time: 1h}}\n",
      kRegistry);
  ASSERT_TRUE(config.ok());
  const PluginSet plugins(*config, model);
  EXPECT_EQ(plugins.warnings(),
            std::vector<std::string>{"plugin sla: is listed more than once; the last listing's arguments count"});
  Job early, late;
  early.created_ns = 1;
  late.created_ns = 2;
  EXPECT_EQ(plugins.ask<JobOrder>(early, late), -1);
}

TEST(Config, is_reported_with_its_warnings_and_without_secrets) {
  Model model;
  Ledger ledger;
  Decider decider(model, ledger, kRegistry, 1, "volcano");
  ASSERT_TRUE(
      decider
          .configure(
              "actions: allocate\ntiers:\n- plugins:\n  - {name: gang, enableJobOrder: false, arguments: {a: 1}}\n"
              "metrics: {type: prometheus, address: http://p, elasticsearch.password: hush}\n")
          .ok());
  const api::Json out = report(decider.config(), decider.warnings(), "why not");
  const std::string expected =
      R"x({"actions":["allocate"],"tiers":[[{"name":"gang","switches":{"enableJobOrder":false},"arguments":{"a":1}}]],)x"
      R"x("configurations":[],"metrics":{"address":"http://p","elasticsearch.password":"(not shown)","type":"prometheus"},)x"
      R"x("warnings":["plugin gang: argument a is unknown and is ignored"],"refused":"why not"})x";
  EXPECT_EQ(out.dump(), expected);
}

}  // namespace
}  // namespace scheduler
