// Which shapes do pods have?
#include "scheduler/model/pods/shape_table.h"

#include <utility>

namespace scheduler {

ShapeId ShapeTable::find(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? ShapeId{} : found->second;
}

ShapeId ShapeTable::add(std::string key, Shape shape) {
  ShapeId id{static_cast<std::uint32_t>(rows_.size())};
  if (free_.empty()) {
    rows_.emplace_back();
  } else {
    id.index = free_.back();
    free_.pop_back();
  }
  Row& row = rows_[id.index];
  row.shape = std::move(shape);
  row.key = &by_key_.emplace(std::move(key), id).first->first;
  mark_unused(id.index);
  return id;
}

void ShapeTable::use(ShapeId id, std::int32_t pods) {
  Shape& shape = rows_[id.index].shape;
  shape.uses += static_cast<std::uint32_t>(pods);
  if (shape.uses == 0) mark_unused(id.index);
}

std::vector<std::string_view> ShapeTable::keys() const {
  std::vector<std::string_view> out(rows_.size());
  for (const auto& [key, id] : by_key_) out[id.index] = key;
  return out;
}

void ShapeTable::mark_unused(std::uint32_t index) {
  if (std::exchange(rows_[index].is_listed, true)) return;
  maybe_unused_.push_back(index);
}

void ShapeTable::end(std::uint32_t index) {
  by_key_.erase(by_key_.find(*rows_[index].key));
  rows_[index] = Row{};
  free_.push_back(index);
  ++returns_;
}

}  // namespace scheduler
