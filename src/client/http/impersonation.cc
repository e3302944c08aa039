// The headers are those of client-go, which API servers read.
#include "client/http/impersonation.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"

namespace client {

using api::Json;

namespace {

base::Status check_value(std::string_view value, std::string_view field) {
  for (const char c : value)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f)
      return base::make_error(
          base::Code::kBadRequest,
          base::format("{}: {:?} has a control character (a line's end, say), which a header cannot carry", field,
                       value));
  return {};
}

// Escapes all letters that a header's name may not have, and the percent sign itself.
std::string escaped_key(std::string_view key) {
  constexpr std::string_view kOthers = "!#$&'*+-.^_`|~";
  std::string out;
  for (const char c : key) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          kOthers.find(c) != std::string_view::npos;
    out += is_plain ? std::string(1, c) : base::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace

base::Result<rt::Headers> impersonation_of(const Json& user) {
  const std::string_view name = user["as"].as_string();
  if (name.empty()) {
    for (const char* field : {"as-uid", "as-groups", "as-user-extra"})
      if (!user[field].as_string().empty() || user[field].size() > 0)
        return base::make_error(base::Code::kBadRequest,
                                base::format("{} is given without as: who is meant has to be named, too", field));
    return rt::Headers();
  }
  rt::Headers headers;
  const auto add = [&headers](std::string header, std::string_view value, std::string_view field) -> base::Status {
    TRY_VOID(check_value(value, field));
    headers.emplace_back(std::move(header), value);
    return {};
  };
  TRY_VOID(add("Impersonate-User", name, "as"));
  if (const std::string_view uid = user["as-uid"].as_string(); !uid.empty())
    TRY_VOID(add("Impersonate-Uid", uid, "as-uid"));
  const Json& groups = user["as-groups"];
  for (std::size_t i = 0; i < groups.size(); ++i)
    TRY_VOID(add("Impersonate-Group", groups[i].as_string(), base::format("as-groups[{}]", i)));
  for (const auto& [key, values] : user["as-user-extra"].members())
    for (std::size_t i = 0; i < values.size(); ++i)
      TRY_VOID(add("Impersonate-Extra-" + escaped_key(key.as_string()), values[i].as_string(),
                   base::format("as-user-extra.{}[{}]", key.as_string(), i)));
  return headers;
}

}  // namespace client
