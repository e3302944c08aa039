// Json values: text round trips, numbers as Go writes them, sharing and editing.
#include "api/json/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "api/json/limits.h"
#include "api/json/projection.h"
#include "api/json/shared_text.h"
#include "base/format.h"

namespace api {
namespace {

Json parse(std::string_view text) {
  auto parsed = parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

TEST(Json, texts_are_written_as_go_writes_them) {
  struct Row {
    const char* in;
    const char* out;
  };
  for (const Row& row :
       {Row{"1.0", "1"}, Row{"1e2", "100"}, Row{"0.5", "0.5"}, Row{"1e-7", "1e-7"}, Row{"1e21", "1e+21"},
        Row{"123456789012345678901234567890", "1.2345678901234568e+29"},
        Row{"18446744073709551615", "18446744073709551615"}, Row{"18446744073709551616", "18446744073709552000"},
        Row{"-9223372036854775808", "-9223372036854775808"}, Row{"\"<&>\\u2028\"", "\"\\u003c\\u0026\\u003e\\u2028\""},
        Row{"\"\\u0001\\n\\\"\"", "\"\\u0001\\n\\\"\""}, Row{"[ ]", "[]"},
        Row{"{\"b\":1,\"a\":[true,null]}", "{\"b\":1,\"a\":[true,null]}"}})
    EXPECT_EQ(parse(row.in).dump(), row.out) << row.in;
}

TEST(Json, what_is_not_json_is_refused) {
  for (const char* text : {"", "{", "[1,]", "nul", "1e309", "\"\xff\"", "{\"a\":1}{", "'a'"})
    EXPECT_FALSE(parse_json(text).ok()) << text;
  EXPECT_FALSE(parse_json(Json()["nothing"].as_string()).ok());  // a view without an address
}

TEST(Json, what_is_written_can_be_read) {
  for (const char* text : {"\xff", "a\xC3", "\xED\xA0\x80", "\xE2\x80"}) {
    const Json value = Json::object({{text, text}});
    const auto again = parse_json(value.dump());
    ASSERT_TRUE(again.ok()) << value.dump();
    EXPECT_NE(again->members()[0].name().find("\xEF\xBF\xBD"), std::string_view::npos);
  }
  // Halves of surrogate pairs, which Go reads as U+FFFD.
  for (const char* text : {"\"\\ud800\"", "\"\\udc00x\"", "\"\\ud800\\ud800\""}) {
    const auto value = parse_json(text);
    if (value.ok()) {
      EXPECT_TRUE(parse_json(value->dump()).ok()) << text;
    }
  }
}

// Stored texts are looked at before they are read at the next start.
TEST(Json, numbers_that_are_written_are_readable) {
  for (const char* text : {"18446744073709551616", "-9223372036854775809", "1e20", "-1e19",
                           "123456789012345678901234567890", "1.5", "1e300", "5e-324", "9223372036854775807"}) {
    const auto value = parse_json(text);
    ASSERT_TRUE(value.ok()) << text;
    const std::string written = Json::object({{"n", *value}}).dump();
    EXPECT_TRUE(check_readable(written).ok()) << written;
    EXPECT_EQ(parse_json(written)->dump(), written);
  }
  EXPECT_FALSE(check_readable(R"({"n":1844674407370955161x})").ok());
}

TEST(Json, readable_objects_are_bounded_in_depth) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_TRUE(check_readable(nested(kObjectLevelsMax)).ok());
  EXPECT_EQ(check_readable(nested(kObjectLevelsMax + 1)).error().message, "nested too deeply: more than 1000 levels");
  EXPECT_TRUE(parse_json(nested(kDocumentLevelsMax)).ok());
  EXPECT_FALSE(parse_json(nested(kDocumentLevelsMax + 1)).ok());
  EXPECT_FALSE(check_readable("{\"a\":\"\xff\"}").ok());
  EXPECT_FALSE(check_readable("").ok());
}

TEST(Json, what_is_written_as_readable_can_be_read) {
  for (const std::size_t levels : {kObjectLevelsMax - 1, kObjectLevelsMax, kObjectLevelsMax + 1}) {
    Json deep = "x";
    for (std::size_t i = 0; i < levels; ++i) deep = i % 2 ? Json::array({deep}) : Json::object({{"a", deep}});
    const auto text = dump_readable(deep);
    EXPECT_EQ(text.ok(), levels < kObjectLevelsMax) << levels;
    EXPECT_EQ(text.ok(), check_readable(deep.dump()).ok()) << levels;
  }
  // Texts are made of any bytes, and numbers are any.
  for (int a = 0; a < 256; ++a)
    for (const int b : {0x00, 0x22, 0x41, 0x80, 0xa8, 0xbf, 0xff}) {
      const std::string bytes{static_cast<char>(a), static_cast<char>(b), 'x'};
      const Json object = Json::object({{bytes, bytes}, {"k" + bytes, Json::array({bytes})}});
      EXPECT_TRUE(check_readable(*dump_readable(object)).ok()) << a << " " << b;
    }
  for (const double number : {1e308, -1e-308, 5e-324, 0.1, 1e21, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(check_readable(*dump_readable(Json::array({number}))).ok()) << number;
}

TEST(Json, the_last_of_two_keys_wins_and_is_reported) {
  std::vector<std::string> twice;
  const auto json = parse_json(R"({"a":{"b":1,"b":2},"l":[{"c":1,"c":1}]})", {&twice});
  ASSERT_TRUE(json.ok());
  EXPECT_EQ((*json)["a"]["b"].as_int(), 2);
  EXPECT_EQ(twice, (std::vector<std::string>{"a.b", "l[0].c"}));
}

TEST(Json, an_edit_leaves_copies_alone) {
  const Json before = parse(R"({"metadata":{"labels":{"a":"a long enough string to be shared"}},"list":[1,2]})");
  Json after = before;
  after.edit_path({"metadata", "labels"}).set("b", "x");
  after.edit("list").edit(0) = 7;
  EXPECT_EQ(before["metadata"]["labels"].size(), 1u);
  EXPECT_EQ(before["list"][std::size_t{0}].as_int(), 1);
  EXPECT_EQ(after["list"].dump(), "[7,2]");
  EXPECT_TRUE(after.erase("list"));
  EXPECT_FALSE(after.erase("list"));
}

TEST(Json, large_objects_find_set_and_lose_members) {
  Json large = Json::object();
  for (int i = 0; i < 500; ++i) large.set("key-" + std::to_string(i * 7 % 500), i);
  const Json shared = large;
  large.set("key-3", "new");
  EXPECT_TRUE(large.erase("key-499"));
  EXPECT_FALSE(large.erase("key-499"));
  EXPECT_EQ(large.size(), 499u);
  EXPECT_EQ(large["key-3"].as_string(), "new");
  EXPECT_EQ(shared["key-499"].as_int(), 357);
  EXPECT_EQ(shared["key-3"].as_int(), 429);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(shared["key-" + std::to_string(i * 7 % 500)].as_int(), i);
  EXPECT_FALSE(large.has("key-500"));
  EXPECT_EQ(parse(shared.dump()), shared);
  EXPECT_EQ(parse(large.sorted().dump()), large);
  for (int i = 0; i < 480; ++i) large.erase("key-" + std::to_string(i));
  EXPECT_EQ(large.size(), 19u);
  EXPECT_TRUE(large.has("key-490"));
}

TEST(Json, equality_is_by_value_and_ignores_member_order) {
  EXPECT_EQ(parse(R"({"a":1,"b":[1.0]})"), parse(R"({"b":[1],"a":1})"));
  EXPECT_FALSE(parse(R"({"a":1})") == parse(R"({"a":1,"b":null})"));
  EXPECT_FALSE(Json("1") == Json(1));
  EXPECT_EQ(parse(R"({"b":{"d":1,"c":2},"a":1})").sorted().dump(), R"({"a":1,"b":{"c":2,"d":1}})");
}

TEST(Json, names_of_every_length_are_found) {
  // One byte that differs, at each place of each length, up to beyond what stands in the value itself.
  for (std::size_t size = 0; size <= 20; ++size) {
    const std::string name = std::string("abcdefghijklmnopqrstuvwxyz").substr(0, size);
    const Json object = Json::object({{name, 1}});
    EXPECT_TRUE(object.has(name)) << name;
    EXPECT_FALSE(object.has(name + std::string(1, '\0'))) << name;
    for (std::size_t i = 0; i < size; ++i) {
      std::string other = name;
      other[i] = '\0';
      EXPECT_FALSE(object.has(other)) << name << " " << i;
      other.erase(i);
      EXPECT_FALSE(object.has(other)) << name << " " << i;
    }
    EXPECT_EQ(Json(name).as_string(), name);
  }
}

TEST(Json, of_equal_names_the_last_counts) {
  EXPECT_EQ(parse(R"({"a":1,"b":2,"a":3})").dump(), R"({"a":3,"b":2})");
  EXPECT_EQ(parse(R"({"a long name of a member":1,"a long name of a member":{"x":1,"x":2}})").dump(),
            R"({"a long name of a member":{"x":2}})");
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += base::format("\"m{}\":{},", i % 50, i);
  many.back() = '}';
  const Json large = parse(many);
  EXPECT_EQ(large.size(), 50u);
  EXPECT_EQ(large["m0"].as_int(), 50);
  EXPECT_EQ(large.members()[49].name(), "m49");
  std::vector<std::string> twice;
  ASSERT_TRUE(parse_json(R"({"a":[{"b":1,"b":2}],"c":1,"c":{"d":1,"d":1}})", {.duplicate_keys = &twice}).ok());
  EXPECT_EQ(twice, (std::vector<std::string>{"a[0].b", "c", "c.d"}));
}

TEST(Projection, equal_parts_are_shared_and_different_ones_are_not) {
  const Projection only{"name", "part"};
  const auto part = [&](std::string_view text) {
    auto parsed = parse_json(base::format(R"({{"name":"some name that is long enough","part":{}}})", text), only);
    EXPECT_TRUE(parsed.ok()) << text;
    return parsed.ok() ? (*parsed)["part"] : Json();
  };
  // Each differs from the one before in one thing.
  const char* const kParts[] = {R"({})",
                                R"([])",
                                R"({"a":1})",
                                R"({"a":2})",
                                R"({"a":2.5})",
                                R"({"a":-2})",
                                R"({"a":18446744073709551615})",
                                R"({"a":true})",
                                R"({"a":false})",
                                R"({"a":null})",
                                R"({"a":"x"})",
                                R"({"a":"y"})",
                                R"({"b":"y"})",
                                R"({"b":"yy"})",
                                R"({"b":["yy"]})",
                                R"({"b":["y","y"]})",
                                R"({"b":["","yy"]})",
                                R"({"b":{"yy":[]}})",
                                R"({"b":{"yy":{}}})",
                                R"({"b":{"yy":{}},"c":{}})",
                                R"([[1,2],[3]])",
                                R"([[1],[2,3]])",
                                R"(["a\u0000b"])",
                                R"(["a\u0000c"])"};
  for (const char* text : kParts) EXPECT_EQ(part(text).dump(), parse(text).dump());
  for (const char* text : kParts) EXPECT_EQ(part(text).dump(), parse(text).dump());
  const Json first = part(R"({"cpu":"1","memory":"1Gi","deep":[1,{"x":null}]})");
  Json second = part(R"({"cpu":"1","memory":"1Gi","deep":[1,{"x":null}]})");
  EXPECT_TRUE(first.same_as(second));
  second.set("cpu", "2");  // and who changes his does not change another's
  EXPECT_EQ(first["cpu"].as_string(), "1");
  EXPECT_EQ(part(R"({"cpu":"1","memory":"1Gi","deep":[1,{"x":null}]})")["cpu"].as_string(), "1");
}

TEST(Projection, keeps_what_is_named) {
  const Projection pods({"kind", "metadata.*", "-metadata.managedFields", "spec.nodeName", "spec.containers.name",
                         "spec.containers.resources", "status.conditions"});
  const auto read = [&](std::string_view text, const Projection& only) {
    const auto out = parse_json(text, only);
    return out.ok() ? out->dump() : out.error().message;
  };
  EXPECT_EQ(
      read(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","managedFields":[{"a":1}],"labels":{"a":"b"}},
                     "spec":{"nodeName":"n","priority":1,"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":1}}},
                     {"name":"d"}]},"status":{"phase":"Running","conditions":[{"type":"T"}]}})",
           pods),
      R"({"kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"spec":{"nodeName":"n","containers":)"
      R"([{"name":"c","resources":{"limits":{"cpu":1}}},{"name":"d"}]},"status":{"conditions":[{"type":"T"}]}})");
  // Values of other types than the paths expect are kept: whoever reads them sees what is wrong.
  EXPECT_EQ(read(R"({"metadata":5,"spec":"x","status":[1,{"conditions":2,"phase":3}]})", pods),
            R"({"metadata":5,"spec":"x","status":[1,{"conditions":2}]})");
  EXPECT_EQ(read("5", pods), "5");
  EXPECT_NE(read(R"({"spec":{"priority":01}})", pods).find("invalid JSON"), std::string::npos) << "in what is left out";
  const Projection list = Projection::around("items", pods);
  EXPECT_EQ(read(R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"spec":{"priority":1}},{}]})", list),
            R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"spec":{}},{}]})");
}

