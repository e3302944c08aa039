// One API request after routing and decoding, and its answer. HTTP and in-process callers both arrive in this form.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/json/projection.h"
#include "api/kinds.h"
#include "base/result.h"

namespace apiserver {

enum class Verb : std::uint8_t { kGet, kList, kWatch, kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };
enum class PatchType : std::uint8_t { kJson, kMerge, kStrategic, kApply };
enum class FieldValidation : std::uint8_t { kIgnore, kWarn, kStrict };

struct UserInfo {
  std::string name;
  std::vector<std::string> groups;
  std::string uid = {};                                         // of service accounts, and where one is impersonated
  std::vector<std::pair<std::string, std::string>> extra = {};  // the same; a key may have several values
};

class ServedKinds;
struct ConversionHook;

// A refusal in a webhook's own words.
struct Refusal {
  api::Json status;  // a Status, with the code of the answer
  std::vector<std::string> warnings;
};

struct Request {
  Verb verb = Verb::kGet;
  const api::KindInfo* kind = nullptr;
  std::uint32_t resource = 0;                   // its table: index of `kind` in all_kinds(), or of a stranger's kind
  std::shared_ptr<const void> holds_kind = {};  // keeps `kind` where it is a stranger's (custom/served_kinds.h)
  // The kinds in force, for writes of definitions and those that webhooks see; the pipeline sets them.
  std::shared_ptr<const ServedKinds> kinds = {};
  // Set by the pipeline where `kind` is another version than the stored one, and a webhook converts.
  std::shared_ptr<const ConversionHook> conversion = {};
  std::string ns;
  std::string name;
  std::string subresource;
  UserInfo user;
  std::string default_manager;  // of managedFields, when fieldManager is not given: from the user agent

  api::Json body;
  std::vector<std::string> duplicate_keys;  // found while parsing the body
  PatchType patch_type = PatchType::kMerge;

  // List and watch.
  std::string label_selector;
  std::string field_selector;
  std::int64_t limit = 0;
  std::string continue_token;
  std::string resource_version;
  std::string resource_version_match;
  std::int64_t timeout_seconds = 0;  // of a watch; 0: the server's own
  bool bookmarks = false;
  bool send_initial_events = false;

  // Writes.
  bool dry_run = false;
  bool force = false;
  bool may_create = true;  // of PUT and PATCH: the user may also create what is not there
  std::string field_manager;
  FieldValidation field_validation = FieldValidation::kWarn;

  std::shared_ptr<const Refusal> refusal = {};      // made while the request is decided; what it then fails with
  std::vector<std::string> audit_annotations = {};  // audit annotations of policies, made while the request is decided
  std::shared_ptr<std::vector<std::string>> decided_annotations =
      {};  // where these go once it is, on the loop; may be null
};

struct Answer {
  int status = 200;
  api::Json object;
  // Stored bytes, which one after the other are the JSON text: one piece, or of a list its head, its items with commas
  // between, and its end. Set instead of `object`.
  std::vector<std::shared_ptr<const std::string>> pieces;
  std::vector<std::string> warnings;
};
// The object of an answer, whichever way it is given.
api::Json object_of(Answer answer, const api::Projection* only = nullptr);
// An answer that is a list in pieces; nothing for another one.
struct ListInPieces {
  api::Json around;  // the list without its items
  std::vector<std::shared_ptr<const std::string>> items;
};
std::optional<ListInPieces> list_in_pieces(const Answer& answer);
// The refusal in an answer in a webhook's words, for a caller that knows errors only; nothing for another answer.
std::optional<base::Error> refusal_in(const Answer& answer);
using OnAnswer = std::function<void(base::Result<Answer>)>;

// Whether objects of the kind have "status", "binding" and so on beside them.
bool has_subresource(const api::KindInfo& kind, std::string_view name);

// The names used in messages: `jobs.batch.volcano.sh "x" not found`.
base::Error not_found(const api::KindInfo& kind, std::string_view name);
base::Error already_exists(const api::KindInfo& kind, std::string_view name);
base::Error conflict(const api::KindInfo& kind, std::string_view name, std::string_view why);
// `Job.batch.volcano.sh "x" is invalid: a, b`, with the causes.
base::Error invalid(const api::KindInfo& kind, std::string_view name, std::vector<base::Cause> causes);
base::Error bad_request(std::string message);

// The Kubernetes Status object of an error, or of a success.
api::Json status_object(const base::Error& error);
api::Json success_status(const api::KindInfo& kind, std::string_view name, std::string_view uid);

// A whole number of 64 bits; errors name the parameter and its value.
base::Result<std::int64_t> parse_number(std::string_view name, std::string_view text);

}  // namespace apiserver
