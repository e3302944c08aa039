// A small server beside a program: /healthz, /readyz and /metrics.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "rt/http/server/http_server.h"

namespace volcano_main {

// How long a loop may stand still before a program counts as dead. No cycle of a scheduler takes as long.
inline constexpr base::Duration kLoopStillMax = base::seconds(60);

struct SideServerOptions {
  std::string address;  // "host:port" or ":port"
  // PEM files; all or none. With them the server speaks TLS.
  std::string ca_cert_file, tls_cert_file, tls_private_key_file;
  // Instead of those files.
  std::optional<rt::ServerKeys> keys = {};
  // The text of /metrics before what the process uses, from any thread; unset: there is none.
  std::function<std::string()> metrics;
  bool healthz = false;
  // /healthz fails while this says so, from any thread; unset: it never does.
  std::function<bool()> stands_still = {};
  // Why this program is not ready, empty if it is: what /readyz answers, from any thread; unset: there is none.
  std::function<std::string()> not_ready = {};
  // Further paths: each answers JSON through its argument, from any thread.
  std::map<std::string, std::function<void(std::function<void(std::string)>)>> pages = {};
  // Paths that take a body with POST: each answers its exchange once, from any thread.
  std::map<std::string, std::function<void(std::string body, std::shared_ptr<rt::HttpExchange>)>> posts = {};
};

base::Result<std::unique_ptr<rt::HttpServer>> start_side_server(const SideServerOptions& options);

}  // namespace volcano_main