TEST(Projection, chooses_items_of_lists_by_a_text) {
  const Projection whole{"list[type=A|B C]", "other"}, parts{"list[type=A].value"};
  constexpr std::string_view kText =
      R"({"list":[{"type":"A","value":[1]},{"type":"D","value":2},{"value":3,"type":"B C"},{"value":4},"A",{"type":5}],)"
      R"("other":[{"type":"D"}]})";
  EXPECT_EQ(parse_json(kText, whole)->dump(),
            R"({"list":[{"type":"A","value":[1]},{"value":3,"type":"B C"}],"other":[{"type":"D"}]})");
  EXPECT_EQ(parse_json(kText, parts)->dump(), R"({"list":[{"value":[1]}]})");
  EXPECT_EQ(parse_json(R"({"list":{"type":"D","value":1}})", whole)->dump(), R"({"list":{"type":"D","value":1}})");
}

TEST(Projection, reads_what_other_servers_store_and_keeps_as_many_levels_as_we_do) {
  const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  const auto levels_kept = [](const Json& value) {
    std::size_t levels = 0;
    for (const Json* at = &value; at->is_array(); at = &at->items()[0])
      if (++levels && at->items().empty()) break;
    return levels;
  };
  const Projection only{"name", "part"};
  for (const std::size_t levels : {std::size_t{900}, std::size_t{3'000}, std::size_t{10'000}}) {
    const auto whole = parse_json(R"({"name":"n","part":)" + nested(levels) + "}", only);
    ASSERT_TRUE(whole.ok()) << whole.error().message;
    EXPECT_EQ((*whole)["name"].as_string(), "n");
    EXPECT_EQ(levels_kept((*whole)["part"]), std::min(levels, kDocumentLevelsMax - 1));
    EXPECT_EQ(dump_readable(*whole).ok(), levels < kObjectLevelsMax);
  }
  EXPECT_FALSE(parse_json(R"({"part":)" + nested(kAnswerLevelsMax) + "}", only).ok());
  // Others read with their own limit on the same thread.
  EXPECT_FALSE(parse_json(nested(kDocumentLevelsMax + 1)).ok());
}

