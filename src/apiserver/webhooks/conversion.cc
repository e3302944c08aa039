// Reviews as text, answers checked, batches.
#include "apiserver/webhooks/conversion.h"

#include "api/json/problems.h"
#include "api/schema/names.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Result;

namespace {

// A stock server's own time for a conversion.
constexpr base::Duration kConversionTime = base::seconds(30);
// The number of objects sent at once: answers may be several times as long.
constexpr std::size_t kBatchMax = 500;
constexpr std::size_t kBatchBytes = std::size_t{256} << 10;

// "example.com/v1, Kind=Widget".
std::string kind_of_object(const Json& object) {
  return base::format("{}, Kind={}", object["apiVersion"].as_string(), object["kind"].as_string());
}

base::Error failure(const Json& first, std::string_view what) {
  return base::make_error(base::Code::kInternal,
                          base::format("conversion webhook for {} {}", kind_of_object(first), what));
}

// Empty: the answer is one to the review, and says that it succeeded.
std::string envelope_problem(const ConversionHook& hook, const std::string& uid, const Json& review) {
  const Json& response = review["response"];
  const bool strict = hook.review_version == "v1";
  const std::string wanted = "apiextensions.k8s.io/v1, Kind=ConversionReview";
  if (strict && kind_of_object(review) != wanted)
    return base::format("expected webhook response of {}, got {}", wanted, api::shortened(kind_of_object(review)));
  if (!response.is_object()) return "no response provided";
  if (strict && response["uid"].as_string() != uid)
    return base::format("expected response.uid={:?}, got {}", uid, api::shortened(Json(response["uid"].str()).dump()));
  const Json& result = response["result"];
  if (result["status"].as_string() == "Success") return "";
  if (!result["message"].as_string().empty()) return api::shortened(result["message"].as_string(), 4096);
  return base::format("response.result.status was '{}', not 'Success'", api::shortened(result["status"].as_string()));
}

// Labels and annotations are the webhook's, the rest of metadata the original's.
std::string restore_metadata(const Json& original, Json& converted) {
  if (!converted["metadata"].is_object()) return "missing metadata in converted object";
  Json meta = original["metadata"];
  for (const char* field : {"labels", "annotations"}) {
    const Json given = converted["metadata"][field];
    if (given.is_null()) {
      meta.erase(field);
      continue;
    }
    if (!given.is_object()) return base::format("invalid metadata.{} in converted object", field);
    for (const Json::Member& one : given.members()) {
      if (!one.value.is_string())
        return base::format("metadata.{}[{}] must be a string in converted object", field, api::shortened(one.name()));
      if (!api::is_qualified_name(one.name()) ||
          (field == std::string_view("labels") && !api::is_label_value(one.value.as_string())))
        return base::format("metadata.{}: Invalid value: {}", field, api::shortened(Json(one.name()).dump()));
    }
    meta.set(field, given);
  }
  converted.set("metadata", std::move(meta));
  return "";
}

std::string object_problem(const CustomKind& to, const Json& original, const Json& converted) {
  if (!converted.is_object()) return "it is not an object";
  const auto shown = [](const Json& value) { return api::shortened(value.dump()); };
  if (converted["apiVersion"].as_string() != to.resource.api_version())
    return base::format("invalid groupVersion (expected {}, received {})", to.resource.api_version(),
                        shown(converted["apiVersion"]));
  if (converted["kind"] != original["kind"])
    return base::format("invalid kind (expected {}, received {})", original["kind"].as_string(),
                        shown(converted["kind"]));
  for (const auto& [field, word] : {std::pair{"name", "name"}, {"namespace", "namespace"}, {"uid", "UID"}})
    if (original["metadata"][field].as_string() != converted["metadata"][field].as_string())
      return base::format("must have the same {}: {} != {}", word, original["metadata"][field].as_string(),
                          shown(converted["metadata"][field]));
  return "";
}

}  // namespace

ConversionHookPtr conversion_hook(const DefinitionPtr& definition) {
  const Json& conversion = definition->spec["conversion"];
  if (conversion["strategy"].as_string() != "Webhook" || !definition->stored_kind) return nullptr;
  auto address = api::policies::read_webhook_address(conversion["webhook"]["clientConfig"]);
  if (!address) return nullptr;
  auto out = std::make_shared<ConversionHook>();
  out->address = *std::move(address);
  out->definition = definition;
  for (const Json& version : conversion["webhook"]["conversionReviewVersions"].items())
    if (out->review_version.empty() && (version.as_string() == "v1" || version.as_string() == "v1beta1"))
      out->review_version = version.str();
  return out->review_version.empty() ? nullptr : out;
}

