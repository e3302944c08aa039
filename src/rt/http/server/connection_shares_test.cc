// Which connection makes room for which.
#include "rt/http/server/connection_shares.h"

#include <gtest/gtest.h>

#include <vector>

namespace rt {
namespace {

using Id = ConnectionShares::Id;

TEST(ConnectionShares, the_oldest_stranger_of_an_address_makes_room_for_its_next) {
  ConnectionShares shares({.all = 10, .strangers = 8, .of_an_address = 2, .of_a_user = 3});
  const Id first = shares.begin("10.0.0.1").id, second = shares.begin("10.0.0.1").id;
  EXPECT_FALSE(shares.begin("10.0.0.2").makes_room);
  EXPECT_EQ(shares.begin("10.0.0.1").makes_room, first);
  EXPECT_EQ(shares.begin("10.0.0.1").makes_room, second);
  EXPECT_EQ(shares.counts().strangers, 3);
  EXPECT_EQ(shares.counts().ended, 2u);
  shares.end(first);  // it is counted no more already
  EXPECT_EQ(shares.counts().strangers, 3);
}

TEST(ConnectionShares, who_is_recognized_is_no_stranger_and_has_a_seat_that_strangers_do_not_take) {
  ConnectionShares shares({.all = 4, .strangers = 2, .of_an_address = 8, .of_a_user = 8});
  const Id known = shares.begin("10.0.0.1").id;
  EXPECT_TRUE(shares.recognize(known, "jane"));
  EXPECT_TRUE(shares.recognize(known, "jane")) << "each request says it again";
  const Id first = shares.begin("10.0.0.1").id;
  (void)shares.begin("10.0.0.1");
  EXPECT_EQ(shares.begin("10.0.0.2").makes_room, first) << "of the address with the most";
  for (const char* address : {"10.0.0.3", "10.0.0.4", "10.0.0.5"}) EXPECT_TRUE(shares.begin(address).makes_room);
  EXPECT_EQ(shares.counts().strangers, 2);
  EXPECT_EQ(shares.counts().recognized, 1);
}

TEST(ConnectionShares, a_server_full_of_recognized_peers_refuses) {
  ConnectionShares shares({.all = 2, .strangers = 2, .of_an_address = 2, .of_a_user = 2});
  const Id one = shares.begin("a").id, two = shares.begin("a").id;
  EXPECT_TRUE(shares.recognize(one, "jane"));
  EXPECT_TRUE(shares.recognize(two, "jane"));
  EXPECT_EQ(shares.begin("b").id, 0u);
  EXPECT_EQ(shares.counts().refused, 1u);
  shares.end(one);
  EXPECT_NE(shares.begin("b").id, 0u);
}

TEST(ConnectionShares, a_user_has_a_share_and_those_without_a_name_have_none) {
  ConnectionShares shares({.all = 9, .strangers = 9, .of_an_address = 9, .of_a_user = 2});
  std::vector<Id> ids;
  for (int i = 0; i < 9; ++i) ids.push_back(shares.begin("a").id);
  EXPECT_TRUE(shares.recognize(ids[0], "jane"));
  EXPECT_TRUE(shares.recognize(ids[1], "jane"));
  EXPECT_FALSE(shares.recognize(ids[2], "jane"));
  EXPECT_TRUE(shares.recognize(ids[3], "joe"));
  for (int i = 4; i < 9; ++i) EXPECT_TRUE(shares.recognize(ids[i], ""));
  shares.end(ids[0]);
  EXPECT_TRUE(shares.recognize(ids[2], "jane"));
  for (const Id id : ids) shares.end(id);
  EXPECT_EQ(shares.counts().strangers + shares.counts().recognized, 0);
}

TEST(ConnectionShares, one_machine_has_one_share_whatever_it_calls_itself) {
  EXPECT_EQ(ConnectionShares::share_of("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(ConnectionShares::share_of("2001:db8:1:2:3::4"), "2001:db8:1:2::/64");
  EXPECT_EQ(ConnectionShares::share_of(""), "");
}

}  // namespace
}  // namespace rt
