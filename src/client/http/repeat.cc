// Rules for what may be sent twice, and comparisons with what is there.
#include "client/http/repeat.h"

#include <algorithm>

namespace client {

using api::Json;
using base::Code;

namespace {

Json success_status() {
  return Json::object({{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"status", "Success"}});
}

bool is_nothing(const Json& value) {
  return value.is_null() || (value.is_string() && value.as_string().empty()) ||
         ((value.is_array() || value.is_object()) && value.empty());
}

// Whether `present` says all that `wanted` says. Servers leave out what is empty and add defaults.
bool has_all_of(const Json& present, const Json& wanted) {
  if (is_nothing(wanted)) return is_nothing(present);
  if (wanted.is_object()) {
    if (!present.is_object()) return false;
    return std::ranges::all_of(wanted.members(),
                               [&](const auto& member) { return has_all_of(present[member.name()], member.value); });
  }
  if (!wanted.is_array()) return present == wanted;
  if (!present.is_array() || present.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (!has_all_of(present[i], wanted[i])) return false;
  return true;
}

// Only the metadata that writers decide is compared.
bool has_metadata_of(const Json& present, const Json& wanted) {
  return std::ranges::all_of(
      std::initializer_list<const char*>{"labels", "annotations", "ownerReferences", "finalizers"},
      [&](const char* field) { return has_all_of(present[field], wanted[field]); });
}

bool has_object_of(const Json& present, const Json& wanted, std::string_view subresource) {
  if (!has_metadata_of(present["metadata"], wanted["metadata"])) return false;
  return std::ranges::all_of(wanted.members(), [&](const auto& member) {
    const std::string_view field = member.name();
    if (field == "metadata" || field == "kind" || field == "apiVersion") return true;
    // Each of the two endpoints ignores the other's part.
    if (subresource == "status" ? field != "status" : field == "status") return true;
    return has_all_of(present[field], member.value);
  });
}

bool names_uid(const Request& request) {
  const Json& options = request.subresource == "eviction" ? request.body["deleteOptions"] : request.body;
  return !options["preconditions"]["uid"].as_string().empty();
}

}  // namespace

bool may_repeat(const Request& request) {
  if (request.dry_run) return false;
  const Json& metadata = request.body["metadata"];
  switch (request.verb) {
    case Verb::kGet:
    case Verb::kList: return true;
    case Verb::kCreate:
      if (request.subresource == "binding") return true;
      if (request.subresource == "eviction") return names_uid(request);
      return request.subresource.empty() && !metadata["name"].as_string().empty();
    case Verb::kUpdate: return !metadata["resourceVersion"].as_string().empty();
    case Verb::kPatch:
      return request.patch_type == PatchType::kMerge && !metadata["resourceVersion"].as_string().empty();
    case Verb::kDelete: return names_uid(request);
    case Verb::kDeleteCollection: return false;
  }
  return false;
}

Verdict judge(const Request& request, const base::Error& error) {
  const bool removes = request.verb == Verb::kDelete || request.subresource == "eviction";
  if (removes) {
    if (error.code == Code::kNotFound || error.code == Code::kConflict) return {success_status(), {}};
    return {};
  }
  const Code expected =
      request.verb == Verb::kCreate && request.subresource.empty() ? Code::kAlreadyExists : Code::kConflict;
  if (error.code != expected) return {};
  Request look{.resource = request.resource, .ns = request.ns, .name = request.name, .subresource = {}};
  if (look.name.empty()) look.name = request.body["metadata"]["name"].str();
  return {{}, std::move(look)};
}

std::optional<Json> carried_out(const Request& request, const Json& present) {
  const Json& wanted = request.body;
  if (request.subresource == "binding") {
    const std::string_view uid = wanted["metadata"]["uid"].as_string();
    const bool same_pod = uid.empty() || uid == api::uid_of(present);
    if (!same_pod || present["spec"]["nodeName"] != wanted["target"]["name"]) return {};
    return success_status();
  }
  if (!has_object_of(present, wanted, request.subresource)) return {};
  return present;
}

}  // namespace client
