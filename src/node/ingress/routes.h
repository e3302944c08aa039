// Which Service a request belongs to, by host and path, as Kubernetes' Ingresses say it; and which Ingresses say what
// is another namespace's already. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"

namespace node::ingress {

struct Backend {
  std::string ns, service;
  std::string port_name;  // empty: `port`
  std::int64_t port = 0;
  bool https_only = false;  // a plain request is sent to the port of TLS

  bool operator==(const Backend&) const = default;
};

// A Secret of a namespace, and the name that its certificate is for: "a.example.com", "*.example.com", or empty for
// whatever nobody else has.
struct TlsUse {
  std::string ns, secret, host;
  std::string ingress;  // its key
};

class Routes {
 public:
  // An Ingress, or a part of it, that is not served.
  struct Refused {
    std::string ingress;  // its key
    std::string why;
  };

  Routes() = default;
  // The Ingresses that are served here come in any order: the oldest has what several want.
  explicit Routes(std::vector<const api::Json*> ingresses);

  // `host` as in a request's header, with or without its port; `path` as it was sent, without the query. Null: nothing
  // is there.
  const Backend* find(std::string_view host, std::string_view path) const;

  const std::vector<Refused>& refused() const { return refused_; }
  const std::vector<TlsUse>& tls() const { return tls_; }
  // Keys of the Ingresses of which something is served.
  const std::vector<std::string>& served() const { return served_; }

 private:
  // From the strongest of equally long ones to the weakest.
  enum class How : std::uint8_t { kExact, kPrefix, kOwn };
  struct Path {
    std::string text;  // without the slash at its end, but for an exact one
    How how = How::kPrefix;
    Backend backend;
  };
  // The paths of one host; its name is "" where a rule names none.
  struct Host {
    std::string owner;           // namespace; of the rules without a host nobody's
    std::vector<Path> paths;     // the longest first
    std::vector<Path> fallback;  // for paths that none of them has: one a namespace, the oldest first
  };

  void add(const api::Json& ingress);
  bool claim(const std::string& host, const api::Json& ingress, const std::string& where);
  bool add_rule(const api::Json& ingress, const api::Json& rule, const std::string& where);
  bool add_path(const std::string& host, Path path, const api::Json& ingress, const std::string& where);
  bool add_fallback(const std::string& host, const api::Json& ingress, const std::string& where);
  bool add_tls(const api::Json& ingress);
  void refuse(const api::Json& ingress, std::string why);
  const Host* host_of(std::string_view host) const;
  const std::string* owner_of(const std::string& host) const;
  static bool matches(const Path& path, std::string_view asked);

  std::map<std::string, Host, std::less<>> hosts_;
  std::vector<Refused> refused_;
  std::vector<TlsUse> tls_;
  std::vector<std::string> served_;
};

}  // namespace node::ingress
