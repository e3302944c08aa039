// The parameters of a query, by verb.
#include "apiserver/http/query_options.h"

#include "apiserver/pipeline/write/invalid_options.h"
#include "apiserver/pipeline/write/manager_name.h"
#include "base/format.h"
#include "base/utf8.h"

namespace apiserver {
namespace {

using Causes = std::vector<base::Cause>;

base::Status read_number(const rt::Target& target, std::string_view name, std::int64_t& number) {
  const std::string_view text = target.get(name);
  if (text.empty()) return {};
  TRY(number, parse_number(name, text));
  return {};
}

// The options of a DELETE without a body; a body takes their place.
base::Status read_delete_options(const rt::Target& target, Request& request) {
  api::Json options = api::Json::object();
  if (!target.get("gracePeriodSeconds").empty()) {
    std::int64_t seconds = 0;
    TRY_VOID(read_number(target, "gracePeriodSeconds", seconds));
    options.set("gracePeriodSeconds", seconds);
  }
  if (const std::string_view policy = target.get("propagationPolicy"); !policy.empty())
    options.set("propagationPolicy", policy);
  if (target.has("orphanDependents")) options.set("orphanDependents", asks_for(target, "orphanDependents"));
  if (!options.empty()) request.body = std::move(options);
  return {};
}

}  // namespace

bool asks_for(const rt::Target& target, std::string_view name) {
  if (!target.has(name)) return false;
  std::string value(target.get(name));
  for (char& c : value) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return value != "false" && value != "0";
}

base::Status read_query(const rt::Target& target, Request& request) {
  request.label_selector = target.get("labelSelector");
  request.field_selector = target.get("fieldSelector");
  request.continue_token = target.get("continue");
  request.resource_version = target.get("resourceVersion");
  request.resource_version_match = target.get("resourceVersionMatch");
  request.bookmarks = asks_for(target, "allowWatchBookmarks");
  request.send_initial_events = asks_for(target, "sendInitialEvents");
  request.force = asks_for(target, "force");
  request.field_manager = target.get("fieldManager");
  TRY_VOID(read_number(target, "limit", request.limit));
  TRY_VOID(read_number(target, "timeoutSeconds", request.timeout_seconds));
  const std::string_view validation = target.get("fieldValidation");
  if (validation == "Strict") request.field_validation = FieldValidation::kStrict;
  if (validation == "Ignore") request.field_validation = FieldValidation::kIgnore;
  for (const auto& [key, value] : target.query)
    request.dry_run = request.dry_run || (key == "dryRun" && value == "All");
  const bool deletes = request.verb == Verb::kDelete || request.verb == Verb::kDeleteCollection;
  return deletes ? read_delete_options(target, request) : base::Status();
}

namespace {

std::string_view options_of(Verb verb) {
  switch (verb) {
    case Verb::kCreate: return "CreateOptions";
    case Verb::kUpdate: return "UpdateOptions";
    case Verb::kPatch: return "PatchOptions";
    case Verb::kDelete:
    case Verb::kDeleteCollection: return "DeleteOptions";
    default: return "ListOptions";
  }
}

void check_write(const rt::Target& target, Causes& causes) {
  const std::string_view manager = target.get("fieldManager");
  if (manager.size() > kManagerBytesMax)
    causes.push_back({"FieldValueTooLong", base::format("Too long: may not be more than {} bytes", kManagerBytesMax),
                      "fieldManager"});
  else if (!is_printable(manager))
    causes.push_back({"FieldValueInvalid",
                      base::format("Invalid value: {:?}: should only contain printable characters", manager),
                      "fieldManager"});
  const std::string_view validation = target.get("fieldValidation");
  if (!validation.empty() && validation != "Strict" && validation != "Ignore" && validation != "Warn")
    causes.push_back(
        {"FieldValueNotSupported",
         base::format("Unsupported value: {:?}: supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"", validation),
         "fieldValidation"});
}

void check_dry_run(const rt::Target& target, Causes& causes) {
  for (const auto& [key, value] : target.query)
    if (key == "dryRun" && value != "All")
      causes.push_back({"FieldValueNotSupported",
                        base::format("Unsupported value: [{:?}]: supported values: \"All\"", value), "dryRun"});
}

// Which version a list or a watch begins with, and how exactly.
void check_version_match(const Request& request, bool sends_initial_events, Causes& causes) {
  const std::string_view match = request.resource_version_match;
  const auto forbid = [&](std::string why, std::string field = "resourceVersionMatch") {
    causes.push_back({"FieldValueForbidden", "Forbidden: " + std::move(why), std::move(field)});
  };
  if (request.verb == Verb::kWatch) {
    if (sends_initial_events && match != "NotOlderThan")
      forbid("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    else if (!sends_initial_events && !match.empty())
      forbid("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    return;
  }
  if (!match.empty()) {
    if (request.resource_version.empty())
      forbid("resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (!request.continue_token.empty()) forbid("resourceVersionMatch is forbidden when continue is provided");
    if (match != "Exact" && match != "NotOlderThan")
      causes.push_back(
          {"FieldValueNotSupported",
           base::format("Unsupported value: {:?}: supported values: \"Exact\", \"NotOlderThan\", \"\"", match),
           "resourceVersionMatch"});
    if (match == "Exact" && request.resource_version == "0")
      forbid("resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  }
  if (sends_initial_events) forbid("sendInitialEvents is forbidden for list", "sendInitialEvents");
}

}  // namespace

base::Status check_query(const rt::Target& target, const Request& request) {
  Causes causes;
  switch (request.verb) {
    case Verb::kCreate:
    case Verb::kUpdate:
    case Verb::kPatch: check_write(target, causes); [[fallthrough]];
    case Verb::kDelete:
    case Verb::kDeleteCollection: check_dry_run(target, causes); break;
    case Verb::kList:
    case Verb::kWatch: check_version_match(request, target.has("sendInitialEvents"), causes); break;
    case Verb::kGet: break;
  }
  if (!causes.empty()) return invalid_options(options_of(request.verb), std::move(causes));
  return {};
}

base::Status check_text(const rt::Target& target) {
  if (!base::is_utf8(target.path)) return bad_request("the path of the request is not valid UTF-8");
  for (const auto& [key, value] : target.query)
    if (!base::is_utf8(key) || !base::is_utf8(value))
      return bad_request(base::format("{:?}: the query parameter is not valid UTF-8", base::to_utf8(key)));
  return {};
}

}  // namespace apiserver
