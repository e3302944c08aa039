// /healthz and /metrics.
#include "main/side_server.h"

#include <charconv>

#include "base/format.h"
#include "rt/files.h"

namespace volcano_main {

base::Result<std::unique_ptr<rt::HttpServer>> start_side_server(const SideServerOptions& options) {
  rt::ServerOptions http;
  const std::size_t colon = options.address.rfind(':');
  const std::string_view port = std::string_view(options.address).substr(colon == std::string::npos ? 0 : colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), http.port);
  if (colon == std::string::npos || error != std::errc() || end != port.data() + port.size())
    return base::make_error(base::Code::kInvalid, base::format("address \"{}\" is not host:port", options.address));
  http.address = colon == 0 ? "0.0.0.0" : options.address.substr(0, colon);
  if (!options.ca_cert_file.empty() && !options.tls_cert_file.empty() && !options.tls_private_key_file.empty()) {
    TRY(http.client_ca_pem, rt::read_file(options.ca_cert_file));
    TRY(http.certificate_pem, rt::read_file(options.tls_cert_file));
    TRY(http.key_pem, rt::read_file(options.tls_private_key_file));
  }
  const auto handler = [metrics = options.metrics, pages = options.pages, healthz = options.healthz](
                           rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange) {
    const std::string path = rt::parse_target(request.target).path;
    const rt::Headers headers = {{"Content-Type", "text/plain; charset=utf-8"}};
    if (healthz && (path == "/healthz" || path == "/healthz/ping")) return exchange->respond({200, headers, "ok"});
    if (metrics && path == "/metrics")
      return exchange->respond({200, {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}}, metrics()});
    if (const auto page = pages.find(path); page != pages.end())
      return page->second([exchange](std::string text) {
        exchange->respond({200, {{"Content-Type", "application/json"}}, std::move(text)});
      });
    exchange->respond({404, headers, "404 page not found\n"});
  };
  return rt::listen_http(std::move(http), handler);
}

}  // namespace volcano_main
