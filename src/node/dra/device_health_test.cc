// Drivers' news of the health of devices, and how long they hold.
#include "node/dra/device_health.h"

#include <gtest/gtest.h>

#include "base/protobuf_wire.h"

namespace node {
namespace {

struct Reported {
  std::string pool, device;
  std::uint64_t health = 0;
  std::int64_t timeout = 0;
  std::string message = {};
};

std::string message_of(const std::vector<Reported>& devices) {
  base::WireWriter all;
  for (const Reported& one : devices) {
    base::WireWriter name, device;
    name.add(1, one.pool);
    name.add(2, one.device);
    device.add_entry(1, name.take());
    device.add(2, one.health);
    device.add(4, static_cast<std::uint64_t>(one.timeout));
    device.add(5, one.message);
    all.add_entry(1, device.take());
  }
  return all.take();
}

TEST(DeviceHealth, is_read_with_suspicion) {
  const auto news = device_news_from(message_of({{"p", "a", 1}, {"p", "b", 2, 90, "fan stopped"}, {"q", "a", 7, -5}}));
  ASSERT_TRUE(news.ok()) << news.error().message;
  EXPECT_EQ(*news, (std::vector<DeviceNews>{{"p", "a", Health::kHealthy, base::seconds(30)},
                                            {"p", "b", Health::kUnhealthy, base::seconds(90), "fan stopped"},
                                            {"q", "a", Health::kUnknown, base::seconds(30)}}));
  const auto cut = device_news_from(message_of({{"p", "a", 1, 0, std::string(5000, 'x')}}));
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ((*cut)[0].message, std::string(1021, 'x') + "...");
  for (const Reported& bad : {Reported{"", "a"}, {"p", ""}, {"p", std::string(300, 'a')}, {"p", "a\x01"}}) {
    const auto read = device_news_from(message_of({bad}));
    ASSERT_FALSE(read.ok()) << bad.device;
    EXPECT_NE(read.error().message.find("_name"), std::string::npos) << read.error().message;
  }
  EXPECT_FALSE(device_news_from("\xff\xff").ok());
  EXPECT_FALSE(device_news_from(message_of(std::vector<Reported>(4097, {"p", "a", 1}))).ok());
}

TEST(HealthBook, holds_as_long_as_was_said) {
  HealthBook book;
  const auto health = [&](const char* device) { return book.of("d", "p", device).health; };
  EXPECT_EQ(health("a"), Health::kUnknown);
  EXPECT_TRUE(book.update(
      "d", {{"p", "a", Health::kHealthy, base::seconds(30)}, {"p", "b", Health::kUnhealthy, base::seconds(60)}},
      base::seconds(100)));
  EXPECT_FALSE(book.update("d", {{"p", "a", Health::kHealthy, base::seconds(30)}}, base::seconds(110))) << "no news";
  EXPECT_EQ(book.next_end(), base::seconds(140));
  EXPECT_FALSE(book.expire(base::seconds(139)));
  EXPECT_TRUE(book.expire(base::seconds(140)));
  EXPECT_EQ(health("a"), Health::kUnknown);
  EXPECT_EQ(health("b"), Health::kUnhealthy);
  EXPECT_TRUE(book.update("d", {{"p", "b", Health::kUnhealthy, base::seconds(60), "hot"}}, base::seconds(150)));
  EXPECT_EQ(book.of("d", "p", "b").message, "hot");
  EXPECT_FALSE(book.lost("another"));
  EXPECT_TRUE(book.lost("d"));
  EXPECT_FALSE(book.lost("d"));
  EXPECT_EQ(health("b"), Health::kUnknown);
}

}  // namespace
}  // namespace node
