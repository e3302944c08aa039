// Printing and calling, shared by the nouns.
#include "cli/table.h"

#include <set>

#include "api/kinds.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/utf8.h"
#include "client/http/request_names.h"

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

bool is_for_people(const World& world, const Values& values) {
  return values.text("output") == "table" || world.terminal.is_for_people;
}

std::string age_of(const World& world, const Json& object) {
  const auto created = base::parse_rfc3339(object["metadata"]["creationTimestamp"].as_string());
  return created ? base::format_human_duration(world.now() - *created) : "-";
}

std::vector<Flag> with_connection(std::vector<Flag> flags) {
  flags.push_back({"kubeconfig", 'k', Flag::Type::kText, "", "(optional) absolute path to the kubeconfig file"});
  flags.push_back({"master", 's', Flag::Type::kText, "", "the address of apiserver"});
  return flags;
}

base::Result<std::unique_ptr<Api>> connect(World& world, const Values& values) {
  return world.connect(values.text("kubeconfig"), values.text("master"));
}

base::Result<Json> call_one(Api& server, client::Request request) {
  TRY_VOID(client::check_names(request));
  return server.call(std::move(request));
}

base::Result<Json> get(Api& server, const api::ResourceId& resource, const std::string& ns, const std::string& name) {
  return call_one(server,
                  {.verb = client::Verb::kGet, .resource = resource, .ns = ns, .name = name, .subresource = {}});
}

base::Result<std::vector<Json>> list(Api& server, const api::ResourceId& resource, const std::string& ns,
                                     const std::string& label_selector) {
  return list(server, {.verb = client::Verb::kList,
                       .resource = resource,
                       .ns = ns,
                       .name = {},
                       .subresource = {},
                       .label_selector = label_selector});
}

namespace {

// A server that never comes to the last page would be asked for ever, and what it says kept.
constexpr std::size_t kPagesMax = 20'000;
constexpr std::size_t kObjectsMax = 1'000'000;

// Adds what a page holds.
base::Status take_page(const Json& page, std::vector<Json>& all) {
  const auto wrong = [](std::string why) { return base::make_error(base::Code::kInternal, std::move(why)); };
  const Json& items = page["items"];
  if (!items.is_array() && !(items.is_null() && page["kind"].as_string().ends_with("List")))
    return wrong(base::format("the answer is not a list: {}", base::utf8_prefix(page.dump(), 100)));
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i]["metadata"].is_object())
      return wrong(base::format("items[{}] is not an object: {}", i, base::utf8_prefix(items[i].dump(), 100)));
    if (all.size() == kObjectsMax) return wrong(base::format("there are more than {} objects", kObjectsMax));
    all.push_back(items[i]);
  }
  return {};
}

}  // namespace

namespace {

base::Result<std::vector<Json>> list_pages(Api& server, client::Request request) {
  const std::string what = request.resource.plural;
  const auto wrong = [&what](std::string why) {
    return base::within(base::make_error(base::Code::kInternal, std::move(why)), what);
  };
  std::vector<Json> all;
  std::set<std::string> tokens;
  while (true) {
    TRY(const Json page, server.call(request));
    if (base::Status taken = take_page(page, all); !taken.ok()) return base::within(taken.take_error(), what);
    request.continue_token = page["metadata"]["continue"].str();
    if (request.continue_token.empty()) return all;
    if (tokens.size() == kPagesMax) return wrong(base::format("there are more than {} pages", kPagesMax));
    if (!tokens.insert(request.continue_token).second)
      return wrong(
          base::format("the list comes back to the page at {:?}", base::utf8_prefix(request.continue_token, 100)));
  }
}

// The objects of the namespaces that the person may see, where the person may not see all.
base::Result<std::vector<Json>> list_where_allowed(Api& server, client::Request request, base::Error refusal) {
  const auto namespaces =
      list_pages(server, {.verb = client::Verb::kList, .resource = api::resources::kNamespaces, .ns = {}, .name = {}});
  std::vector<std::string> names;
  if (namespaces.ok())
    for (const Json& one : *namespaces) names.emplace_back(api::name_of(one));
  else if (const std::string own = server.own_namespace(); !own.empty())
    names.push_back(own);
  std::vector<Json> all;
  bool may_any = false;
  for (const std::string& name : names) {
    request.ns = name;
    auto part = list_pages(server, request);
    if (!part.ok() && part.error().code == base::Code::kForbidden) continue;
    if (!part.ok()) return part;
    may_any = true;
    all.insert(all.end(), part->begin(), part->end());
  }
  if (!may_any) return refusal;
  return all;
}

}  // namespace

base::Result<std::vector<Json>> list(Api& server, client::Request request) {
  const api::KindInfo* kind = api::find_kind(request.resource);
  const bool everywhere = request.ns.empty() && kind != nullptr && kind->namespaced;
  auto all = list_pages(server, request);
  if (all.ok() || !everywhere || all.error().code != base::Code::kForbidden) return all;
  return list_where_allowed(server, std::move(request), all.take_error());
}

base::Status send_command(Api& server, const Json& target, const std::string& ns, std::string_view action) {
  const std::string lower = base::lower(action);
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
