// Field ownership: who set which field, as in metadata.managedFields, and server-side apply.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/schema/schema.h"
#include "base/result.h"
#include "base/time.h"

namespace api {

struct FieldManager {
  std::string name;  // at most 128 printable characters
  std::string api_version;
  std::string subresource;  // "status" or empty
  base::Time now;
};

// After a create (old null), update or patch: `manager` comes to own what it changed, and others lose it. Edits
// `object.metadata.managedFields`, starting from those that it comes with where it tells_owners(), else from those of
// `old_object`.
void record_update(const Schema& schema, const Json& old_object, Json& object, const FieldManager& manager);

// Whether `object`, as a client wants it, comes with other managedFields than `old_object` has. An object without any
// says nothing.
bool names_owners(const Json& old_object, const Json& object);

// Server-side apply of `configuration` onto `live` (null: a new object). The result carries the new managedFields.
// Fields of other managers with another value are conflicts: kConflict with one cause each, unless `force`.
base::Result<Json> apply_configuration(const Schema& schema, const Json& live, const Json& configuration,
                                       const FieldManager& manager, bool force);

// `live` with a configuration laid over it as apply does: members and keyed items merge, the rest is replaced.
Json lay_over(const Schema& schema, const Json& live, const Json& configuration);

// After a server-side apply of `sent` by kubectl: kubectl's annotation, if it is there, says what was applied, so that
// `kubectl apply` without --server-side compares with that. It goes where it would be too long.
void keep_last_applied(const Json& sent, Json& object);

}  // namespace api
