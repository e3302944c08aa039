// Field tables: the schemas that follow from their rows.
#include "api/schema/fields.h"

#include <gtest/gtest.h>

namespace api {
namespace {

struct Part {
  static constexpr std::string_view kSchemaName = "test.Part";
  static constexpr auto fields() { return rows(field<Text>("name", {.required = true, .length_max = 3}, "Its name.")); }
};

struct Whole {
  static constexpr std::string_view kSchemaName = "test.Whole";
  static constexpr auto fields() {
    return rows(field<std::int32_t>("weight", {.default_json = "1", .minimum = 1}, "Its weight."),
                field<List<Part>>("parts", {.items_min = 2, .list_map_key = "name"}, "Its parts."),
                field<Map<Text>>("notes", "Notes."),
                field<List<Text>>("words", {.items_min = 1, .enumeration = "a|b"}, "Words."),
                field<Json>("pod", {.core_type = "core.v1.PodSpec"}, "A pod."));
  }
};

const Schema& member(std::string_view name) { return *schema_of<Whole>().field(name)->schema; }

TEST(Fields, rules_of_a_row_are_those_of_its_schema) {
  EXPECT_EQ(schema_of<Whole>().field("weight")->default_value.as_int(), 1);
  EXPECT_EQ(member("weight").minimum, 1);
  EXPECT_EQ(member("parts").items_min, 2);
  EXPECT_EQ(member("parts").list_keys, std::vector<std::string>{"name"});
  EXPECT_TRUE(member("parts").element->field("name")->required);
  EXPECT_EQ(member("parts").element->field("name")->schema->length_max, 3);
  EXPECT_EQ(member("notes").kind, Schema::Kind::kMap);
  EXPECT_EQ(&member("pod"), &core_schema("core.v1.PodSpec"));
}

// Bounds of a list of plain values are those of its items, but for the number of items.
TEST(Fields, rules_of_a_list_are_those_of_its_items) {
  EXPECT_EQ(member("words").items_min, 1);
  EXPECT_EQ(member("words").element->enumeration, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(member("words").enumeration.empty());
}

TEST(Fields, types_without_rules_share_their_schema) {
  EXPECT_EQ(member("notes").element, &string_schema());
  EXPECT_EQ(&schema_of<Whole>(), &schema_of<Whole>());
}

}  // namespace
}  // namespace api
