// The questions of the API server (or a webhook server) to admission, and its answers. Rules are pure functions of the
// request and of the objects they look up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/cel/access.h"
#include "api/json/json.h"
#include "api/meta/resource.h"
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
  std::shared_ptr<const cel::AccessJudge> access = {};  // what the user and others may do; null: nobody can tell
};

struct AdmissionAnswer {
  bool allowed = true;
  base::Code code = base::Code::kForbidden;  // of a refusal
  std::string message;                       // of a refusal
  std::vector<std::string> warnings;
  std::optional<Json> object;  // the object after mutation; unset: unchanged
};

// A text inside objects by which readers keep them found, so that a rule need not look at all objects of a kind.
struct TextField {
  ResourceId resource;
  std::vector<std::string> path;  // {"spec", "parent"}

  // Absent is "", as is what is not a text; true is "true".
  std::string of(const Json& object) const;
  bool operator<(const TextField& other) const {
    return std::tie(resource, path) < std::tie(other.resource, other.path);
  }
};

// Finds other objects. In the API server this is the store itself, so a rule sees everything that was acknowledged.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;
  virtual std::optional<Json> find(const ResourceId& id, std::string_view ns, std::string_view name) const = 0;
  // The objects whose text at `field` is `value` (which is not empty), or begins with it: by name.
  virtual std::vector<Json> list_by(const TextField& field, std::string_view value, bool as_prefix = false) const = 0;
};

struct AdmissionHook {
  std::string path;  // "/jobs/mutate"; empty: built in
  std::string name;  // of the webhook, as refusals say it
  bool mutating = false;
  ResourceId resource;
  std::string kind;
  std::vector<Operation> operations;
  std::function<AdmissionAnswer(const AdmissionRequest&, const ObjectReader&)> review;
};

}  // namespace api
