// Is a uid what was read, in the order of the texts?
#include "scheduler/model/core/uid.h"

#include <gtest/gtest.h>

#include <vector>

namespace scheduler {
namespace {

constexpr const char* kTexts[] = {"",
                                  "0",
                                  "00000000-0000-0000-0000-000000000000",
                                  "00000000-0000-0000-8000-000000000000",
                                  "00000000-0000-0000-8000-000000000001",
                                  "3f0e5d9c-1a2b-4c3d-9e8f-0123456789ab",
                                  "3f0e5d9c-1a2b-4c3d-bfff-ffffffffffff",
                                  "3f0e5d9c-1a2b-4c3d-c000-000000000000",
                                  "3F0E5D9C-1A2B-4C3D-9E8F-0123456789AB",
                                  "3f0e5d9c-1a2b-4c3d-9e8f-0123456789a",
                                  "3f0e5d9c-1a2b-4c3d-9e8f-0123456789abc",
                                  "3f0e5d9c+1a2b-4c3d-9e8f-0123456789ab",
                                  "3f0e5d9c-1a2b-4c3d-9e8f-0123456789ag",
                                  "ffffffff-ffff-4fff-bfff-ffffffffffff",
                                  "pod-1",
                                  "\xff"};

TEST(Uid, IsTheTextThatWasRead) {
  for (const char* text : kTexts) {
    EXPECT_EQ(Uid(text).str(), text);
    EXPECT_EQ(Uid(text).empty(), std::string_view(text).empty());
  }
}

TEST(Uid, IsOrderedAsTheTexts) {
  for (const std::string_view a : kTexts) {
    for (const std::string_view b : kTexts) {
      EXPECT_EQ(Uid(a) < Uid(b), a < b) << a << " " << b;
      EXPECT_EQ(Uid(a) == Uid(b), a == b) << a << " " << b;
      EXPECT_EQ(Uid(a) == b, a == b) << a << " " << b;
    }
  }
}

TEST(Uid, IsCopiedAndMoved) {
  for (const char* from : kTexts) {
    for (const char* to : kTexts) {
      Uid source(from), target(to);
      target = source;
      EXPECT_EQ(target.str(), from);
      Uid moved(std::move(target));
      EXPECT_EQ(moved.str(), from);
      source = std::move(moved);
      EXPECT_EQ(source.str(), from);
      const Uid copied(source);
      EXPECT_EQ(copied, source);
    }
  }
}

}  // namespace
}  // namespace scheduler
