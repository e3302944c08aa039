// Widths in columns of a terminal, natural order, colours.
#include "cli/text/people_table.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "cli/text/terminal_text.h"

namespace cli {

namespace {

// Code points; names are ASCII, and reasons nearly so.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// With three dots where something is missing.
std::string cut(const std::string& text, std::size_t width) {
  if (width_of(text) <= width) return text;
  const std::size_t kept = width > 6 ? width - 3 : width;
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++count > kept) break;
  return text.substr(0, end) + (width > 6 ? "..." : "");
}

std::string_view colour_of(std::string_view state) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kColours = {{{"Running", "\x1b[32m"},
                                                                                             {"Completed", "\x1b[2m"},
                                                                                             {"Failed", "\x1b[31m"},
                                                                                             {"Terminated", "\x1b[31m"},
                                                                                             {"Aborted", "\x1b[33m"},
                                                                                             {"Pending", "\x1b[33m"},
                                                                                             {"Inqueue", "\x1b[33m"},
                                                                                             {"Closed", "\x1b[33m"}}};
  for (const auto& [word, colour] : kColours)
    if (word == state) return colour;
  return {};
}

}  // namespace

std::string people_table(const Terminal& terminal, std::vector<std::vector<std::string>> rows) {
  for (auto& row : rows)
    for (std::string& cell : row) {
      cell = for_terminal(cell);
      std::ranges::replace_if(
          cell, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    }
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::size_t total = 2 * (widths.size() - 1);
  for (const std::size_t width : widths) total += width;
  const auto room = static_cast<std::size_t>(std::max(terminal.columns, 20));
  constexpr std::size_t kLastMin = 16, kColumnMin = 8;
  const auto shrink = [&](std::size_t& width, std::size_t least) {
    if (total <= room || width <= least) return;
    const std::size_t less = std::min(total - room, width - least);
    width -= less;
    total -= less;
  };
  shrink(widths.back(), kLastMin);
  while (total > room) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= kColumnMin) break;
    *widest -= 1;
    total -= 1;
  }
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      const std::string cell = cut(rows[r][i], widths[i]);
      const std::string_view colour = r > 0 && terminal.has_colours ? colour_of(cell) : std::string_view();
      line += colour.empty() ? cell : base::format("{}{}\x1b[0m", colour, cell);
      if (i + 1 < rows[r].size()) line += std::string(widths[i] + 2 - width_of(cell), ' ');
    }
    while (line.ends_with(' ')) line.pop_back();
    text += line + "\n";
  }
  return text;
}

bool natural_less(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&is_digit](std::string_view text, std::size_t& at) {
      const std::size_t begin = std::min(text.find_first_not_of('0', at), text.size());
      std::size_t end = begin;
      while (end < text.size() && is_digit(text[end])) ++end;
      at = end;
      return text.substr(begin, end - begin);
    };
    const std::string_view m = number(a, i), n = number(b, j);
    if (m.size() != n.size()) return m.size() < n.size();
    if (m != n) return m < n;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

std::string plain_reason(std::string_view message) {
  // "SENTENCE. 2/3 tasks in gang unschedulable: ...", or the counts alone.
  if (const std::size_t gang = message.find(" tasks in gang "); gang != std::string_view::npos) {
    const std::size_t counts = message.substr(0, gang).rfind(' ');
    if (counts != std::string_view::npos) {
      message = message.substr(0, counts);
    } else {
      message = message.substr(gang);
      const std::size_t colon = message.find(": ");
      message = colon == std::string_view::npos ? std::string_view() : message.substr(colon + 2);
      if (message.starts_with("pod group is ")) return "not all of its pods have room";
    }
  }
  while (message.ends_with('.') || message.ends_with(' ')) message.remove_suffix(1);
  std::string plain(message);
  std::ranges::replace(plain, '\n', ' ');
  return plain;
}

}  // namespace cli
