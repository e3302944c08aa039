// Names and forms are those of Argo's documentation.
#include "pipelines/argo/globals.h"

#include <ctime>

#include "api/meta/resource.h"
#include "base/format.h"
#include "pipelines/argo/operation.h"

namespace pipelines::argo {

using api::Json;

namespace {

// {{workflow.creationTimestamp}}, and each part of it by the letter that strftime has for it.
void add_time(std::string_view created, Variables& out) {
  out.set("workflow.creationTimestamp", std::string(created));
  const auto time = base::parse_rfc3339(created);
  if (!time) return;
  const std::time_t seconds = time->ns / 1'000'000'000;
  std::tm parts{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return;
  for (const char letter : std::string_view("AaBbCcDdeFHhIjklMmnpRrSTtUuVvWwXxYyZz")) {
    const char format[] = {'%', letter, 0};
    char text[64];
    const std::size_t size = std::strftime(text, sizeof text, format, &parts);
    out.set(base::format("workflow.creationTimestamp.{}", letter), std::string(text, size));
  }
  out.set("workflow.creationTimestamp.s", base::format("{}", seconds));
  out.set("workflow.creationTimestamp.RFC3339", std::string(created));
}

void add_map(const Json& metadata, std::string_view map, Variables& out) {
  const std::string all = metadata[map].is_object() ? metadata[map].dump() : "{}";
  out.set(base::format("workflow.{}", map), all);
  out.set(base::format("workflow.{}.json", map), all);
  for (const Json::Member& one : metadata[map].members())
    out.set(base::format("workflow.{}.{}", map, one.name()), one.value.str());
}

}  // namespace

Variables globals_of(const WorkflowLook& look) {
  const Json& metadata = look.workflow["metadata"];
  const Json& spec = look.workflow["spec"];
  Variables out;
  out.set("workflow.name", std::string(api::name_of(look.workflow)));
  out.set("workflow.namespace", std::string(api::namespace_of(look.workflow)));
  out.set("workflow.uid", metadata["uid"].str());
  out.set("workflow.mainEntrypoint", spec["entrypoint"].str());
  out.set("workflow.serviceAccountName", account_of(look.workflow, Json()));
  out.set("workflow.status", "Running");
  out.set("workflow.failures", "[]");
  const auto began = base::parse_rfc3339(look.workflow["status"]["startedAt"].as_string());
  out.set("workflow.duration", base::format("{:.6f}", began ? (look.now - *began).seconds() : 0.0));
  add_time(metadata["creationTimestamp"].as_string(), out);
  for (const std::string_view map : {"labels", "annotations"}) add_map(metadata, map, out);
  const Json& parameters = spec["arguments"]["parameters"];
  for (const Json& one : parameters.items())
    if (one.has("value"))
      out.set(base::format("workflow.parameters.{}", one["name"].as_string()), text_of(one["value"]));
  for (const char* name : {"workflow.parameters", "workflow.parameters.json"})
    out.set(name, parameters.is_array() ? parameters.dump() : "[]");
  return out;
}

}  // namespace pipelines::argo
