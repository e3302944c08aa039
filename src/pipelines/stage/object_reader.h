// Objects of S3-compatible stores, read by a server for its users.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "pipelines/stage/signed_request.h"
#include "rt/env.h"

namespace pipelines {

inline constexpr std::size_t kObjectMax = std::size_t{16} << 20;  // a larger one is read where it is

struct StoredObject {
  ObjectPlace place;
  StoreKeys keys = {};
  std::size_t bytes_max = 0;  // so many of its first bytes; 0: all of them, or none where they are too many
  bool is_page = false;       // for a frame of a browser, as HTML, and not as JSON
};

struct StoredBytes {
  std::string bytes;
  std::size_t size = 0;    // of the whole file
  bool is_folder = false;  // the bytes are a tar of it
};

// Everything on the loop of `env`, which outlives it.
class ObjectReader {
 public:
  explicit ObjectReader(rt::Env& env) : env_(env) {}
  void read(const StoredObject& object, std::function<void(base::Result<StoredBytes>)> done);

 private:
  rt::Env& env_;
  std::shared_ptr<int> under_way_ = std::make_shared<int>(0);
};

}  // namespace pipelines