TEST(Json, long_texts_of_a_document_that_is_kept_lie_in_it) {
  const std::string plain(5000, 'x'), other(5000, 'y');
  auto document = std::make_shared<const std::string>("{\"a\": \"" + plain + "\", \"b\": {\"c\": \"" + other +
                                                      "\", \"short\": \"s\"}, \"escaped\": \"\\n" + plain + "\"}");
  const auto lies_in = [&](std::string_view text) {
    return text.data() >= document->data() && text.data() < document->data() + document->size();
  };
  Json copy;
  {
    const Json json = *parse_json_shared(*document, document, nullptr);
    EXPECT_EQ(json, *parse_json(*document));
    EXPECT_TRUE(lies_in(json["a"].as_string()));
    EXPECT_TRUE(lies_in(json["b"]["c"].as_string()));
    EXPECT_FALSE(lies_in(json["b"]["short"].as_string()));
    EXPECT_FALSE(lies_in(json["escaped"].as_string()));
    EXPECT_EQ(json["escaped"].as_string(), "\n" + plain);
    copy = json["b"];
  }
  const std::weak_ptr<const std::string> kept = document;
  document.reset();
  EXPECT_FALSE(kept.expired()) << "a value holds the document";
  EXPECT_EQ(copy["c"].as_string(), other);
  EXPECT_EQ(copy.dump(), "{\"c\":\"" + other + "\",\"short\":\"s\"}");
  copy = Json();
  EXPECT_TRUE(kept.expired());
}

TEST(Json, a_document_that_is_kept_is_read_along_a_projection) {
  const std::string text(5000, 'x');
  const auto document = std::make_shared<const std::string>("{\"a\": \"" + text + "\", \"b\": 1}");
  const Projection only = Projection({"a"});
  EXPECT_EQ(parse_json_shared(*document, document, &only)->dump(), "{\"a\":\"" + text + "\"}");
}

}  // namespace
}  // namespace api
