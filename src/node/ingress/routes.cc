// Hosts first, then the longest path. A host is its first namespace's, and rules without a host go by their paths: a
// page of one namespace must not come from the origin of another.
#include "node/ingress/routes.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "rt/http/http.h"

namespace node::ingress {

using api::Json;

namespace {

// The host of a request: without port, in small letters, without a dot at its end.
std::string plain_host(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  host = host.substr(0, end);
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string out(host);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// "*.example.com" of "a.example.com".
std::string wildcard_of(std::string_view host) {
  const std::size_t dot = host.find('.');
  return dot == std::string_view::npos || dot == 0 ? std::string() : "*" + std::string(host.substr(dot));
}

// With its percent signs resolved, but for a slash that is part of a name.
std::string plain_path(std::string_view path) {
  for (const std::string_view slash : {"%2f", "%2F"})
    if (path.find(slash) != std::string_view::npos) return std::string(path);
  return rt::parse_target(path).path;
}

std::string_view without_slash(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

bool is_below(std::string_view prefix, std::string_view path) {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

Backend backend_of(const Json& ingress, const Json& backend) {
  const Json& service = backend["service"];
  return {std::string(api::namespace_of(ingress)), service["name"].str(), service["port"]["name"].str(),
          service["port"]["number"].as_int()};
}

std::pair<std::string, std::string> age(const Json* ingress) {
  return {(*ingress)["metadata"]["creationTimestamp"].str(), api::key_of(*ingress)};
}

// Hosts with TLS are meant to be asked by it, as other controllers take them, unless an annotation says otherwise.
bool wants_https(const Json& ingress, std::string_view host) {
  for (const std::string_view name : {"ingress.volcano.sh/ssl-redirect", "nginx.ingress.kubernetes.io/ssl-redirect"})
    if (ingress["metadata"]["annotations"][name].as_string() == "false") return false;
  for (const Json& row : ingress["spec"]["tls"].items()) {
    if (row["hosts"].empty()) return true;
    for (const Json& named : row["hosts"].items()) {
      std::string_view text = named.as_string();
      if (text == host) return true;
      if (!text.starts_with("*.") || host.find('.') == std::string_view::npos) continue;
      text.remove_prefix(1);
      if (host.substr(host.find('.')) == text) return true;
    }
  }
  return false;
}

}  // namespace

Routes::Routes(std::vector<const Json*> ingresses) {
  std::ranges::stable_sort(ingresses, {}, age);
  for (const Json* one : ingresses) add(*one);
  for (auto& [name, host] : hosts_)
    std::ranges::stable_sort(host.paths, [](const Path& a, const Path& b) {
      return std::pair(b.text.size(), a.how) < std::pair(a.text.size(), b.how);
    });
}

void Routes::add(const Json& ingress) {
  bool any = add_tls(ingress);
  const Json& rules = ingress["spec"]["rules"];
  for (std::size_t i = 0; i < rules.size(); ++i) any |= add_rule(ingress, rules[i], base::format("spec.rules[{}]", i));
  if (rules.empty()) any |= add_fallback("", ingress, "spec.defaultBackend");
  if (any) served_.push_back(api::key_of(ingress));
}

bool Routes::add_rule(const Json& ingress, const Json& rule, const std::string& where) {
  const std::string host = rule["host"].str();
  if (!host.empty() && !claim(host, ingress, where + ".host")) return false;
  bool any = !ingress["spec"]["defaultBackend"].is_null() && add_fallback(host, ingress, "spec.defaultBackend");
  const Json& paths = rule["http"]["paths"];
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string_view type = paths[i]["pathType"].as_string();
    const std::string text = paths[i]["path"].str();
    Path path{.text = text, .how = How::kExact, .backend = backend_of(ingress, paths[i]["backend"])};
    if (type != "Exact") {
      path.how = type == "Prefix" ? How::kPrefix : How::kOwn;
      path.text = without_slash(text);
    }
    path.backend.https_only = wants_https(ingress, host);
    any |= add_path(host, std::move(path), ingress, base::format("{}.http.paths[{}]", where, i));
  }
  return any;
}

bool Routes::claim(const std::string& host, const Json& ingress, const std::string& where) {
  const std::string ns(api::namespace_of(ingress));
  if (const std::string* owner = owner_of(host); owner != nullptr && *owner != ns) {
    refuse(ingress, base::format("{}: {:?} is a host of namespace {}, whose Ingress is older", where, host, *owner));
    return false;
  }
  hosts_[host].owner = ns;
  return true;
}

bool Routes::add_path(const std::string& host, Path path, const Json& ingress, const std::string& where) {
  if (path.backend.service.empty()) {
    refuse(ingress, where + ".backend.resource: only Services are served here");
    return false;
  }
  Host& of = hosts_[host];
  for (const Path& other : of.paths) {
    const bool same = other.text == path.text && other.how == path.how;
    if (other.backend.ns != path.backend.ns &&
        (same || (other.how != How::kExact && is_below(other.text, path.text)))) {
      refuse(ingress, base::format("{}.path: {:?} is a path of namespace {}, whose Ingress is older", where,
                                   path.text.empty() ? "/" : path.text, other.backend.ns));
      return false;
    }
    if (same) return true;  // the older rule of the namespace has it
  }
  of.paths.push_back(std::move(path));
  return true;
}

bool Routes::add_fallback(const std::string& host, const Json& ingress, const std::string& where) {
  const Json& backend = ingress["spec"]["defaultBackend"];
  if (backend["service"].is_null()) {
    if (!backend.is_null()) refuse(ingress, where + ".resource: only Services are served here");
    return false;
  }
  std::vector<Path>& all = hosts_[host].fallback;
  const std::string_view ns = api::namespace_of(ingress);
  if (std::ranges::any_of(all, [ns](const Path& one) { return one.backend.ns == ns; })) return true;
  if (host.empty() && !all.empty()) {
    refuse(ingress, base::format("{}: whatever has no rule is that of namespace {}, whose Ingress is older", where,
                                 all.front().backend.ns));
    return false;
  }
  all.push_back({.text = "", .how = How::kPrefix, .backend = backend_of(ingress, backend)});
  all.back().backend.https_only = wants_https(ingress, host);
  return true;
}

bool Routes::add_tls(const Json& ingress) {
  const Json& rows = ingress["spec"]["tls"];
  const std::string ns(api::namespace_of(ingress)), key = api::key_of(ingress);
  bool any = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string secret = rows[i]["secretName"].str();
    std::vector<std::string> hosts;
    for (const Json& host : rows[i]["hosts"].items()) hosts.push_back(host.str());
    if (hosts.empty())
      for (const Json& rule : ingress["spec"]["rules"].items()) hosts.push_back(rule["host"].str());
    if (hosts.empty()) hosts.emplace_back();
    for (const std::string& host : hosts) {
      if (!host.empty() && !claim(host, ingress, base::format("spec.tls[{}].hosts", i))) continue;
      if (secret.empty()) continue;
      const bool taken = std::ranges::any_of(tls_, [&host](const TlsUse& use) { return use.host == host; });
      if (!taken) tls_.push_back({ns, secret, host, key});
      any |= !taken;
    }
  }
  return any;
}

void Routes::refuse(const Json& ingress, std::string why) {
  refused_.push_back({api::key_of(ingress), std::move(why)});
}

const std::string* Routes::owner_of(const std::string& host) const {
  const Host* found = host_of(host);
  return found == nullptr || found->owner.empty() ? nullptr : &found->owner;
}

const Routes::Host* Routes::host_of(std::string_view host) const {
  auto found = hosts_.find(host);
  if (found == hosts_.end() && !host.starts_with('*')) found = hosts_.find(wildcard_of(host));
  return found == hosts_.end() ? nullptr : &found->second;
}

bool Routes::matches(const Path& path, std::string_view asked) {
  return path.how == How::kExact ? asked == path.text : is_below(path.text, asked);
}

const Backend* Routes::find(std::string_view host, std::string_view path) const {
  const std::string asked_host = plain_host(host), asked = plain_path(path);
  if (asked_host.starts_with('*') || !asked.starts_with('/')) return nullptr;
  std::vector<const Host*> all;
  for (const std::string& name : {asked_host, wildcard_of(asked_host), std::string()})
    if (const auto found = hosts_.find(name); found != hosts_.end()) all.push_back(&found->second);
  // The owner of a host has all of it: rules of others that have no host do not count for it.
  const std::string owner = all.empty() ? std::string() : all.front()->owner;
  const auto counts = [&owner](const Path& one) { return owner.empty() || one.backend.ns == owner; };
  for (const Host* one : all)
    for (const Path& row : one->paths)
      if (counts(row) && matches(row, asked)) return &row.backend;
  for (const Host* one : all)
    for (const Path& row : one->fallback)
      if (counts(row)) return &row.backend;
  return nullptr;
}

}  // namespace node::ingress
