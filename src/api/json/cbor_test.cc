// CBOR both ways: the examples of RFC 8949, what Kubernetes chose where the format leaves a choice, and what is
// refused.
#include "api/json/cbor.h"

#include <gtest/gtest.h>

#include "api/json/limits.h"
#include "base/random.h"

namespace api {
namespace {

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

std::string hex_of(std::string_view bytes) {
  std::string hex;
  for (const unsigned char c : bytes) {
    hex += "0123456789abcdef"[c >> 4];
    hex += "0123456789abcdef"[c & 15];
  }
  return hex;
}

// As JSON, or what is wrong.
std::string read(std::string_view hex) {
  const auto value = parse_cbor(bytes_of(hex));
  return value.ok() ? value->dump() : value.error().message;
}

// Without the prefix, which is checked.
std::string written(const Json& json) {
  const std::string hex = hex_of(to_cbor(json));
  EXPECT_EQ(hex.substr(0, 6), "d9d9f7");
  return hex.substr(6);
}

struct Example {
  const char* hex;
  const char* json;
  const char* again = nullptr;  // written otherwise than it was read
};

// Appendix A, but for what is refused. Texts are written as byte strings, and what is open with its length.
constexpr Example kExamples[] = {
    {"00", "0"},
    {"01", "1"},
    {"0a", "10"},
    {"17", "23"},
    {"1818", "24"},
    {"1819", "25"},
    {"1864", "100"},
    {"1903e8", "1000"},
    {"1a000f4240", "1000000"},
    {"1b000000e8d4a51000", "1000000000000"},
    {"20", "-1"},
    {"29", "-10"},
    {"3863", "-100"},
    {"3903e7", "-1000"},
    {"f90000", "0"},
    {"f98000", "-0"},
    {"f93c00", "1"},
    {"fb3ff199999999999a", "1.1"},
    {"f93e00", "1.5"},
    {"f97bff", "65504"},
    {"fa47c35000", "100000"},
    {"fa7f7fffff", "3.4028234663852886e+38"},
    {"fb7e37e43c8800759c", "1e+300"},
    {"f90001", "5.960464477539063e-8"},
    {"f90400", "0.00006103515625"},
    {"f9c400", "-4"},
    {"fbc010666666666666", "-4.1"},
    {"f4", "false"},
    {"f5", "true"},
    {"f6", "null"},
    {"c074323031332d30332d32315432303a30343a30305a", R"("2013-03-21T20:04:00Z")",
     "54323031332d30332d32315432303a30343a30305a"},
    {"c11a514b67b0", R"("2013-03-21T20:04:00Z")", "54323031332d30332d32315432303a30343a30305a"},
    {"c1fb41d452d9ec200000", R"("2013-03-21T20:04:00.5Z")", "56323031332d30332d32315432303a30343a30302e355a"},
    {"d74401020304", R"("01020304")", "483031303230333034"},
    {"d818456449455446", R"("dIETF")", "456449455446"},
    {"d82076687474703a2f2f7777772e6578616d706c652e636f6d", R"("http://www.example.com")",
     "56687474703a2f2f7777772e6578616d706c652e636f6d"},
    {"40", R"("")"},
    {"4401020304", R"("\u0001\u0002\u0003\u0004")"},
    {"60", R"("")", "40"},
    {"6161", R"("a")", "4161"},
    {"6449455446", R"("IETF")", "4449455446"},
    {"62225c", R"("\"\\")", "42225c"},
    {"62c3bc", "\"\u00fc\"", "42c3bc"},
    {"63e6b0b4", "\"\u6c34\"", "43e6b0b4"},
    {"64f0908591", "\"\U00010151\"", "44f0908591"},
    {"80", "[]"},
    {"83010203", "[1,2,3]"},
    {"8301820203820405", "[1,[2,3],[4,5]]"},
    {"98190102030405060708090a0b0c0d0e0f101112131415161718181819",
     "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]"},
    {"a0", "{}"},
    {"a26161016162820203", R"({"a":1,"b":[2,3]})", "a24161014162820203"},
    {"826161a161626163", R"(["a",{"b":"c"}])", "824161a141624163"},
    {"a56161614161626142616361436164614461656145", R"({"a":"A","b":"B","c":"C","d":"D","e":"E"})",
     "a54161414141624142416341434164414441654145"},
    {"5f42010243030405ff", R"("\u0001\u0002\u0003\u0004\u0005")", "450102030405"},
    {"7f657374726561646d696e67ff", R"("streaming")", "4973747265616d696e67"},
    {"9fff", "[]", "80"},
    {"9f018202039f0405ffff", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"9f01820203820405ff", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"83018202039f0405ff", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"83019f0203ff820405", "[1,[2,3],[4,5]]", "8301820203820405"},
    {"bf61610161629f0203ffff", R"({"a":1,"b":[2,3]})", "a24161014162820203"},
    {"826161bf61626163ff", R"(["a",{"b":"c"}])", "824161a141624163"},
    {"bf6346756ef563416d7421ff", R"({"Fun":true,"Amt":-2})", "a243416d74214346756ef5"},
};

TEST(Cbor, reads_and_writes_the_examples_of_the_standard) {
  for (const Example& example : kExamples) {
    const auto value = parse_cbor(bytes_of(example.hex));
    ASSERT_TRUE(value.ok()) << example.hex << ": " << value.error().message;
    EXPECT_EQ(value->dump(), example.json) << example.hex;
    EXPECT_EQ(written(*value), example.again ? example.again : example.hex);
  }
}

TEST(Cbor, keeps_integers_and_fractions_apart) {
  EXPECT_EQ(parse_cbor(bytes_of("01"))->type(), Json::Type::kInt);
  EXPECT_EQ(parse_cbor(bytes_of("f93c00"))->type(), Json::Type::kDouble);
  EXPECT_EQ(written(1.0), "f93c00");
  EXPECT_EQ(written(1), "01");
  EXPECT_EQ(written(INT64_MAX), "1b7fffffffffffffff");
  EXPECT_EQ(written(INT64_MIN), "3b7fffffffffffffff");
  EXPECT_EQ(read("3b7fffffffffffffff"), "-9223372036854775808");
  EXPECT_EQ(written(UINT64_MAX), "fa5f800000");  // clients read no integer beyond int64
  EXPECT_EQ(read("1800"), "0");                  // not the shortest form
}

TEST(Cbor, takes_what_kubernetes_takes) {
  EXPECT_EQ(read("d9d9f7a1416101"), R"({"a":1})");
  EXPECT_EQ(read("d9d9f7d9d9f701"), "1");
  EXPECT_EQ(read("a2614101426162d9d9f7a0"), R"({"A":1,"ab":{}})");  // as in an event of a watch
  EXPECT_EQ(read("d64401020304"), R"("AQIDBA==")");
  EXPECT_EQ(read("d543fbfefd"), R"("-_79")");
  EXPECT_EQ(read("d54101"), R"("AQ")");
  EXPECT_EQ(read("d78241ffa14161d64101"),
            R"(["ff",{"61":"AQ=="}])");  // of all that is inside, but for what has its own
  EXPECT_EQ(read("d66161"), R"("a")");   // text stays
  EXPECT_EQ(read("d65f41014102ff"), R"("AQI=")");
  EXPECT_EQ(read("c48221196ab3"), "[-2,27315]");
  EXPECT_EQ(read("c120"), R"("1969-12-31T23:59:59Z")");
  EXPECT_EQ(read("c1f9be00"), R"("1969-12-31T23:59:58.5Z")");
  EXPECT_EQ(read("c100"), R"("1970-01-01T00:00:00Z")");
}

TEST(Cbor, orders_members_by_their_encoded_names) {
  EXPECT_EQ(written(Json::object({{"items", 1}, {"b", 2}, {"kind", 3}, {"a", 4}, {"", 5}})),
            "a54005416104416202446b696e6403456974656d7301");
}

TEST(Cbor, writes_a_list_item_by_item) {
  const Json items = Json::array({1, "a", Json::object({{"b", Json()}})});
  const Json around = Json::object({{"kind", "L"}, {"items", Json::array()}, {"apiVersion", "v1"}});
  Json whole = around;
  whole.set("items", items);
  EXPECT_EQ(hex_of(list_to_cbor(around, 3, [&](std::size_t i) { return items[i]; })), hex_of(to_cbor(whole)));
  EXPECT_EQ(hex_of(list_to_cbor(around, 0, [](std::size_t) { return Json(); })), hex_of(to_cbor(around)));
}

struct Refusal {
  const char* hex;
  const char* why;
};

constexpr Refusal kRefusals[] = {
    {"", "it ends too early (byte 0)"},
    {"18", "it ends too early (byte 1)"},
    {"1b00000000000000", "it ends too early (byte 1)"},
    {"61", "a string claims 1 bytes, and 0 are left (byte 1)"},
    {"5bffffffffffffffff", "a string claims 18446744073709551615 bytes, and 0 are left (byte 9)"},
    {"9b7fffffffffffffff00", "9223372036854775807 items are claimed, and 1 bytes are left (byte 9)"},
    {"bb7fffffffffffffff", "9223372036854775807 items are claimed, and 0 bytes are left (byte 9)"},
    {"8201", "2 items are claimed, and 1 bytes are left (byte 1)"},
    {"826161", "[1]: it ends too early (byte 3)"},
    {"9f01", "[1]: it ends too early (byte 2)"},
    {"bf4161", "a: it ends too early (byte 3)"},
    {"5f4161", "it ends too early (byte 3)"},
    {"0000", "1 bytes follow the value (byte 1)"},
    {"ff", "a break ends nothing (byte 1)"},
    {"82ff01", "[0]: a break ends nothing (byte 2)"},
    {"bf4161ff", "a: a break ends nothing (byte 4)"},
    {"1c", "0x1c begins no value (byte 1)"},
    {"1f", "0x1f begins no value (byte 1)"},
    {"df00", "0xdf begins no value (byte 1)"},
    {"c0", "it ends too early (byte 1)"},
    {"1bffffffffffffffff", "18446744073709551615 does not fit in 64 bits (byte 9)"},
    {"3bffffffffffffffff", "-1 - 18446744073709551615 does not fit in 64 bits (byte 9)"},
    {"c249010000000000000000", "a big number, which does not fit in 64 bits (byte 1)"},
    {"c349010000000000000000", "a big number, which does not fit in 64 bits (byte 1)"},
    {"f97c00", "NaN and infinite numbers are not accepted (byte 3)"},
    {"f97e00", "NaN and infinite numbers are not accepted (byte 3)"},
    {"f9fc00", "NaN and infinite numbers are not accepted (byte 3)"},
    {"fa7f800000", "NaN and infinite numbers are not accepted (byte 5)"},
    {"fa7fc00000", "NaN and infinite numbers are not accepted (byte 5)"},
    {"fb7ff0000000000000", "NaN and infinite numbers are not accepted (byte 9)"},
    {"fb7ff8000000000000", "NaN and infinite numbers are not accepted (byte 9)"},
    {"f7", "simple value 23 is not false, true or null (byte 1)"},
    {"f0", "simple value 16 is not false, true or null (byte 1)"},
    {"f8ff", "simple value 255 is not false, true or null (byte 2)"},
    {"f814", "simple value 20 is not false, true or null (byte 2)"},
    {"a201020304", "the name of a member is not a text (byte 2)"},
    {"a1f600", "the name of a member is not a text (byte 2)"},
    {"a1c11a514b67b000", "the name of a member is not a text (byte 7)"},
    {"6180", "the text is not valid UTF-8 (byte 2)"},
    {"41ff", "the text is not valid UTF-8 (byte 2)"},
    {"a14161a1416281f5ff", "1 bytes follow the value (byte 8)"},
    {"a14161a141628163edA080", "a.b[0]: the text is not valid UTF-8 (byte 11)"},
    {"7f61c361bcff", "the text is not valid UTF-8 (byte 3)"},
    {"7f4161ff", "a string of open length has a piece that is none (byte 2)"},
    {"7f7f6161ffff", "a string of open length has a piece that is none (byte 2)"},
    {"a2616101616102", "the name \"a\" occurs twice (byte 7)"},
    {"a2614101414102", "the name \"A\" occurs twice (byte 7)"},
    {"a25f426865436c6c6fff015f416844656c6c6fff02", "the name \"hello\" occurs twice (byte 21)"},
    {"a16178a2416101416102", "x: the name \"a\" occurs twice (byte 10)"},
    {"c054323030362d30312d30325431353a30343a30355a", "the tag of a time (0) demands a text string (byte 2)"},
    {"c06474657874", "\"text\" is not a time of RFC 3339 (byte 6)"},
    {"c1c100", "the tag of a time in seconds (1) demands a number (byte 2)"},
    {"c1f5", "the tag of a time in seconds (1) demands a number (byte 2)"},
    {"c1f97e00", "NaN and infinite numbers are not accepted (byte 4)"},
    {"c11b0000003afff44181", "253402300801 seconds since 1970 are not a time of RFC 3339 (byte 10)"},
};

TEST(Cbor, refuses_what_has_no_counterpart_and_says_where) {
  for (const Refusal& refusal : kRefusals)
    EXPECT_EQ(read(refusal.hex), std::string("invalid CBOR: ") + refusal.why) << refusal.hex;
}

TEST(Cbor, bounds_levels_and_values) {
  const auto nested = [](std::size_t levels, char open, std::string_view inner) {
    return std::string(levels, open) + std::string(inner);
  };
  EXPECT_TRUE(parse_cbor(nested(kObjectLevelsMax - 1, '\x81', "\x80")).ok());
  EXPECT_EQ(parse_cbor(nested(kObjectLevelsMax, '\x81', "\x80")).error().code, base::Code::kBadRequest);
  EXPECT_FALSE(parse_cbor(nested(100'000, '\x9f', "")).ok());
  EXPECT_FALSE(parse_cbor(nested(100'000, '\xd7', "")).ok());     // tags alone
  EXPECT_TRUE(parse_cbor(nested(100'000, '\xd7', "\x01")).ok());  // nest nothing
  std::string maps;
  for (int i = 0; i < 2000; ++i) maps += "\xa1\x41x";
  const auto deep = parse_cbor(maps);
  ASSERT_FALSE(deep.ok());
  EXPECT_LT(deep.error().message.size(), 1500U);  // the path is cut

  const std::size_t many = kObjectBytesMax / 2 - 1;
  EXPECT_TRUE(parse_cbor("\x9f" + std::string(many, '\x80') + "\xff").ok());
  EXPECT_FALSE(parse_cbor("\x9f" + std::string(many + 1, '\x80') + "\xff").ok());
}

Json random_value(base::Random& dice, int levels) {
  const auto text = [&] {
    std::string out;
    for (std::uint64_t left = dice.below(40); left > 0; --left) out += static_cast<char>(dice.below(0x80));
    return out;
  };
  switch (dice.below(levels > 0 ? 9 : 7)) {
    case 0: return {};
    case 1: return dice.below(2) == 0;
    case 2: return static_cast<std::int64_t>(dice.next());
    case 3: return static_cast<std::int64_t>(dice.below(300)) - 150;
    case 4: return static_cast<double>(static_cast<std::int64_t>(dice.next())) / 1024;
    case 5: return static_cast<double>(dice.below(5000)) / 16;
    case 6: return Json(text());
    case 7: {
      Json list = Json::array();
      for (std::uint64_t left = dice.below(6); left > 0; --left) list.push_back(random_value(dice, levels - 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (std::uint64_t left = dice.below(6); left > 0; --left) object.set(text(), random_value(dice, levels - 1));
      return object;
    }
  }
}

TEST(Cbor, brings_back_what_it_wrote) {
  base::Random dice(8949);
  for (int round = 0; round < 5000; ++round) {
    const Json json = random_value(dice, 5);
    const std::string bytes = to_cbor(json);
    const auto again = parse_cbor(bytes);
    ASSERT_TRUE(again.ok()) << json.dump() << ": " << again.error().message;
    EXPECT_EQ(*again, json) << json.dump();
    EXPECT_EQ(hex_of(to_cbor(*again)), hex_of(bytes));
    // Cut anywhere, it is refused.
    EXPECT_FALSE(parse_cbor(std::string_view(bytes).substr(0, 3 + dice.below(bytes.size() - 3))).ok());
  }
}

}  // namespace
}  // namespace api
