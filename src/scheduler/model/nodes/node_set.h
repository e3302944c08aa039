// A set of nodes, as one bit per node id.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduler/model/core/ids.h"
#include "scheduler/model/nodes/score_kernels.h"

namespace scheduler {

class NodeSet {
 public:
  NodeSet() = default;
  explicit NodeSet(std::size_t size) : words_((size + 63) / 64) {}

  void resize(std::size_t size) { words_.resize((size + 63) / 64); }
  void clear() { words_.assign(words_.size(), 0); }
  bool has(std::uint32_t n) const { return n / 64 < words_.size() && (words_[n / 64] >> (n % 64) & 1); }
  void add(std::uint32_t n) { words_[n / 64] |= std::uint64_t{1} << (n % 64); }
  void remove(std::uint32_t n) { words_[n / 64] &= ~(std::uint64_t{1} << (n % 64)); }
  std::size_t count() const { return count_bits(words_.data(), words_.size()); }
  bool empty() const {
    for (std::uint64_t word : words_) {
      if (word != 0) return false;
    }
    return true;
  }
  // The lowest member, or 0xffffffff.
  std::uint32_t first() const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] != 0)
        return static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(words_[i])));
    }
    return NodeId::kNone;
  }
  // The other set may be shorter; what it lacks counts as absent.
  NodeSet& operator&=(const NodeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.word(i);
    return *this;
  }
  NodeSet& operator|=(const NodeSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  NodeSet& subtract(const NodeSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.word(i);
    return *this;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
        visit(static_cast<std::uint32_t>(i * 64 + static_cast<std::size_t>(std::countr_zero(word))));
      }
    }
  }
  std::uint64_t word(std::size_t i) const { return i < words_.size() ? words_[i] : 0; }
  std::vector<std::uint64_t>& words() { return words_; }
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace scheduler
