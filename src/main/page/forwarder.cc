// Relays, and what is changed on their way.
#include "main/page/forwarder.h"

#include <optional>
#include <utility>

#include "api/json/json.h"
#include "base/format.h"

namespace volcano_main {
namespace {

constexpr std::size_t kErrorMax = std::size_t{64} << 10;  // of an answer that may be an error of the API server
constexpr int kSwitchingProtocols = 101, kUnauthorized = 401, kBadGateway = 502;

rt::Headers kept(const rt::Headers& headers) {
  rt::Headers out = {{"X-Content-Type-Options", "nosniff"},
                     {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox"},
                     {"Cross-Origin-Resource-Policy", "same-origin"},
                     {"Cache-Control", "no-store"}};
  for (const char* name : {"Content-Type", "Warning", "Retry-After", "Audit-Id"})
    for (const std::string_view value : rt::all_headers(headers, name)) out.emplace_back(name, value);
  return out;
}

bool is_json(const rt::Headers& headers) { return rt::header(headers, "Content-Type").starts_with("application/json"); }

bool is_status(const std::string& body) {
  const auto parsed = api::parse_json(body);
  return parsed.ok() && (*parsed)["kind"].as_string() == "Status" && (*parsed)["apiVersion"].as_string() == "v1";
}

// Holds an answer back that may be an error of the API server, until its end shows what it is.
class Sifting final : public rt::HttpExchange {
 public:
  explicit Sifting(std::shared_ptr<rt::HttpExchange> inner) : inner_(std::move(inner)) {}

  void respond(rt::HttpResponse response) override { inner_->respond(std::move(response)); }
  void start(int status, rt::Headers headers) override {
    if (status >= 400 && is_json(headers))
      held_ = rt::HttpResponse{status, std::move(headers), "", {}};
    else
      inner_->start(status, std::move(headers));
  }
  void start_web_socket(rt::Headers headers, Messages messages, OnBytes on_bytes) override {
    inner_->start_web_socket(std::move(headers), messages, std::move(on_bytes));
  }
  void start_upgraded(rt::Headers headers, OnBytes on_bytes) override {
    inner_->start_upgraded(std::move(headers), std::move(on_bytes));
  }
  void resume_reading() override { inner_->resume_reading(); }
  void send(std::vector<Bytes> pieces) override {
    if (!held_) return inner_->send(std::move(pieces));
    for (const Bytes& piece : pieces) held_->body += *piece;
    if (held_->body.size() > kErrorMax) let_go();
  }
  void send_shared(std::shared_ptr<const rt::SharedChunk> chunk) override { inner_->send_shared(std::move(chunk)); }
  void finish() override {
    if (held_ && is_status(held_->body)) return inner_->respond(*std::exchange(held_, std::nullopt));
    if (held_) let_go();
    inner_->finish();
  }
  void abandon() override { inner_->abandon(); }
  std::size_t backlog_bytes() const override { return inner_->backlog_bytes(); }
  void on_drained(std::function<void()> callback) override { inner_->on_drained(std::move(callback)); }
  void wait_until_drained() override { inner_->wait_until_drained(); }
  void on_closed(std::function<void()> callback) override { inner_->on_closed(std::move(callback)); }

 private:
  void let_go() {
    rt::HttpResponse held = *std::exchange(held_, std::nullopt);
    inner_->start(held.status, std::move(held.headers));
    inner_->send_one(std::make_shared<const std::string>(std::move(held.body)));
  }

  const std::shared_ptr<rt::HttpExchange> inner_;
  std::optional<rt::HttpResponse> held_;
};

void add_token(rt::HttpRequest& request, std::string_view token) {
  if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + std::string(token));
}

}  // namespace

void Forwarder::forward(const rt::HttpRequest& http, std::string_view token,
                        std::shared_ptr<rt::HttpExchange> exchange) {
  rt::HttpRequest request{.method = http.method, .target = http.target, .headers = {}, .body = http.body};
  for (const char* name : {"Accept", "Content-Type"})
    if (const std::string_view value = rt::header(http.headers, name); !value.empty())
      request.headers.emplace_back(name, value);
  add_token(request, token);
  run(std::move(request), std::move(exchange),
      [](std::uint64_t, rt::HttpExchange& to, int status, const rt::Headers& headers) {
        to.start(status, kept(headers));
      });
}

void Forwarder::stream(std::string path, std::string accept, std::string_view token,
                       std::shared_ptr<rt::HttpExchange> exchange) {
  exchange->start_web_socket({}, rt::HttpExchange::Messages::kBytes);
  rt::HttpRequest request{.method = "GET", .target = std::move(path), .headers = {{"Accept", std::move(accept)}}};
  add_token(request, token);
  run(std::move(request), std::move(exchange), [](std::uint64_t, rt::HttpExchange& to, int status, const rt::Headers&) {
    to.send_one(std::make_shared<const std::string>(base::format("{{\"status\":{}}}\n", status)));
  });
}

void Forwarder::relay(const rt::HttpRequest& http, const std::shared_ptr<rt::HttpExchange>& exchange) {
  rt::HttpRequest request{.method = http.method, .target = http.target, .headers = rt::end_to_end(http.headers)};
  request.body = http.body;
  request.upgrade = http.upgrade;
  run(std::move(request), std::make_shared<Sifting>(exchange),
      [this](std::uint64_t id, rt::HttpExchange& to, int status, const rt::Headers& headers) {
        if (status == kSwitchingProtocols) return relays_->go_on(id, to, headers);
        to.start(status, rt::end_to_end(headers));
      });
}

void Forwarder::run(rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange, Begin begin) {
  if (!server_) return exchange->abandon();
  server_->complete(request);
  rt::Relays::Ways ways;
  ways.begin = [this, begin](std::uint64_t id, rt::HttpExchange& to, int status, const rt::Headers& headers) {
    if (status == kUnauthorized) server_->refused();
    begin(id, to, status, headers);
  };
  ways.failed = [begin](rt::HttpExchange& to, const base::Error& why) {
    begin(0, to, kBadGateway, {{"Content-Type", "text/plain; charset=utf-8"}});
    to.send_one(std::make_shared<const std::string>(why.message + "\n"));
    to.finish();
  };
  relays_->run(server_->http(), std::move(request), std::move(exchange), std::move(ways));
}

void Forwarder::end() {
  relays_->end();
  server_.reset();
}

}  // namespace volcano_main
