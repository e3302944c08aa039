// Rows of paths. Parsing along them is in json_parse.cc.
#include "api/json/projection.h"

#include <algorithm>
#include <atomic>

namespace api {

bool Projection::Items::takes(std::string_view value) const {
  return std::find(values.begin(), values.end(), value) != values.end();
}

Projection::Projection(std::initializer_list<std::string_view> paths) {
  for (std::string_view path : paths) {
    const bool keep = !path.starts_with('-');
    if (!keep) path.remove_prefix(1);
    add(path, keep);
  }
}

std::uint64_t Projection::next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

Projection Projection::around(std::string_view member, const Projection& inner) {
  Projection out;
  out.others_ = true;
  Row& row = out.row(member);
  row.borrowed = &inner;
  return out;
}

Projection::Row& Projection::row(std::string_view member) {
  for (Row& one : rows_)
    if (one.member == member) return one;
  return rows_.emplace_back(Row{.member = std::string(member)});
}

void Projection::add(std::string_view path, bool keep) {
  const std::size_t dot = path.find('.');
  std::string_view first = path.substr(0, dot);
  if (first == "*") {
    others_ = true;
    return;
  }
  const std::size_t bracket = first.find('[');
  const std::string_view wanted = first.substr(std::min(bracket, first.size()));
  first = first.substr(0, bracket);
  Row& one = row(first);
  if (wanted.empty() && dot == std::string_view::npos) {
    one.keep = keep;
    return;
  }
  if (!one.inner) one.inner = std::shared_ptr<Projection>(new Projection());
  if (!wanted.empty()) one.inner->choose_items(wanted);
  if (dot == std::string_view::npos)
    one.inner->others_ = true;
  else
    one.inner->add(path.substr(dot + 1), keep);
}

// "[type=A|B]".
void Projection::choose_items(std::string_view wanted) {
  wanted = wanted.substr(1, wanted.size() - 2);
  const std::size_t equals = wanted.find('=');
  items_ = {std::string(wanted.substr(0, equals)), {}};
  for (std::string_view rest = wanted.substr(equals + 1);; rest = rest.substr(rest.find('|') + 1)) {
    items_.values.emplace_back(rest.substr(0, rest.find('|')));
    if (rest.find('|') == std::string_view::npos) return;
  }
}

Projection::Choice Projection::choose(std::string_view member) const {
  for (const Row& one : rows_)
    if (one.member == member) return {one.keep, one.borrowed != nullptr ? one.borrowed : one.inner.get()};
  return {others_, nullptr};
}

}  // namespace api
