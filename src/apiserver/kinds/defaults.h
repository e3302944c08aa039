// Setting defaults before types are checked: a value that takes no members stays as it is, and validation names it.
#pragma once

#include <string_view>
#include <utility>

#include "api/json/json.h"

namespace apiserver {

inline bool takes_members(const api::Json& value) { return value.is_object() || value.is_null(); }

inline void set_if_absent(api::Json& object, std::string_view key, api::Json value) {
  if (takes_members(object) && object[key].is_null()) object.set(key, std::move(value));
}

}  // namespace apiserver