std::string conversion_text(const ConversionHook& hook, const CustomKind& to, const std::string& uid,
                            const std::vector<Json>& objects) {
  Json list = Json::array();
  for (const Json& object : objects) list.push_back(object);
  const Json request =
      Json::object({{"uid", uid}, {"desiredAPIVersion", to.resource.api_version()}, {"objects", list}});
  return Json::object({{"kind", "ConversionReview"},
                       {"apiVersion", "apiextensions.k8s.io/" + hook.review_version},
                       {"request", request}})
      .dump();
}

Result<std::vector<Json>> read_conversion(const ConversionHook& hook, const CustomKind& to, const std::string& uid,
                                          const std::vector<Json>& objects, std::string_view answer) {
  const Json& first = objects.front();
  auto review = api::parse_json(answer);
  if (!review.ok() || !review->is_object())
    return failure(first, base::format("failed: couldn't get version/kind; json parse error: {}",
                                       review.ok() ? "the answer is not an object" : review.error().message));
  if (const std::string why = envelope_problem(hook, uid, *review); !why.empty())
    return failure(first, "failed: " + why);
  const Json& list = (*review)["response"]["convertedObjects"];
  if (list.size() != objects.size())
    return failure(first, base::format("returned {} objects, expected {}", list.size(), objects.size()));
  std::vector<Json> out;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    Json converted = list[i];
    std::string why = object_problem(to, objects[i], converted);
    if (!why.empty()) return failure(first, base::format("returned invalid converted object at index {}: {}", i, why));
    why = restore_metadata(objects[i], converted);
    if (!why.empty())
      return failure(first, base::format("returned invalid metadata in object at index {}: {}", i, why));
    out.push_back(to.convert(std::move(converted)));
  }
  return out;
}

// One conversion of many objects.
struct Converter::Run {
  ConversionHookPtr hook;
  const CustomKind* to;  // held by `done`: the hook may have a newer definition
  std::vector<Json> objects;
  std::size_t at = 0;
  std::vector<std::size_t> batch = {};  // places of what is under way
  Done done;
};

void Converter::convert(ConversionHookPtr hook, const CustomKind& to, std::vector<Json> objects, Done done) {
  auto run = std::make_shared<Run>();
  run->hook = std::move(hook);
  run->to = &to;
  run->objects = std::move(objects);
  run->done = std::move(done);
  env_.loop().post([this, run] { next(run); });
}

void Converter::next(const std::shared_ptr<Run>& run) {
  const std::string wanted = run->to->resource.api_version();
  std::vector<Json> sent;
  std::size_t bytes = 0;
  run->batch.clear();
  for (; run->at < run->objects.size() && sent.size() < kBatchMax && bytes < kBatchBytes; ++run->at) {
    const Json& object = run->objects[run->at];
    if (object["apiVersion"].as_string() == wanted) continue;
    bytes += object.dump().size();
    run->batch.push_back(run->at);
    sent.push_back(object);
  }
  if (sent.empty()) return run->done(std::move(run->objects));
  if (caller_ == nullptr) return run->done(failure(sent.front(), "failed: webhooks are not called in this world"));
  if (!run->hook) return run->done(failure(sent.front(), "failed: the definition names none that can be called"));
  const std::string uid = env_.random().uuid();
  std::string text = conversion_text(*run->hook, *run->to, uid, sent);
  caller_->call(objects_, run->hook->address, std::move(text), kConversionTime,
                [this, run, uid, sent = std::move(sent)](Result<std::string> reply) {
                  if (!reply.ok()) return run->done(failure(sent.front(), "failed: " + reply.error().message));
                  auto converted = read_conversion(*run->hook, *run->to, uid, sent, *reply);
                  if (!converted.ok()) return run->done(converted.take_error());
                  for (std::size_t i = 0; i < run->batch.size(); ++i)
                    run->objects[run->batch[i]] = std::move((*converted)[i]);
                  next(run);
                });
}

}  // namespace apiserver
