// Which objects are there, and at which version?
#include "client/watch/identities.h"

namespace client {

using api::Json;

Json object_of(const Identity& identity) {
  const std::size_t slash = identity.key.find('/');
  const bool has_namespace = slash != std::string_view::npos;
  Json metadata = Json::object({{"name", has_namespace ? identity.key.substr(slash + 1) : identity.key},
                                {"uid", identity.uid},
                                {"resourceVersion", identity.version}});
  if (has_namespace) metadata.set("namespace", identity.key.substr(0, slash));
  return Json::object({{"metadata", std::move(metadata)}});
}

void Identities::put(const Identity& identity) {
  std::string text;
  text.reserve(identity.key.size() + identity.uid.size() + identity.version.size() + 2);
  text.append(identity.key).append(1, '\0').append(identity.uid).append(1, '\0').append(identity.version);
  erase(identity.key);
  texts_.insert(std::move(text));
}

Identity Identities::parts_of(std::string_view text) {
  const std::size_t uid = text.find('\0') + 1, version = text.find('\0', uid) + 1;
  return {text.substr(0, uid - 1), text.substr(uid, version - 1 - uid), text.substr(version)};
}

}  // namespace client
