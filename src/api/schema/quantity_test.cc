// Quantities: the grammar, canonical texts, rounding, arithmetic.
#include "api/schema/quantity.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(Quantity, canonical_texts) {
  struct Row {
    const char* in;
    const char* out;
  };
  for (const Row& row : {Row{"0", "0"},
                         Row{"1", "1"},
                         Row{"100m", "100m"},
                         Row{"1500m", "1500m"},
                         Row{"1000m", "1"},
                         Row{"0.5", "500m"},
                         Row{"2048Mi", "2Gi"},
                         Row{"1.5Gi", "1536Mi"},
                         Row{"1024", "1024"},
                         Row{"1000", "1k"},
                         Row{"1e3", "1e3"},
                         Row{"12e6", "12e6"},
                         Row{"0.0000000001", "1n"},
                         Row{"+5", "5"},
                         Row{"-1500m", "-1500m"},
                         Row{"1Ei", "1Ei"},
                         Row{"3500m", "3500m"},
                         Row{".5", "500m"},
                         Row{"5.", "5"},
                         Row{"100Ki", "100Ki"},
                         Row{"0.5Ki", "512"}})
    EXPECT_EQ(Quantity::parse(row.in).value().to_string(), row.out) << row.in;
  for (const char* text : {"", "m", "1 ", "1mi", "1KI", "1e", "e3", "--1", "1.2.3", "0x1", "1K"})
    EXPECT_FALSE(Quantity::parse(text)) << text;
}

TEST(Quantity, values_round_away_from_zero_and_saturate) {
  EXPECT_EQ(Quantity::parse("1.1").value().value(), 2);
  EXPECT_EQ(Quantity::parse("0.0001").value().milli_value(), 1);
  EXPECT_EQ(Quantity::parse("-1.1").value().value(), -2);
  EXPECT_EQ(Quantity::parse("1e30").value().value(), INT64_MAX);
  EXPECT_EQ(Quantity::parse("99999999999999999999").value().value(), INT64_MAX);
}

TEST(Quantity, of_an_object_may_have_blanks_around_it) {
  EXPECT_EQ(Quantity::from_json(Json(" 1500m\t")).value().to_string(), "1500m");
  for (const char* text : {"", " ", "1 500m", "1 Gi"}) EXPECT_FALSE(Quantity::from_json(Json(text))) << text;
  EXPECT_FALSE(Quantity::parse(" 1"));
}

TEST(Quantity, sums_keep_the_left_form) {
  EXPECT_EQ((*Quantity::parse("500m") + *Quantity::parse("3")).to_string(), "3500m");
  EXPECT_EQ((*Quantity::parse("1Gi") + *Quantity::parse("1Gi")).to_string(), "2Gi");
  EXPECT_EQ((*Quantity::parse("1") - *Quantity::parse("1")).to_string(), "0");
  EXPECT_EQ(Quantity::parse("100m").value().times(4).to_string(), "400m");
  EXPECT_TRUE(*Quantity::parse("1000m") == *Quantity::parse("1"));
  EXPECT_TRUE(*Quantity::parse("1Ki") > *Quantity::parse("1k"));
}

}  // namespace
}  // namespace api
