// Errors in Kubernetes' words, and Status objects.
#include "apiserver/pipeline/request/request.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "apiserver/kinds/cause_limit.h"
#include "apiserver/pipeline/request/bounds.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;
using base::Code;
using base::Error;

namespace {

Error about(const api::KindInfo& kind, std::string_view name, Code code, std::string message) {
  Error error = base::make_error(code, std::move(message));
  error.group = kind.resource.group;
  error.kind = kind.resource.plural;
  error.name = name;
  return error;
}

}  // namespace

Json object_of(Answer answer, const api::Projection* only) {
  if (answer.pieces.empty()) return std::move(answer.object);
  std::string joined;
  if (answer.pieces.size() > 1) {
    std::size_t size = 0;
    for (const auto& piece : answer.pieces) size += piece->size();
    joined.reserve(size);
    for (const auto& piece : answer.pieces) joined += *piece;
  }
  const std::string& text = joined.empty() ? *answer.pieces.front() : joined;
  auto parsed =
      only == nullptr ? api::parse_json(text) : api::parse_json(text, api::Projection::around("items", *only));
  CHECK(parsed.ok());  // we wrote it
  return *std::move(parsed);
}

std::optional<ListInPieces> list_in_pieces(const Answer& answer) {
  if (answer.pieces.size() < 2) return {};
  auto around = api::parse_json(*answer.pieces.front() + *answer.pieces.back());
  CHECK(around.ok());  // we wrote it
  ListInPieces list{*std::move(around), {}};
  for (std::size_t i = 1; i + 1 < answer.pieces.size(); i += 2) list.items.push_back(answer.pieces[i]);
  return list;
}

std::optional<Error> refusal_in(const Answer& answer) {
  if (answer.status < 400) return std::nullopt;
  return base::make_error(base::code_for(answer.object["reason"].as_string(), answer.status),
                          answer.object["message"].str());
}

bool has_subresource(const api::KindInfo& kind, std::string_view name) {
  if (name == "status" && kind.status_subresource) return true;
  return std::ranges::find(kind.subresources, name) != kind.subresources.end();
}

Error not_found(const api::KindInfo& kind, std::string_view name) {
  return about(kind, name, Code::kNotFound, base::format("{} \"{}\" not found", api::qualified_plural(kind), name));
}

Error already_exists(const api::KindInfo& kind, std::string_view name) {
  return about(kind, name, Code::kAlreadyExists,
               base::format("{} \"{}\" already exists", api::qualified_plural(kind), name));
}

Error conflict(const api::KindInfo& kind, std::string_view name, std::string_view why) {
  return about(kind, name, Code::kConflict,
               base::format("Operation cannot be fulfilled on {} \"{}\": {}", api::qualified_plural(kind), name, why));
}

// Rules of a kind may demand again what its schema demands: said once, in the rule's words where it has some.
static void settle_repeated(std::vector<Cause>& causes) {
  std::map<std::string, std::size_t> first;
  std::vector<Cause> settled;
  for (Cause& cause : causes) {
    const bool required = cause.reason == "FieldValueRequired";
    const auto [at, is_new] = first.emplace(
        base::format("{} {} {}", cause.field, cause.reason, required ? "" : cause.message), settled.size());
    if (is_new)
      settled.push_back(std::move(cause));
    else if (cause.message.size() > settled[at->second].message.size())
      settled[at->second].message = std::move(cause.message);
  }
  causes = std::move(settled);
}

Error invalid(const api::KindInfo& kind, std::string_view name, std::vector<Cause> causes) {
  if (has_enough_causes(causes)) causes.resize(kCausesKept);
  settle_repeated(causes);
  std::string list;
  for (const Cause& cause : causes) {
    if (!list.empty()) list += ", ";
    list += cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
  }
  if (causes.size() > 1) list = "[" + list + "]";
  const std::string qualified = kind.resource.group.empty() ? kind.kind : kind.kind + "." + kind.resource.group;
  Error error = about(kind, name, Code::kInvalid, base::format("{} \"{}\" is invalid: {}", qualified, name, list));
  error.kind = kind.kind;
  error.causes = std::move(causes);
  return error;
}

Error bad_request(std::string message) { return base::make_error(Code::kBadRequest, std::move(message)); }

Json status_object(const Error& given) {
  Error error = given;
  bound_error(error);
  Json status = Json::object({{"kind", "Status"},
                              {"apiVersion", "v1"},
                              {"metadata", Json::object()},
                              {"status", "Failure"},
                              {"message", error.message}});
  if (const std::string_view reason = base::reason(error.code); !reason.empty()) status.set("reason", reason);
  Json details = Json::object();
  if (!error.name.empty()) details.set("name", error.name);
  if (!error.group.empty()) details.set("group", error.group);
  if (!error.kind.empty()) details.set("kind", error.kind);
  if (!error.causes.empty()) {
    Json causes = Json::array();
    for (const Cause& cause : error.causes) {
      Json row = Json::object();
      if (!cause.reason.empty()) row.set("reason", cause.reason);
      row.set("message", cause.message);
      if (!cause.field.empty()) row.set("field", cause.field);
      causes.push_back(std::move(row));
    }
    details.set("causes", std::move(causes));
  }
  if (error.retry_after_seconds > 0) details.set("retryAfterSeconds", error.retry_after_seconds);
  status.set("details", std::move(details));  // always: kubectl debug reads it without looking
  status.set("code", base::http_status(error.code));
  return status;
}

Json success_status(const api::KindInfo& kind, std::string_view name, std::string_view uid) {
  Json details = Json::object({{"name", name}});
  if (!kind.resource.group.empty()) details.set("group", kind.resource.group);
  details.set("kind", kind.resource.plural);
  if (!uid.empty()) details.set("uid", uid);
  return Json::object({{"kind", "Status"},
                       {"apiVersion", "v1"},
                       {"metadata", Json::object()},
                       {"status", "Success"},
                       {"details", details}});
}

base::Result<std::int64_t> parse_number(std::string_view name, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range)
    return bad_request(base::format("{}: invalid value \"{}\": the number does not fit in 64 bits", name, text));
  if (error != std::errc() || end != text.data() + text.size())
    return bad_request(base::format("{}: invalid value \"{}\": must be a number", name, text));
  return number;
}

}  // namespace apiserver
