// YAML scalars as Kubernetes reads them, documents, and output that reads back.
#include "api/json/yaml.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(Yaml, scalars_mean_what_kubernetes_reads) {
  struct Row {
    const char* yaml;
    const char* json;
  };
  for (const Row& row : {Row{"y", "true"},
                         Row{"Yes", "true"},
                         Row{"on", "true"},
                         Row{"TRUE", "true"},
                         Row{"n", "false"},
                         Row{"No", "false"},
                         Row{"off", "false"},
                         Row{"tRue", "\"tRue\""},
                         Row{"nUll", "\"nUll\""},
                         Row{"~", "null"},
                         Row{"", "null"},
                         Row{"0644", "420"},
                         Row{"0o17", "15"},
                         Row{"0x1F", "31"},
                         Row{"0b11", "3"},
                         Row{"1_000", "1000"},
                         Row{"0x_1F", "31"},
                         Row{"08", "8"},
                         Row{"1e400", "\"1e400\""},
                         Row{"1e", "\"1e\""},
                         Row{"1:30", "\"1:30\""},
                         Row{"2001-01-01", "\"2001-01-01\""},
                         Row{"9223372036854775808", "9223372036854776000"},
                         Row{"12345678901234567890", "12345678901234567000"},
                         Row{"1.", "1"},
                         Row{".5", "0.5"},
                         Row{"1e3", "1000"},
                         Row{"!!binary aGk=", "\"hi\""},
                         Row{"'1'", "\"1\""},
                         Row{"!!str 1", "\"1\""}})
    EXPECT_EQ(parse_yaml(std::string("a: ") + row.yaml).value()["a"].dump(), row.json) << row.yaml;
  for (const char* text : {"a: .inf", "a: .NaN", "a: [", "a: 'open", "? [1]\n: x", "a: *nothing"})
    EXPECT_FALSE(parse_yaml(text).ok()) << text;
}

TEST(Yaml, keys_resolve_merge_and_repeat) {
  EXPECT_EQ(parse_yaml("y: 1").value().dump(), R"({"true":1})");
  EXPECT_EQ(parse_yaml("b: &x {k: 1, l: 2}\nc:\n  <<: *x\n  k: 3\n").value()["c"].dump(), R"({"k":3,"l":2})");
  std::vector<std::string> twice;
  EXPECT_EQ(parse_yaml("a:\n  b: 1\n  b: 2\n", {&twice}).value()["a"]["b"].as_int(), 2);
  EXPECT_EQ(twice, std::vector<std::string>{"a.b"});
}

TEST(Yaml, aliases_are_bounded) {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 8; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += std::string(k ? "," : "") + "*a" + std::to_string(i - 1);
    text += "]\n";
  }
  const auto parsed = parse_yaml(text);
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.error().message.find("excessive aliasing"), std::string::npos);
}

// Each anchor is the one before it, a hundred levels deeper.
TEST(Yaml, aliases_do_not_nest_what_nothing_else_may) {
  std::string text = "- &a0 [x]\n";
  for (int i = 1; i <= 12; ++i)
    text += "- &a" + std::to_string(i) + " " + std::string(100, '[') + "*a" + std::to_string(i - 1) +
            std::string(100, ']') + "\n";
  const auto parsed = parse_yaml(text);
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().message, "yaml: line 1: more than 1024 levels");
}

// libyaml's costs grow with the square of these.
TEST(Yaml, directives_and_open_brackets_are_bounded) {
  const auto problem_of = [](const std::string& text) {
    const auto parsed = parse_yaml(text);
    return parsed.ok() ? "" : parsed.error().message;
  };
  const auto directives = [](int many) {
    std::string text;
    for (int i = 0; i < many; ++i) text += "%TAG !" + std::to_string(i) + "! t\n";
    return text;
  };
  EXPECT_EQ(problem_of(directives(64) + "---\na: 1\n"), "");
  EXPECT_EQ(problem_of(directives(200'000) + "---\na: 1\n"), "yaml: more than 64 directives");
  EXPECT_EQ(problem_of("# c\n\n" + directives(40) + "--- 1\n...\n" + directives(40) + "--- 2\n"),
            "yaml: more than 64 directives");
  std::string text = "a: |\n";
  for (int i = 0; i < 100; ++i) text += "  %d\n";
  EXPECT_EQ(problem_of(text), "") << "text of a value";
  const auto nested = [](int levels, int values) {
    std::string list = std::string(static_cast<std::size_t>(levels), '[');
    for (int i = 0; i < values; ++i) list += "1,";
    return list + std::string(static_cast<std::size_t>(levels), ']');
  };
  EXPECT_EQ(problem_of(nested(16, 500'000)), "");
  EXPECT_EQ(problem_of(nested(480, 1'000'000)), "yaml: line 1: too many values are nested too deeply");
}

TEST(Yaml, documents_know_their_lines) {
  const auto documents = parse_yaml_documents("a: 1\n---\n---\n# nothing\n---\nb: 2\n");
  ASSERT_TRUE(documents.ok());
  ASSERT_EQ(documents->size(), 2u);
  EXPECT_EQ((*documents)[1].value["b"].as_int(), 2);
  EXPECT_EQ((*documents)[1].line, 6);
}

TEST(Yaml, what_is_written_reads_back) {
  const Json json = *parse_json(
      R"({"plain":"a b","number":"1","bool":"yes","null":"null","empty":"","colon":"a: b","hash":"a #b","dash":"- a","lines":"one\ntwo\n",
    "no end":"one\ntwo","space":" a","tab":"\ta","date":"2026-01-01","list":[{"a":1,"b":[[1,2],[]]},"x"],"nothing":{},"quote":"it's \"so\"","at":"@x","star":"*x"})");
  for (const std::size_t columns : {0, 10, 60, 10'000}) {
    const std::string text = to_yaml(json, columns);
    const auto back = parse_yaml(text);
    ASSERT_TRUE(back.ok()) << text;
    EXPECT_EQ(*back, json) << text;
  }
}

TEST(Yaml, short_values_deep_down_stand_behind_their_keys) {
  const Json json = *parse_json(
      R"({"a":{"name":"x"},"b":{"c":{"d":{"e":{"type":"string","enum":["x: y","it's","-","a:b","[","1"]},
      "f":{"items":{"type":"integer"}},"g":[{"h":"a longer text that needs a line of its own","i":1},{"j":[]}]}}}})");
  EXPECT_EQ(to_yaml(json, 72), R"(a:
  name: x
b:
  c:
    d:
      e: {type: string, enum: ['x: y', it's, '-', 'a:b', '[', "1"]}
      f: {items: {type: integer}}
      g:
      - {h: a longer text that needs a line of its own, i: 1}
      - {j: []}
)");
}

}  // namespace
}  // namespace api
