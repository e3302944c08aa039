// Which texts has the model seen? Each becomes a small integer once, at the border.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "scheduler/model/core/ids.h"

namespace scheduler {

class Symbols {
 public:
  Symbol intern(std::string_view text) {
    if (auto found = ids_.find(text); found != ids_.end()) return found->second;
    const Symbol id{static_cast<std::uint32_t>(texts_.size())};
    texts_.emplace_back(text);
    ids_.emplace(texts_.back(), id);
    return id;
  }
  // Unset when the text was never seen.
  Symbol find(std::string_view text) const {
    auto found = ids_.find(text);
    return found == ids_.end() ? Symbol{} : found->second;
  }
  const std::string& text(Symbol id) const { return texts_[id.index]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // stable addresses: the keys of ids_ point into it
  std::unordered_map<std::string_view, Symbol> ids_;
};

}  // namespace scheduler
