// Which shapes do pods have?
//
// Pods of equal keys (shape_key()) share one shape with one id. A shape that no pod has any more is given back, and its
// id used again: jobs that wish to be near their own pods, and pods with claims of their own, bring shapes of their
// own.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scheduler/model/pods/shape.h"

namespace scheduler {

class ShapeTable {
 public:
  const Shape& operator[](ShapeId id) const { return rows_[id.index].shape; }
  Shape& edit(ShapeId id) { return rows_[id.index].shape; }
  std::size_t size() const { return by_key_.size(); }

  // Unset when there is none.
  ShapeId find(const std::string& key) const;
  // The id of a key that may be new. It stays until the next give_back() if no pod comes to have it.
  ShapeId add(std::string key, Shape shape);
  // A pod has this shape (1), or no longer (-1).
  void use(ShapeId id, std::int32_t pods);
  // So many may be without pods; give_back() ends them.
  bool has_many_unused() const { return maybe_unused_.size() >= kUnusedMax; }
  template <class Ended>
  void give_back(const Ended& ended) {
    for (const std::uint32_t index : maybe_unused_) {
      rows_[index].is_listed = false;
      if (rows_[index].shape.uses > 0) continue;
      ended(rows_[index].shape);
      end(index);
    }
    maybe_unused_.clear();
  }
  // Grows when ids may come to mean other shapes.
  std::uint32_t returns() const { return returns_; }

  template <class Visit>
  void for_each(const Visit& visit) {
    for (Row& row : rows_) visit(row.shape);
  }
  // The key of each, by its id; empty for those that were given back.
  std::vector<std::string_view> keys() const;

 private:
  static constexpr std::size_t kUnusedMax = 256;
  struct Row {
    Shape shape;
    const std::string* key = nullptr;  // in by_key_; null: given back
    bool is_listed = false;            // in maybe_unused_
  };

  void mark_unused(std::uint32_t index);
  void end(std::uint32_t index);

  std::deque<Row> rows_;  // stable addresses: evaluators keep references
  std::unordered_map<std::string, ShapeId> by_key_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> maybe_unused_;
  std::uint32_t returns_ = 0;
};

}  // namespace scheduler
