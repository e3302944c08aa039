// A browser keeps what it knows of an origin. A port that was another namespace's would show its tabs and stored data
// to the next one, so that the file of ports is kept, and a port that cannot be had again is replaced by one never
// used.
#include "main/page/notebook_origins.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "base/number.h"
#include "base/split.h"
#include "rt/files/bounded_files.h"
#include "rt/files/files.h"

namespace volcano_main {
namespace {

constexpr std::size_t kFileMax = std::size_t{4} << 20, kBodyMax = std::size_t{64} << 20;
constexpr int kConnectionsMax = 1024, kStrangersMax = 256;

}  // namespace

NotebookOrigins::NotebookOrigins(OriginOptions options) : options_(std::move(options)) {
  if (options_.file.empty()) return;
  const auto text = rt::read_bounded_file(options_.file, kFileMax, {});
  if (!text.ok()) return;  // there is none before the first notebook
  for (const std::string_view line : base::split_words(*text, '\n')) {
    const auto words = base::split_words(line, ' ');
    const auto port = base::parse_number<std::uint16_t>(words.front());
    if (!port || words.size() > 2) {
      base::log_warning("page",
                        base::format("{}: the line {:?} is not a port with its namespace", options_.file, line));
      continue;
    }
    owners_[*port] = words.size() == 2 ? std::string(words[1]) : std::string();
  }
}

base::Result<std::uint16_t> NotebookOrigins::port_of(const std::string& ns,
                                                     const std::shared_ptr<ui::NotebookGate>& gate) {
  if (const auto found = open_.find(ns); found != open_.end()) return found->second->port();
  for (auto& [port, owner] : owners_) {
    if (owner != ns) continue;
    if (listen(ns, port, gate).ok()) return port;
    owner.clear();  // another program has it
  }
  if (options_.ports.first == 0) {
    TRY_VOID(listen(ns, 0, gate));
    return open_[ns]->port();
  }
  for (int port = options_.ports.first; port <= options_.ports.last; ++port) {
    const auto number = static_cast<std::uint16_t>(port);
    if (owners_.contains(number) || !listen(ns, number, gate).ok()) continue;
    owners_[number] = ns;
    if (const base::Status kept = keep(); !kept.ok()) base::log_warning("page", kept.error().message);
    return number;
  }
  return base::make_error(base::Code::kUnavailable,
                          base::format("--notebook-ports: each of {}-{} is another namespace's, or in use",
                                       options_.ports.first, options_.ports.last));
}

base::Status NotebookOrigins::listen(const std::string& ns, std::uint16_t port,
                                     const std::shared_ptr<ui::NotebookGate>& gate) {
  rt::ServerOptions options{.address = options_.address, .port = port, .tls = options_.keys};
  // A page asks for many files; over HTTP/1.1 a browser has six requests under way, which its user's share of streams
  // into pods has room for.
  options.offer_http2 = false;
  options.body_bytes_max = kBodyMax;
  options.connections_max = kConnectionsMax;
  options.strangers_of_an_address_max = kStrangersMax;
  options.recognized_as = [gate, ns](const rt::HttpRequest& http) { return gate->user_of(ns, http); };
  options.refusal_before_body = [gate, ns](const rt::HttpRequest& http) { return gate->refusal(ns, http); };
  TRY(auto server,
      rt::listen_http(std::move(options), [gate, ns](rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
        gate->serve(ns, std::move(http), std::move(exchange));
      }));
  open_[ns] = std::move(server);
  return {};
}

base::Status NotebookOrigins::keep() const {
  if (options_.file.empty()) return {};
  std::string text;
  for (const auto& [port, owner] : owners_) text += base::format("{} {}\n", port, owner);
  return rt::write_file(options_.file, text, 0600);
}

base::Status NotebookOrigins::set_keys(const rt::ServerKeys& keys) {
  options_.keys = keys;
  for (const auto& [ns, server] : open_) TRY_VOID(server->set_keys(keys));
  return {};
}

}  // namespace volcano_main
