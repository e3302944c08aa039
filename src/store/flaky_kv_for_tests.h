// A store of keys in memory whose disk is full when a test says so.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "rt/storage/kv.h"

namespace store::testing {

// A disk that can be full.
class FlakyKv : public rt::KvStore {
 public:
  base::Status commit(const std::function<void(rt::KvWriter&)>& changes) override {
    if (full) {
      ++refused;
      return base::make_error(base::Code::kUnavailable, "cannot write to /data: No space left on device");
    }
    ++commits;
    return inner->commit(changes);
  }
  base::Status commit_with_reserve(const std::function<void(rt::KvWriter&)>& changes) override {
    return has_reserve ? inner->commit(changes) : commit(changes);
  }
  base::Status scan(std::string_view begin, std::string_view end,
                    const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    return inner->scan(begin, end, visit);
  }

  std::unique_ptr<rt::KvStore> inner = rt::make_memory_kv();
  bool full = false;
  bool has_reserve = false;
  int commits = 0;
  int refused = 0;
};

}  // namespace store::testing
