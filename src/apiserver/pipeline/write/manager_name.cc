// Which characters are printable.
#include "apiserver/pipeline/write/manager_name.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/utf8.h"

namespace apiserver {
namespace {

struct Range {
  std::uint32_t first, last;
};

// Unicode's categories C (as far as they are given out) and Z, without ' '.
constexpr Range kUnprintable[] = {
    {0x00, 0x1F},       {0x7F, 0xA0},       {0xAD, 0xAD},       {0x600, 0x605},     {0x61C, 0x61C},
    {0x6DD, 0x6DD},     {0x70F, 0x70F},     {0x890, 0x891},     {0x8E2, 0x8E2},     {0x1680, 0x1680},
    {0x180E, 0x180E},   {0x2000, 0x200F},   {0x2028, 0x202F},   {0x205F, 0x206F},   {0x3000, 0x3000},
    {0xE000, 0xF8FF},   {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},   {0x110BD, 0x110BD}, {0x110CD, 0x110CD},
    {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0001, 0xE007F}, {0xF0000, 0x10FFFF},
};

// The character that valid text begins with; it is taken off.
std::uint32_t take(std::string_view& text) {
  const auto byte = [&text](std::size_t at) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at]));
  };
  const std::uint32_t lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::uint32_t character = size == 1 ? lead : lead & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) character = character << 6 | (byte(i) & 0x3F);
  text.remove_prefix(size);
  return character;
}

bool is_printable(std::uint32_t character) {
  return std::ranges::none_of(
      kUnprintable, [character](const Range& range) { return range.first <= character && character <= range.last; });
}

}  // namespace

bool is_printable(std::string_view text) {
  if (!base::is_utf8(text)) return false;
  while (!text.empty())
    if (!is_printable(take(text))) return false;
  return true;
}

std::string manager_of(std::string_view user_agent) {
  const std::string valid = base::to_utf8(user_agent.substr(0, user_agent.find('/')));
  std::string manager;
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view before = rest;
    if (is_printable(take(rest))) manager += before.substr(0, before.size() - rest.size());
  }
  return manager.empty() ? "unknown" : std::string(base::utf8_prefix(manager, kManagerBytesMax));
}

}  // namespace apiserver
