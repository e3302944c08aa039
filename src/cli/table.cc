// Printing and calling, shared by the nouns.
#include "cli/table.h"

#include "api/resource.h"
#include "base/format.h"

namespace cli {

using api::Json;

std::string table_line(const std::vector<Cell>& cells) {
  std::string line;
  for (const Cell& cell : cells) line += base::format("{:<{}}", cell.text, cell.width);
  return line + "\n";
}

std::string long_span(base::Duration span) {
  const std::int64_t s = span.ns / 1'000'000'000;
  if (s < -1) return "<invalid>";
  if (span.ns < 0) return "0s";
  if (s < 120) return base::format("{}s", s);
  const std::int64_t m = s / 60;
  if (m < 10) return s % 60 == 0 ? base::format("{}m", m) : base::format("{}m{}s", m, s % 60);
  if (m < 180) return base::format("{}m", m);
  const std::int64_t h = m / 60;
  if (h < 8) return m % 60 == 0 ? base::format("{}h", h) : base::format("{}h{}m", h, m % 60);
  if (h < 48) return base::format("{}h", h);
  const std::int64_t d = h / 24;
  if (d < 8) return h % 24 == 0 ? base::format("{}d", d) : base::format("{}d{}h", d, h % 24);
  const std::int64_t y = d / 365;
  if (y < 2) return base::format("{}d", d);
  if (y < 8) return base::format("{}y{}d", y, d % 365);
  return base::format("{}y", y);
}

std::vector<Flag> with_connection(std::vector<Flag> flags) {
  flags.push_back({"kubeconfig", 'k', Flag::Type::kText, "", "(optional) absolute path to the kubeconfig file"});
  flags.push_back({"master", 's', Flag::Type::kText, "", "the address of apiserver"});
  return flags;
}

base::Result<std::unique_ptr<Api>> connect(World& world, const Values& values) {
  return world.connect(values.text("kubeconfig"), values.text("master"));
}

base::Result<Json> get(Api& server, const api::ResourceId& resource, const std::string& ns, const std::string& name) {
  return server.call({.verb = client::Verb::kGet, .resource = resource, .ns = ns, .name = name, .subresource = {}});
}

base::Result<std::vector<Json>> list(Api& server, const api::ResourceId& resource, const std::string& ns,
                                     const std::string& label_selector) {
  TRY(const Json answer, server.call({.verb = client::Verb::kList,
                                      .resource = resource,
                                      .ns = ns,
                                      .name = {},
                                      .subresource = {},
                                      .label_selector = label_selector}));
  const auto items = answer["items"].items();
  return std::vector<Json>(items.begin(), items.end());
}

base::Status send_command(Api& server, const Json& target, const std::string& ns, std::string_view action) {
  std::string lower(action);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const Json reference = api::controller_reference(target);
  Json command =
      Json::object({{"apiVersion", "bus.volcano.sh/v1alpha1"},
                    {"kind", "Command"},
                    {"metadata", Json::object({{"generateName", base::format("{}-{}-", api::name_of(target), lower)},
                                               {"namespace", ns},
                                               {"ownerReferences", Json::array({reference})}})},
                    {"target", reference},
                    {"action", action}});
  TRY_VOID(server.call({.verb = client::Verb::kCreate,
                        .resource = api::resources::kCommands,
                        .ns = ns,
                        .name = {},
                        .subresource = {},
                        .body = std::move(command)}));
  return {};
}

base::Error usage_error(std::string message) { return base::make_error(base::Code::kBadRequest, std::move(message)); }

}  // namespace cli
