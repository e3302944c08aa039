// ConfigMaps and Secrets: keys with values, which may be sealed against changes.
#include <algorithm>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/pods/names.h"
#include "api/schema/field_errors.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/rows.h"
#include "base/base64.h"
#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

using api::FieldErrors;
using api::under;

constexpr std::string_view kRedacted = "<secret contents redacted>";

// Of base64: what counts is what is stored behind it.
std::size_t decoded_size(std::string_view text) {
  const auto idle = std::ranges::count_if(text, [](char c) { return c == '=' || c == '\n' || c == '\r'; });
  return (text.size() - static_cast<std::size_t>(idle)) * 3 / 4;
}

void check_keys(const Json& object, bool is_secret, FieldErrors& errors) {
  constexpr std::size_t kBytesMax = 1024 * 1024;
  std::size_t bytes = 0;
  for (const char* part : {"data", "binaryData"}) {
    const bool encoded = is_secret || std::string_view(part) == "binaryData";
    for (const Json::Member& member : object[part].members()) {
      bytes += encoded ? decoded_size(member.value.as_string()) : member.value.as_string().size();
      const std::string_view key = member.name();
      errors.invalid(under(part, key), key, api::check_config_key(key));
    }
  }
  if (bytes > kBytesMax) errors.too_long(is_secret ? "data" : "", kBytesMax);
}

void check_config_map(const Json&, const Json& object, api::FieldErrors& errors) {
  check_keys(object, false, errors);
  for (const Json::Member& member : object["data"].members())
    if (object["binaryData"].has(member.name()))
      errors.invalid(under("data", member.name()), member.name(), "duplicate of key present in binaryData");
  for (const Json::Member& member : object["binaryData"].members())
    if (!base::base64_decode(member.value.as_string()).ok())
      errors.invalid(under("binaryData", member.name()), member.value, "must be base64 encoded");
}

void check_secret(const Json&, const Json& object, api::FieldErrors& errors) {
  check_keys(object, true, errors);
  const Json& data = object["data"];
  for (const Json::Member& member : data.members())
    if (!base::base64_decode(member.value.as_string()).ok())
      errors.invalid(under("data", member.name()), kRedacted, "must be base64 encoded");
  const auto need = [&](std::string_view key) {
    if (!data.has(key)) errors.required(under("data", key));
  };
  const auto need_json = [&](std::string_view key) {
    need(key);
    const auto text = base::base64_decode(data[key].as_string());
    if (!data.has(key) || !text.ok()) return;
    if (const auto read = api::parse_json(*text); !read.ok() || !(read->is_object() || read->is_null()))
      errors.invalid(under("data", key), kRedacted, "must be an object of JSON");
  };
  const std::string_view type = object["type"].as_string();
  if (type == "kubernetes.io/service-account-token" &&
      object["metadata"]["annotations"]["kubernetes.io/service-account.name"].as_string().empty())
    errors.required("metadata.annotations[kubernetes.io/service-account.name]");
  if (type == "kubernetes.io/tls") {
    need("tls.crt");
    need("tls.key");
  }
  if (type == "kubernetes.io/dockercfg") need_json(".dockercfg");
  if (type == "kubernetes.io/dockerconfigjson") need_json(".dockerconfigjson");
  if (type == "kubernetes.io/basic-auth" && !data.has("username") && !data.has("password")) {
    need("username");
    need("password");
  }
  if (type == "kubernetes.io/ssh-auth" && data["ssh-privatekey"].as_string().empty())
    errors.required(under("data", "ssh-privatekey"));
}

// stringData is write-only. A value that is not a text stays, for validation to name.
void fold_string_data(Json& object) {
  const Json text = object["stringData"];
  if (!takes_members(text) || !takes_members(object["data"])) return;
  for (const Json::Member& member : text.members())
    if (!member.value.is_string() && !member.value.is_null()) return;
  object.erase("stringData");
  for (const Json::Member& member : text.members())
    object.edit("data").set(member.name(), base::base64_encode(member.value.as_string()));
}

void default_secret(Json& object) {
  set_if_absent(object, "type", "Opaque");
  if (object.has("stringData")) fold_string_data(object);
}

// Absent and empty are the same.
bool same_entries(const Json& a, const Json& b) { return (a.empty() && b.empty()) || a == b; }

void check_config_map_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  if (!old_object["immutable"].as_bool()) return;
  const std::string_view why = "field is immutable when `immutable` is set";
  if (!object["immutable"].as_bool()) errors.forbidden("immutable", why);
  for (const char* part : {"data", "binaryData"})
    if (!same_entries(object[part], old_object[part])) errors.forbidden(part, why);
}

void check_secret_update(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  check_config_map_update(old_object, object, errors);
  if (!(old_object["type"] == object["type"])) errors.invalid("type", object["type"], "field is immutable");
}

std::vector<Json> config_map_cells(const Json& object, base::Time now) {
  return {Json(static_cast<std::int64_t>(object["data"].size() + object["binaryData"].size())), age_of(object, now)};
}
constexpr api::Column kColumnsOfConfigMap[] = {{"Data", "", "integer"}, {"Age", ""}};

std::vector<Json> secret_cells(const Json& object, base::Time now) {
  return {object["type"], count_of(object["data"]), age_of(object, now)};
}
constexpr api::Column kColumnsOfSecret[] = {{"Type", ""}, {"Data", "", "integer"}, {"Age", ""}};
constexpr std::string_view kSelectableOfSecret[] = {"type"};

}  // namespace

const KindRules kConfigMap = {.kind = "ConfigMap",
                              .check = check_config_map,
                              .check_update = check_config_map_update,
                              .table = {kColumnsOfConfigMap, config_map_cells}};

const KindRules kSecret = {.kind = "Secret",
                           .defaults = default_secret,
                           .check = check_secret,
                           .check_update = check_secret_update,
                           .table = {kColumnsOfSecret, secret_cells},
                           .selectable = kSelectableOfSecret};

}  // namespace apiserver
