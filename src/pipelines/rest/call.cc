// The same names in both spellings.
#include "pipelines/rest/call.h"

namespace pipelines::rest {

std::string Call::ns() const {
  const std::string_view named = target.get("namespace");
  return named.empty() ? own_namespace : std::string(named);
}

bool Call::is_on(std::string_view name) const {
  const std::string_view value = target.get(name);
  return value == "true" || value == "True" || value == "1";
}

const api::Json& member(const api::Json& body, std::string_view name) {
  if (const api::Json* found = body.find(name)) return *found;
  std::string camel;
  bool raise = false;
  for (const char c : name) {
    if (c == '_') {
      raise = true;
      continue;
    }
    camel += raise && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    raise = false;
  }
  return body[camel];
}

std::string text(const api::Json& body, std::string_view name) { return member(body, name).str(); }

}  // namespace pipelines::rest
