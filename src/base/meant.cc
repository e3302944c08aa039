// Which of the known names did somebody mean who wrote another one?
#include "base/meant.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/format.h"

namespace base {
namespace {

constexpr std::size_t kLengthMax = 100;  // no known name is longer

std::string plain(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '-' || c == '_') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

// Letters that are put in, left out or replaced (the distance of Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string_view other_spelling(std::string_view name, std::span<const std::string_view> known) {
  const std::string wanted = plain(name);
  std::string_view found;
  for (const std::string_view one : known) {
    if (plain(one) != wanted) continue;
    if (!found.empty()) return {};
    found = one;
  }
  return found;
}

std::string_view closest_name(std::string_view name, std::span<const std::string_view> known) {
  if (name.empty() || name.size() > kLengthMax) return {};
  const std::string wanted = plain(name);
  std::size_t least = wanted.size() < 5 ? 2 : 3;  // and fewer
  std::string_view found;
  for (const std::string_view one : known) {
    const std::size_t away = distance(wanted, plain(one));
    if (away >= least) continue;
    least = away;
    found = one;
  }
  return found;
}

std::string hint_at_name(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view meant = closest_name(name, known);
  return meant.empty() ? "" : format("; did you mean {}?", meant);
}

}  // namespace base
