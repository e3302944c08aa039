// A sealed text is opened by the same key and text only.
#include "rt/tls/sealing.h"

#include <gtest/gtest.h>

namespace rt {
namespace {

std::string bytes(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

const std::string kKey(kSealingKeyBytes, 'k');

// The fourteenth test case of the paper that defines GCM.
TEST(Sealing, it_is_the_standard_algorithm) {
  const std::string zero(kSealingKeyBytes, '\0');
  const auto plain = unseal(
      zero, std::string(12, '\0') + bytes("cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"), "");
  ASSERT_TRUE(plain);
  EXPECT_EQ(*plain, std::string(16, '\0'));
}

TEST(Sealing, every_bit_counts) {
  const std::string sealed = seal(kKey, "plain", "where");
  EXPECT_EQ(unseal(kKey, sealed, "where"), "plain");
  EXPECT_EQ(sealed.find("plain"), std::string::npos);
  EXPECT_FALSE(unseal(kKey, sealed, "there"));
  EXPECT_FALSE(unseal(std::string(kSealingKeyBytes, 'l'), sealed, "where"));
  for (std::size_t at = 0; at < sealed.size(); ++at) {
    std::string changed = sealed;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(unseal(kKey, changed, "where")) << at;
    EXPECT_FALSE(unseal(kKey, sealed.substr(0, at), "where")) << at;
  }
}

TEST(Sealing, the_same_text_never_looks_the_same) {
  EXPECT_NE(seal(kKey, "plain", "where"), seal(kKey, "plain", "where"));
  EXPECT_EQ(unseal(kKey, seal(kKey, "", ""), ""), "");
}

}  // namespace
}  // namespace rt
