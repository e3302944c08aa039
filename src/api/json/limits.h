// How large and how deep one object may be. The server must be able to read again what it stores, and so must the
// clients: the checks are where bytes enter (parsers), where edits are made (patches), and once more in the store.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"

namespace api {

// The JSON parser's own limit. Documents hold objects: items of a list, the object of an event or of a review.
inline constexpr std::size_t kDocumentLevelsMax = 1024;
inline constexpr std::size_t kObjectLevelsMax = 1000;
// Other servers store objects of 10,000 levels. Clients, who read by projections, keep kDocumentLevelsMax of them.
inline constexpr std::size_t kAnswerLevelsMax = 10'100;
// etcd's limit of one request, which is what clusters refuse objects by.
inline constexpr std::size_t kObjectBytesMax = std::size_t{3} << 19;  // 1.5 MiB
// The room for the server's additions to an object that is at the limit: the marks of its deletion.
inline constexpr std::size_t kBookkeepingBytes = std::size_t{4} << 10;

// The value as compact text of which check_readable() says yes; kInvalid for one that is nested too deeply.
// Json::dump() writes any other value so that it can be read.
base::Result<std::string> dump_readable(const Json& value);
// kInvalid, with the reason, unless `bytes` is JSON that parse_json() reads, of at most kObjectLevelsMax levels.
base::Status check_readable(std::string_view bytes);

}  // namespace api
