// How answers and events are looked through before anybody takes them.
#include "client/http/answer_check.h"

#include <utility>

#include "base/format.h"

namespace client {

using api::Json;

namespace {

std::string named(const Json& object, const api::KindInfo* kind) {
  const std::string noun = kind ? api::qualified_plural(*kind) : std::string("an object");
  const std::string key = api::key_of(object);
  return key.empty() ? noun : noun + " " + key;
}

std::string problem_of(const Json& object, const api::KindInfo* kind, const std::string& problem) {
  return base::format("{} is left out: {}", named(object, kind), problem);
}

base::Error unusable(const std::string& problem) {
  return base::make_error(base::Code::kInternal, "the server's answer: " + problem);
}

base::Result<Json> usable_list(Json answer, const api::KindInfo* kind, std::vector<std::string>& left_out) {
  const Json items = answer["items"];
  // Go writes a list of nothing as null.
  const bool is_empty = items.is_null() && answer["kind"].as_string().ends_with("List");
  if (is_empty) return answer;
  if (!items.is_array()) return unusable("items: must be a list");
  std::vector<Json> good;
  const std::size_t before = left_out.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::optional<std::string> problem = find_fault(items[i], kind);
    if (problem && left_out.size() == before)
      good.assign(items.items().begin(), items.items().begin() + static_cast<std::ptrdiff_t>(i));
    if (problem)
      left_out.push_back(problem_of(items[i], kind, *problem));
    else if (left_out.size() > before)
      good.push_back(items[i]);
  }
  if (left_out.size() > before) answer.set("items", Json::array(std::move(good)));
  return answer;
}

}  // namespace

std::optional<std::string> find_fault(const Json& object, const api::KindInfo* kind) {
  if (!object.is_object()) return "must be a map";
  const Json& metadata = object["metadata"];
  if (!metadata.is_object()) return "metadata: must be a map";
  // A request for an object without a name would be one for all of its kind.
  if (!metadata["name"].is_string() || metadata["name"].as_string().empty()) return "metadata.name: must be a name";
  for (const char* part : {"labels", "annotations"})
    if (!metadata[part].is_null() && !metadata[part].is_object())
      return base::format("metadata.{}: must be a map", part);
  for (const char* part : {"spec", "status"})
    if (kind != nullptr && !object[part].is_null() && !object[part].is_object())
      return base::format("{}: must be a map", part);
  if (kind == nullptr || !kind->custom || kind->schema == nullptr) return std::nullopt;
  const auto wrong = api::find_wrong_type(*kind->schema, object);
  if (!wrong) return std::nullopt;
  return base::format("{}: {}", wrong->field, wrong->message);
}

base::Result<Json> usable_answer(Json answer, Verb verb, const api::KindInfo* kind,
                                 std::vector<std::string>& left_out) {
  if (!answer.is_object()) return unusable("must be a map");
  if (verb == Verb::kList) return usable_list(std::move(answer), kind, left_out);
  const bool is_status = answer["kind"].as_string() == "Status";
  // Deletions are answered with one, or with what is gone.
  if (verb == Verb::kDelete || verb == Verb::kDeleteCollection) return answer;
  if (is_status) return unusable("it is a Status: " + answer["message"].str());
  // Reviews are objects without a name.
  const bool is_review = verb == Verb::kCreate && answer["metadata"]["name"].is_null();
  if (is_review && (answer["metadata"].is_object() || answer["metadata"].is_null())) return answer;
  if (const auto problem = find_fault(answer, kind)) return unusable(*problem);
  return answer;
}

std::optional<std::string> mend_event(WatchEvent& event, const api::KindInfo* kind) {
  if (event.type == EventType::kBookmark) return std::nullopt;
  // Only the name of a deleted object counts.
  auto problem = find_fault(event.object, event.type == EventType::kDeleted ? nullptr : kind);
  if (!problem) return std::nullopt;
  std::string out = problem_of(event.object, kind, *problem);
  Json metadata = Json::object({{"resourceVersion", api::resource_version_of(event.object)}});
  event = {EventType::kBookmark, Json::object({{"metadata", std::move(metadata)}})};
  return out;
}

}  // namespace client
