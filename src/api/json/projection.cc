// Rows of paths. Parsing along them is in json_parse.cc.
#include "api/json/projection.h"

namespace api {

Projection::Projection(std::initializer_list<std::string_view> paths) {
  for (std::string_view path : paths) {
    const bool keep = !path.starts_with('-');
    if (!keep) path.remove_prefix(1);
    add(path, keep);
  }
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
  const std::string_view first = path.substr(0, dot);
  if (first == "*") {
    others_ = true;
    return;
  }
  Row& one = row(first);
  if (dot == std::string_view::npos) {
    one.keep = keep;
    return;
  }
  if (!one.inner) one.inner = std::shared_ptr<Projection>(new Projection());
  one.inner->add(path.substr(dot + 1), keep);
}

Projection::Choice Projection::choose(std::string_view member) const {
  for (const Row& one : rows_)
    if (one.member == member) return {one.keep, one.borrowed != nullptr ? one.borrowed : one.inner.get()};
  return {others_, nullptr};
}

}  // namespace api
