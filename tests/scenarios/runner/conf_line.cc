// Which configuration does a conf line say?
#include "conf_line.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"

namespace scenario {
namespace {

api::Json value_from(const std::string& text) {
  // Lists and maps are written with single quotes, as double ones end words.
  std::string json = text;
  if (json.starts_with('[') || json.starts_with('{')) std::replace(json.begin(), json.end(), '\'', '"');
  auto parsed = api::parse_json(json);
  return parsed.ok() ? *parsed : api::Json(text);
}

// "gang(enablePreemptable=false)" or "binpack(binpack.cpu=5)"; switches begin with "enable" and hold no dot.
api::Json plugin_from(const std::string& text) {
  const std::size_t open = text.find('(');
  api::Json out = api::Json::object({{"name", text.substr(0, open)}});
  if (open == std::string::npos) return out;
  for (const std::string& pair : words_of(text.substr(open + 1, text.size() - open - 2))) {
    const std::size_t equals = pair.find('=');
    const std::string key = pair.substr(0, equals);
    const bool is_switch =
        key.starts_with("enable") && key.find('.') == std::string::npos && key != "enablePreferredOrder";
    if (is_switch)
      out.set(key, value_from(pair.substr(equals + 1)));
    else
      out.edit("arguments").set(key, value_from(pair.substr(equals + 1)));
  }
  return out;
}

// {"gang": {...}} adds arguments to a plugin; {"document": {...}} adds keys to the configuration.
void apply_patch(const api::Json& patch, api::Json& document) {
  for (const auto& member : patch.members()) {
    if (member.name() == "document") {
      for (const auto& key : member.value.members()) document.set(key.name(), key.value);
      continue;
    }
    api::Json& tiers = document.edit("tiers");
    for (std::size_t t = 0; t < tiers.size(); ++t) {
      api::Json& plugins = tiers.edit(t).edit("plugins");
      for (std::size_t i = 0; i < plugins.size(); ++i) {
        if (plugins[i]["name"].as_string() != member.name()) continue;
        for (const auto& argument : member.value.members())
          plugins.edit(i).edit("arguments").set(argument.name(), argument.value);
      }
    }
  }
}

}  // namespace

api::Json configuration_from(const Line& line) {
  api::Json document = api::Json::object({{"actions", line.get("actions", "enqueue, allocate, backfill")}});
  std::vector<api::Json> tiers;
  std::string rest = line.get("tiers");
  for (std::size_t start = 0; start < rest.size();) {
    const std::size_t bar = std::min(rest.find('|', start), rest.size());
    std::vector<api::Json> plugins;
    for (const std::string& word : words_of(rest.substr(start, bar - start))) plugins.push_back(plugin_from(word));
    tiers.push_back(api::Json::object({{"plugins", api::Json::array(std::move(plugins))}}));
    start = bar + 1;
  }
  document.set("tiers", api::Json::array(std::move(tiers)));
  std::map<std::string, api::Json> arguments;
  for (const auto& [key, value] : line.fields) {  // allocate.predicateErrorCacheEnable=false
    const std::size_t dot = key.find('.');
    if (dot == std::string::npos) continue;
    arguments.try_emplace(key.substr(0, dot), api::Json::object())
        .first->second.set(key.substr(dot + 1), value_from(value));
  }
  std::vector<api::Json> configurations;
  for (const auto& [action, map] : arguments)
    configurations.push_back(api::Json::object({{"name", action}, {"arguments", map}}));
  document.set("configurations", api::Json::array(std::move(configurations)));
  apply_patch(line.patch, document);
  return document;
}

}  // namespace scenario
