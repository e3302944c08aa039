// The map in memory, for tests and simulation.
#include <map>
#include <mutex>

#include "rt/storage/kv.h"

namespace rt {
namespace {

class MemoryKv : public KvStore, private KvWriter {
 public:
  base::Status commit(const std::function<void(KvWriter&)>& changes) override {
    const std::lock_guard lock(mutex_);
    changes(*this);
    return {};
  }

  base::Status scan(std::string_view begin, std::string_view end,
                    const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    const std::lock_guard lock(mutex_);
    for (auto at = map_.lower_bound(begin); at != map_.end() && (end.empty() || at->first < end); ++at)
      if (!visit(at->first, at->second)) break;
    return {};
  }

 private:
  void put(std::string_view key, std::string_view value) override {
    map_.insert_or_assign(std::string(key), std::string(value));
  }
  void erase(std::string_view key) override {
    if (const auto at = map_.find(key); at != map_.end()) map_.erase(at);
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::string, std::less<>> map_;
};

}  // namespace

std::unique_ptr<KvStore> make_memory_kv() { return std::make_unique<MemoryKv>(); }

}  // namespace rt
