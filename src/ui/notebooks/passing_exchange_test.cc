// Answers that are kept whole, and those that never come.
#include "ui/notebooks/passing_exchange.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

TEST(KeptAnswer, comes_once_however_the_exchange_ends) {
  std::string got;
  const auto kept = [&got] {
    got.clear();
    return kept_answer(
        [&got](int status, const std::string& body) { got += std::to_string(status) + " " + body + ";"; });
  };
  kept()->respond({200, {}, "whole", {}});
  EXPECT_EQ(got, "200 whole;");
  {
    const auto streamed = kept();
    streamed->start(201, {});
    streamed->send_one(std::make_shared<const std::string>("in "));
    streamed->send_one(std::make_shared<const std::string>("parts"));
    streamed->finish();
  }
  EXPECT_EQ(got, "201 in parts;");
  kept()->abandon();
  EXPECT_EQ(got, "502 ;");
  kept();
  EXPECT_EQ(got, "502 ;") << "it went without an answer";
}

}  // namespace
}  // namespace ui
