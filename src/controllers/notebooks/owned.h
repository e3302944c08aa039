// Objects that a controller keeps as its owner wants them: made where they are missing, changed where they differ, and
// left alone where they are somebody else's.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "api/json/json.h"
#include "api/schema/schema.h"
#include "controllers/framework/controller.h"

namespace controllers::notebooks {

// Whether `there` says what `wanted` says; fields that a server filled in do not count. `schema` may be null.
bool covers(const api::Schema* schema, const api::Json& there, const api::Json& wanted);

class OwnedObjects {
 public:
  enum class Kept : std::uint8_t { kMade, kRight, kChanged, kTaken };

  // `wanted` has apiVersion, kind, and metadata with name and namespace; its owner reference is set here. The members
  // of spec that `wanted` has replace those of the object that is there.
  Kept keep(Plan& plan, const View& view, const api::Json& owner, const api::ResourceId& resource, api::Json wanted);
  // The event about the owner of an object with this name that is somebody else's.
  static std::string taken_text(const api::Json& wanted);

 private:
  // The version at which an object was written again, by uid: a server that stores something else is not asked for
  // ever.
  std::map<std::string, std::string> repaired_;
};

}  // namespace controllers::notebooks
