// Texts that one thread changes and others ask for.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_set>

namespace rt {

// Thread-safe.
class SharedSet {
 public:
  void insert(const std::string& text) {
    const std::lock_guard lock(mutex_);
    texts_.insert(text);
  }
  void erase(const std::string& text) {
    const std::lock_guard lock(mutex_);
    texts_.erase(text);
  }
  bool contains(const std::string& text) const {
    const std::shared_lock lock(mutex_);
    return texts_.contains(text);
  }

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_set<std::string> texts_;
};

}  // namespace rt
