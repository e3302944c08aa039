// A Job from a few words (cli.md 2.2, 3.1).
#include <algorithm>

#include "api/schema/quantity.h"
#include "base/format.h"
#include "cli/job.h"
#include "cli/table.h"

namespace cli {

using api::Json;

base::Result<Json> parse_resources(const std::string& text) {
  Json list = Json::object();
  if (text.empty()) return list;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string part = text.substr(start, comma - start);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || part.find('=', equals + 1) != std::string::npos)
      return usage_error(base::format("invalid argument syntax {}, expected <resource>=<value>", part));
    const auto quantity = api::Quantity::parse(part.substr(equals + 1));
    if (!quantity)
      return usage_error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    list.set(part.substr(0, equals), quantity->to_string());
    start = comma + 1;
  }
  return list;
}

base::Result<Json> make_job(const NewJob& from) {
  TRY(const Json requests, parse_resources(from.requests));
  TRY(const Json limits, parse_resources(from.limits));
  Json container = Json::object({{"image", from.image},
                                 {"name", from.name},
                                 {"imagePullPolicy", "IfNotPresent"},
                                 {"resources", Json::object({{"limits", limits}, {"requests", requests}})}});
  if (!from.command.empty()) {
    Json words = Json::array();
    for (const std::string& word : from.command) words.push_back(word);
    container.set("command", std::move(words));
  }
  Json pod = Json::object(
      {{"metadata", Json::object({{"name", from.name}, {"labels", Json::object({{"job.volcano.sh", from.name}})}})},
       {"spec", Json::object({{"restartPolicy", "Never"}, {"containers", Json::array({std::move(container)})}})}});
  Json task = Json::object({{"replicas", from.replicas}, {"template", std::move(pod)}});
  return Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"},
                       {"kind", "Job"},
                       {"metadata", Json::object({{"name", from.name}, {"namespace", from.ns}})},
                       {"spec", Json::object({{"minAvailable", from.min_available},
                                              {"schedulerName", from.scheduler},
                                              {"tasks", Json::array({std::move(task)})}})}});
}

}  // namespace cli
