// Which part of an object before a change does a part of it after the change stand for? Members by their names, items
// of keyed lists by their keys; items of other lists have no place of their own.
#pragma once

#include <map>
#include <string>

#include "api/json/json.h"
#include "api/schema/structural/structural.h"

namespace api {

// The items of a keyed list before a change. Borrows both arguments.
class OldItems {
 public:
  OldItems(const Structural& list, const Json* before);
  // Null: there was none, or it cannot be told.
  const Json* of(const Json& item) const;

 private:
  const Structural& list_;
  std::map<std::string, const Json*> by_key_;
};

// The key that tells the items of a keyed list apart, with the defaults of what is absent.
Json key_of_item(const Structural& list, const Json& item);

// The member of an object before a change; null where there was none.
const Json* old_member(const Json* before, std::string_view name);

}  // namespace api
