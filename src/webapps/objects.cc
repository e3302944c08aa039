// Requests are written out once, here.
#include "webapps/objects.h"

#include "base/format.h"
#include "client/list_items.h"

namespace webapps {

using api::Json;
using base::Code;
using client::Verb;

namespace {

client::Request request_of(Verb verb, const api::ResourceId& resource, const std::string& ns, const std::string& name) {
  return {.verb = verb, .resource = resource, .ns = ns, .name = name, .subresource = {}};
}

}  // namespace

base::Error bad_request(std::string message) { return base::make_error(Code::kBadRequest, std::move(message)); }

base::Status check_members(const Call& call, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (!call.body.has(name)) return bad_request(base::format("{} is missing in the body", name));
  return {};
}

base::Result<Json> get(Facts& facts, const api::ResourceId& resource, const std::string& ns, const std::string& name) {
  return facts.ask(request_of(Verb::kGet, resource, ns, name));
}

base::Result<std::vector<Json>> list(Facts& facts, const api::ResourceId& resource, const std::string& ns,
                                     const Choice& choice) {
  client::Request request = request_of(Verb::kList, resource, ns, {});
  request.label_selector = choice.labels;
  request.field_selector = choice.fields;
  TRY(Json all, facts.ask(std::move(request)));
  return client::items_of(std::move(all), resource);
}

base::Result<Json> create(Facts& facts, const api::ResourceId& resource, const std::string& ns, Json object,
                          bool dry_run) {
  client::Request request = request_of(Verb::kCreate, resource, ns, {});
  request.body = std::move(object);
  request.dry_run = dry_run;
  return facts.ask(std::move(request));
}

base::Result<Json> merge(Facts& facts, const api::ResourceId& resource, const std::string& ns, const std::string& name,
                         Json patch) {
  client::Request request = request_of(Verb::kPatch, resource, ns, name);
  request.body = std::move(patch);
  return facts.ask(std::move(request));
}

base::Status remove(Facts& facts, const api::ResourceId& resource, const std::string& ns, const std::string& name,
                    std::string_view propagation) {
  client::Request request = request_of(Verb::kDelete, resource, ns, name);
  request.body = Json::object({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", propagation}});
  TRY_VOID(facts.ask(std::move(request)));
  return {};
}

base::Result<std::vector<Json>> events_of(Facts& facts, const std::string& ns, std::string_view kind,
                                          std::string_view name) {
  std::string fields = base::format("involvedObject.kind={}", kind);
  if (!name.empty()) fields += base::format(",involvedObject.name={}", name);
  return list(facts, api::resources::kEvents, ns, {.fields = std::move(fields)});
}

Reply answer(std::string_view key, Json data) { return {.body = Json::object({{key, std::move(data)}})}; }

Reply message(std::string text) { return answer("message", text); }

Json status(std::string_view phase, std::string_view message, std::string_view state) {
  return Json::object({{"phase", phase}, {"message", message}, {"state", state}});
}

bool is_missing(const base::Error& error, Facts& facts) {
  return !facts.next() && (error.code == Code::kNotFound || error.code == Code::kForbidden);
}

}  // namespace webapps
