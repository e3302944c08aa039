// What the configuration file accepts, refuses and warns about.
#include "scheduler/framework/config.h"

#include <gtest/gtest.h>

#include "scheduler/actions/all.h"
#include "scheduler/framework/decider.h"
#include "scheduler/plugins/all.h"

namespace scheduler {
namespace {

const Registry kRegistry{all_plugins(), all_actions()};

struct Case {
  const char* fact;
  const char* text;
  const char* message;  // empty: accepted
};

TEST(Config, refuses_what_cannot_be_used_and_says_why) {
  const Case cases[] = {
      {"default", default_config_text().data(), ""},
      {"empty", "", "failed to find Action "},
      {"unknown action", "actions: \"enqueue, dance\"", "failed to find Action dance"},
      {"blanks around names", "actions: \" enqueue ,allocate \"", ""},
      {"unknown keys", "actions: allocate\nfoo: bar\ntiers:\n- plugins:\n  - name: gang\n    something: 1\n", ""},
      {"unknown plugin", "actions: allocate\ntiers:\n- plugins:\n  - name: nobody\n", ""},
      {"actions of another type", "actions: [allocate]", "actions must be a string"},
      {"switch of another type", "actions: allocate\ntiers:\n- plugins:\n  - name: gang\n    enableJobOrder: maybe\n",
       "plugin gang: enableJobOrder must be a boolean"},
      {"hierarchy with proportion",
       "actions: allocate\ntiers:\n- plugins:\n  - name: drf\n    enableHierarchy: true\n  - name: proportion\n",
       "proportion and drf with hierarchy enabled conflicts"},
      {"hierarchy with proportion elsewhere",
       "actions: allocate\ntiers:\n- plugins:\n  - name: drf\n    enableHierarchy: true\n- plugins:\n  - name: proportion\n", ""},
  };
  for (const Case& one : cases) {
    const auto config = parse_config(one.text, kRegistry);
    EXPECT_EQ(config.ok() ? "" : config.error().message, one.message) << one.fact;
  }
  EXPECT_FALSE(parse_config("actions: \"allocate", kRegistry).ok());
}

TEST(Config, a_bad_text_keeps_the_configuration_in_use) {
  Model model;
  Decider decider(model, kRegistry, 1, "volcano");
  ASSERT_TRUE(decider.configure("actions: allocate\n").ok());
  EXPECT_FALSE(decider.configure("actions: nothing\n").ok());
  EXPECT_EQ(decider.config().actions, std::vector<std::string>{"allocate"});
}

TEST(Config, the_first_arguments_of_an_action_count) {
  const auto config = parse_config("actions: allocate\nconfigurations:\n- name: allocate\n  arguments: {a: 1}\n- name: allocate\n  arguments: {a: 2}\n", kRegistry);
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
  EXPECT_EQ(arguments.warnings().size(), 3u);
}

TEST(Config, plugins_and_arguments_that_are_not_understood_are_listed) {
  Model model;
  Decider decider(model, kRegistry, 1, "volcano");
  ASSERT_TRUE(decider.configure("actions: allocate\ntiers:\n- plugins:\n  - name: nobody\n  - name: binpack\n    arguments: {binpack.weight: heavy}\n").ok());
  const auto warnings = decider.warnings();
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[0], "plugin nobody is unknown and is skipped");
  EXPECT_EQ(warnings[1], "plugin binpack: argument binpack.weight is not an integer; its default is used");
}

}  // namespace
}  // namespace scheduler
