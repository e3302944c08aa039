// Segments of a path: group, version, namespace, resource, name, subresource.
#include "apiserver/http/requested_resource.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "api/selector.h"
#include "apiserver/http/query_options.h"

namespace apiserver {
namespace {

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> all;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) all.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return all;
}

std::string_view verb_of(std::string_view method, bool is_named, bool is_watch) {
  if (is_watch && (method == "GET" || method == "HEAD")) return "watch";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return is_named ? "delete" : "deletecollection";
  if (method != "GET" && method != "HEAD") return "";
  return is_named ? "get" : "list";
}

}  // namespace

std::optional<RequestedResource> requested_resource(const rt::HttpRequest& http, const rt::Target& target) {
  const std::vector<std::string_view> parts = segments(target.path);
  const bool has_group = !parts.empty() && parts[0] == "apis";
  const std::size_t first = has_group ? 3 : 2;  // behind the version
  if (parts.size() <= first || (!has_group && parts[0] != "api")) return {};
  RequestedResource wanted;
  if (has_group) wanted.of.group = parts[1];
  wanted.version = parts[first - 1];
  std::size_t at = first;
  const bool old_watch = parts[at] == "watch" && parts.size() > at + 1;  // the old form of a watch
  if (old_watch) ++at;
  if (parts[at] == "namespaces" && parts.size() > at + 1) {
    wanted.of.ns = parts[at + 1];
    const bool of_itself =
        parts.size() > at + 2 && !has_group && (parts[at + 2] == "status" || parts[at + 2] == "finalize");
    if (parts.size() > at + 2 && !of_itself) at += 2;
  }
  wanted.of.resource = parts[at];
  if (parts.size() > at + 1) wanted.of.name = parts[at + 1];
  if (parts.size() > at + 2) wanted.of.subresource = parts[at + 2];
  wanted.of.verb = verb_of(http.method, !wanted.of.name.empty(), old_watch || asks_for(target, "watch"));
  if (wanted.of.name.empty() && (wanted.of.verb == "list" || wanted.of.verb == "watch"))
    wanted.of.name = selected_name(target.get("fieldSelector"));
  return wanted;
}

std::string selected_name(std::string_view field_selector) {
  const auto terms = api::parse_field_selector(field_selector);
  if (!terms.ok()) return {};
  const auto found = std::ranges::find_if(
      *terms, [](const api::FieldTerm& term) { return term.equal && term.path == "metadata.name"; });
  if (found == terms->end()) return {};
  const std::string& name = found->value;
  const bool fits_in_path = name != "." && name != ".." && name.find_first_of("/%") == std::string::npos;
  return fits_in_path ? name : std::string();
}

}  // namespace apiserver
