// OpenAPI v2 (JSON and protobuf) and v3 of everything served.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>

#include "apiserver/custom/served_kinds.h"
#include "rt/http/http.h"

namespace apiserver {

// Documents are made when they are first asked for, and anew when definitions have changed. Thread-safe.
class OpenApi {
 public:
  OpenApi();
  ~OpenApi();

  // The answer to "/openapi/v2", "/openapi/v3" and "/openapi/v3/..."; nothing for other paths.
  std::optional<rt::HttpResponse> answer(const rt::Target& target, std::string_view accept,
                                         const std::shared_ptr<const ServedKinds>& kinds);

 private:
  struct V2;
  struct V3;
  std::shared_ptr<const V2> v2_of(const std::shared_ptr<const ServedKinds>& kinds);
  std::shared_ptr<const V3> v3_of(const std::shared_ptr<const ServedKinds>& kinds);

  std::atomic<std::shared_ptr<const V2>> v2_;
  std::atomic<std::shared_ptr<const V3>> v3_;
};

}  // namespace apiserver
