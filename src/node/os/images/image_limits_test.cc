// The limits of an image's cost, and of the names that it may take.
#include <gtest/gtest.h>

#include "node/machine/image_name.h"
#include "node/machine/pull_slots.h"
#include "node/os/images/image_tree.h"
#include "node/os/runc/oci_bundle.h"

namespace node {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

TEST(ImageLimits, files_without_content_count_too) {
  const DiskRoom before{50 * kGib, 100 * kGib, 9'000'000, 10'000'000};
  EXPECT_TRUE(check_room(before, {45 * kGib, 100 * kGib, 7'500'000, 10'000'000}, 64 * kGib).ok());
  EXPECT_EQ(check_room(before, {50 * kGib, 100 * kGib, 6'900'000, 10'000'000}, 64 * kGib).error().message,
            "the image has more than 2000000 files");
  const DiskRoom small{50 * kGib, 100 * kGib, 600'000, 1'000'000};
  EXPECT_EQ(check_room(small, {50 * kGib, 100 * kGib, 40'000, 1'000'000}, 64 * kGib).error().message,
            "the image does not fit: a twentieth of the disk's files stays free");
  EXPECT_EQ(check_room(before, {1 * kGib, 100 * kGib, 9'000'000, 10'000'000}, 64 * kGib).error().message,
            "the image does not fit: 4096 MiB of the disk stay free, 1024 MiB are");
  EXPECT_EQ(check_room(before, {1 * kGib, 40 * kGib, 9'000'000, 10'000'000}, 64 * kGib).error().message,
            "the image does not fit: 2048 MiB of the disk stay free, 1024 MiB are");
  EXPECT_EQ(check_room(before, {40 * kGib, 100 * kGib, 9'000'000, 10'000'000}, 5 * kGib).error().message,
            "the image takes more than 5120 MiB");
  // Not every file system counts its files.
  EXPECT_TRUE(check_room({50 * kGib, 100 * kGib, 0, 0}, {45 * kGib, 100 * kGib, 0, 0}, 64 * kGib).ok());
}

// A disk of 252 GiB of which 160 GiB are kept for others had 14 GiB for us, and its twentieth was most of that.
TEST(ImageLimits, what_is_kept_for_others_is_not_a_part_of_the_disk) {
  struct statvfs facts {};
  facts.f_frsize = 4096;
  facts.f_blocks = 252 * (kGib / 4096);
  facts.f_bfree = 174 * (kGib / 4096);
  facts.f_bavail = 14 * (kGib / 4096);
  EXPECT_EQ(room_of(facts).free, 14 * kGib);
  EXPECT_EQ(room_of(facts).total, 92 * kGib);
}
TEST(ImageLimits, a_large_disk_need_not_stay_a_twentieth_free) {
  const DiskRoom before{14 * kGib, 252 * kGib, 9'000'000, 10'000'000};
  EXPECT_TRUE(check_room(before, {12 * kGib, 252 * kGib, 9'000'000, 10'000'000}, 64 * kGib).ok());
}

TEST(ImageLimits, a_registry_that_falls_silent_is_not_waited_for) {
  StallGuard guard(base::minutes(5), 1000);
  EXPECT_TRUE(guard.check(0, base::minutes(10)).ok());
  EXPECT_TRUE(guard.check(0, base::minutes(14)).ok());
  EXPECT_TRUE(guard.check(1000, base::minutes(14)).ok());
  EXPECT_TRUE(guard.check(1000, base::minutes(18)).ok());
  EXPECT_EQ(guard.check(1000, base::minutes(19)).error().message, "nothing has come for 5m0s");
}

// A byte now and then kept one of the few places where images are pulled for a quarter of an hour.
TEST(ImageLimits, a_registry_that_trickles_is_not_waited_for) {
  StallGuard guard(base::minutes(5), 1000);
  EXPECT_TRUE(guard.check(0, base::minutes(10)).ok());
  EXPECT_TRUE(guard.check(500, base::minutes(12)).ok());
  EXPECT_TRUE(guard.check(1000, base::minutes(14)).ok());
  EXPECT_TRUE(guard.check(1999, base::minutes(18)).ok());
  EXPECT_EQ(guard.check(1999, base::minutes(19)).error().message, "no more than 999 bytes have come in 5m0s");
  // Files are renamed while they are counted.
  StallGuard other(base::minutes(5), 1000);
  EXPECT_TRUE(other.check(5000, base::minutes(10)).ok());
  EXPECT_EQ(other.check(0, base::minutes(15)).error().message, "nothing has come for 5m0s");
}

TEST(ImageLimits, a_registry_that_hangs_leaves_room_for_others) {
  PullSlots slots;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(slots.take("hangs"));
  EXPECT_FALSE(slots.take("hangs"));
  EXPECT_TRUE(slots.take("other"));
  EXPECT_TRUE(slots.take("other"));
  EXPECT_FALSE(slots.take("other")) << "threads for pods that need no pull";
  slots.give_back("hangs");
  EXPECT_TRUE(slots.take("hangs"));
  EXPECT_FALSE(slots.take("hangs"));
}

TEST(ImageLimits, registries_of_names) {
  EXPECT_EQ(registry_of("nginx"), "docker.io");
  EXPECT_EQ(registry_of("team/app:v1"), "docker.io");
  EXPECT_EQ(registry_of("registry:5000/team/app"), "registry:5000");
  for (const char* name : {"127.0.0.1/a", "127.0.0.1:5000/a", "127.9.9.9:80/a/b", "localhost/a", "localhost:5000/a"})
    EXPECT_TRUE(is_on_loopback(name)) << name;
  // To these TLS is not left out.
  for (const char* name : {"127.example.com/a", "127.0.0.1.example.com:5000/a", "localhost.example.com/a", "nginx",
                           "128.0.0.1/a", "127/a"})
    EXPECT_FALSE(is_on_loopback(name)) << name;
}

TEST(ImageLimits, variables_cost_what_they_are_many) {
  ImageConfig image;
  image.command = {"true"};
  for (int i = 0; i < 300'000; ++i)
    image.environment.push_back("v" + std::to_string(i % 200'000) + "=" + std::to_string(i));
  const ContainerSpec spec;
  const BundleInput input{.spec = &spec, .image = std::move(image)};
  const auto bundle = make_bundle(input);
  ASSERT_TRUE(bundle.ok()) << bundle.error().message;
  EXPECT_EQ((*bundle)["process"]["env"].size(), 200'003u);
}

}  // namespace
}  // namespace node
