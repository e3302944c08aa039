// /healthz and /metrics.
#include "main/host/base/side_server.h"

#include <optional>

#include "base/format.h"
#include "main/host/base/address.h"
#include "main/host/base/end_answering.h"
#include "main/host/base/process_metrics.h"
#include "rt/files/files.h"

namespace volcano_main {
namespace {

constexpr int kSideConnectionsMax = 64;  // of scrapers and probes

// COMPAT(tls-in-part): keys that are named in part are a mistake, and no reason to serve without them.
base::Result<std::optional<rt::ServerKeys>> read_keys(const SideServerOptions& options) {
  const std::pair<const char*, const std::string*> files[] = {
      {"--ca-cert-file", &options.ca_cert_file},
      {"--tls-cert-file", &options.tls_cert_file},
      {"--tls-private-key-file", &options.tls_private_key_file}};
  std::string given, missing;
  for (const auto& [flag, path] : files) (path->empty() ? missing : given) += std::string(" ") + flag;
  if (given.empty()) return std::optional<rt::ServerKeys>();
  if (!missing.empty())
    return base::make_error(base::Code::kInvalid, base::format("TLS is asked for by{}, and{} not given", given,
                                                               missing + (missing.rfind(' ') > 0 ? " are" : " is")));
  rt::ServerKeys keys;
  TRY(keys.client_ca_pem, rt::read_file(options.ca_cert_file));
  TRY(keys.certificate_pem, rt::read_file(options.tls_cert_file));
  TRY(keys.key_pem, rt::read_file(options.tls_private_key_file));
  return std::optional(std::move(keys));
}

}  // namespace

base::Result<std::unique_ptr<rt::HttpServer>> start_side_server(const SideServerOptions& options) {
  TRY(const HostPort place, parse_host_port(options.address));
  rt::ServerOptions http;
  http.address = place.host;
  http.port = place.port;
  http.connections_max = kSideConnectionsMax;
  http.header_time_max = base::seconds(5);
  http.request_time_max = base::seconds(30);
  http.last_request_time_max = kLastRequestMax;
  http.tls = options.keys;
  if (!http.tls) {
    TRY(http.tls, read_keys(options));
  }
  const auto handler = [metrics = options.metrics, pages = options.pages, posts = options.posts,
                        healthz = options.healthz, stands_still = options.stands_still, not_ready = options.not_ready](
                           rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange) {
    const std::string path = rt::parse_target(request.target).path;
    const rt::Headers headers = {{"Content-Type", "text/plain; charset=utf-8"}};
    if (healthz && (path == "/healthz" || path == "/healthz/ping")) {
      const bool dead = stands_still && stands_still();
      return exchange->respond({dead ? 503 : 200, headers, dead ? "the loop stands still\n" : "ok"});
    }
    if (not_ready && path == "/readyz") {
      const std::string why = not_ready();
      return exchange->respond({why.empty() ? 200 : 503, headers, why.empty() ? "ok" : why + "\n"});
    }
    if (metrics && path == "/metrics")
      return exchange->respond(
          {200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, metrics() + process_metrics()});
    if (const auto page = pages.find(path); page != pages.end())
      return page->second([exchange](std::string text) {
        exchange->respond({200, {{"Content-Type", "application/json"}}, std::move(text)});
      });
    if (const auto post = posts.find(path); post != posts.end()) {
      if (request.method == "POST") return post->second(std::move(request.body), std::move(exchange));
      return exchange->respond({405, headers, "the body is sent with POST\n"});
    }
    exchange->respond({404, headers, "404 page not found\n"});
  };
  return rt::listen_http(std::move(http), handler);
}

}  // namespace volcano_main
