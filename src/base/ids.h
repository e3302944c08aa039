// Dense ids: small integers that index columns. An Id<NodeTag> is neither an int nor an Id<TaskTag>.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace base {

template <class Tag>
struct Id {
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  std::uint32_t index = kNone;

  constexpr auto operator<=>(const Id&) const = default;
  constexpr bool is_set() const { return index != kNone; }
};

}  // namespace base

template <class Tag>
struct std::hash<base::Id<Tag>> {
  std::size_t operator()(base::Id<Tag> id) const noexcept { return id.index * 0x9e3779b97f4a7c15ull; }
};
