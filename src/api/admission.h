// What the API server (or a webhook server) asks admission, and what admission answers. Rules are pure functions of the
// request and of the objects they look up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/json.h"
#include "api/resource.h"
#include "base/result.h"

namespace api {

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };

struct AdmissionRequest {
  Operation operation = Operation::kCreate;
  ResourceId resource;
  std::string kind;
  std::string subresource;
  std::string ns;
  std::string name;
  Json object;      // null on delete
  Json old_object;  // null on create
  std::string user;
  std::vector<std::string> groups;
  bool dry_run = false;
};

struct AdmissionAnswer {
  bool allowed = true;
  base::Code code = base::Code::kForbidden;  // of a refusal
  std::string message;                       // of a refusal
  std::vector<std::string> warnings;
  std::optional<Json> object;  // the object after mutation; unset: unchanged
};

// Finds other objects. In the API server this is the store itself, so a rule sees everything that was acknowledged.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  virtual std::optional<Json> find(const ResourceId& id, std::string_view ns, std::string_view name) const = 0;
  virtual std::vector<Json> list(const ResourceId& id, std::string_view ns) const = 0;  // empty ns: all
};

struct AdmissionHook {
  std::string path;  // "/jobs/mutate": also its name
  bool mutating = false;
  ResourceId resource;
  std::string kind;
  std::vector<Operation> operations;
  std::function<AdmissionAnswer(const AdmissionRequest&, const ObjectReader&)> review;
};

}  // namespace api
