// Which texts has the model seen? Each becomes a small integer once, at the border.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "scheduler/model/core/id_table.h"
#include "scheduler/model/core/ids.h"

namespace scheduler {

class Symbols {
 public:
  Symbol intern(std::string_view text) {
    const std::uint32_t hash = IdTable<Symbol>::hash_of(text);
    if (const Symbol known = find(hash, text); known.is_set()) return known;
    const Symbol id{static_cast<std::uint32_t>(texts_.size())};
    texts_.emplace_back(text);
    ids_.insert(hash, id);
    return id;
  }
  // Unset when the text was never seen.
  Symbol find(std::string_view text) const { return find(IdTable<Symbol>::hash_of(text), text); }
  const std::string& text(Symbol id) const { return texts_[id.index]; }
  std::size_t size() const { return texts_.size(); }

 private:
  Symbol find(std::uint32_t hash, std::string_view text) const {
    return ids_.find(hash, [&](Symbol id) { return texts_[id.index] == text; });
  }

  std::deque<std::string> texts_;  // stable addresses: readers keep references
  IdTable<Symbol> ids_;
};

}  // namespace scheduler
