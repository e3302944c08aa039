// One client for each pod that is spoken to, and a share of the requests for each namespace.
#include "node/ingress/door.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/number.h"
#include "base/split.h"

namespace node::ingress {
namespace {

constexpr int kSwitchingProtocols = 101, kNoContent = 204, kNotModified = 304, kNotFound = 404, kBadGateway = 502,
              kUnavailable = 503, kTimeout = 504;
constexpr int kUnderWayMax = 1024;     // of a namespace, so that none takes the others' connections
constexpr std::size_t kWaysMax = 256;  // each has a thread
constexpr int kTriesMax = 3;
constexpr base::Duration kIdleMax = base::seconds(30);
constexpr base::Duration kAnswerMax = base::seconds(60);  // until an answer begins

rt::HttpResponse answer_with(int status, std::string_view why) {
  return {status,
          {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}},
          std::to_string(status) + ": " + std::string(why) + "\n"};
}
rt::HttpResponse not_found() { return answer_with(kNotFound, "no Ingress of this machine has this host and path"); }

std::string_view path_of(const rt::HttpRequest& http) {
  const std::string_view target = http.target;
  return target.substr(0, target.find('?'));
}

// "a=b; c=d" without those of others.
std::string cookies_of_pod(std::string_view line, const DoorOptions& options) {
  std::string out;
  for (const std::string_view pair : base::split_words(line, ';'))
    if (!options.is_own_cookie(pair.substr(0, pair.find('=')))) out += (out.empty() ? "" : "; ") + std::string(pair);
  return out;
}

}  // namespace

rt::Headers headers_for_pod(const rt::HttpRequest& http, bool tls, const DoorOptions& options) {
  static constexpr std::array<std::string_view, 3> kForwardedHeaders = {"Forwarded", "X-Real-IP", "Proxy"};
  constexpr std::string_view kForwarded = "X-Forwarded-";
  const std::string host(rt::header(http.headers, "Host"));
  rt::Headers out = {{"Host", host}};
  for (const std::string_view agent : rt::all_headers(http.headers, "User-Agent"))
    out.emplace_back("User-Agent", agent);
  for (auto& header : rt::end_to_end(http.headers)) {
    const std::string& name = header.first;
    std::string& value = header.second;
    if (rt::same_header(std::string_view(name).substr(0, kForwarded.size()), kForwarded) ||
        std::ranges::any_of(kForwardedHeaders, [&name](std::string_view one) { return rt::same_header(name, one); }))
      continue;
    if (rt::same_header(name, "Cookie")) value = cookies_of_pod(value, options);
    if (!value.empty() || !rt::same_header(name, "Cookie")) out.emplace_back(name, std::move(value));
  }
  out.emplace_back("X-Forwarded-For", http.peer_address);
  out.emplace_back("X-Real-IP", http.peer_address);
  out.emplace_back("X-Forwarded-Proto", tls ? "https" : "http");
  out.emplace_back("X-Forwarded-Host", host);
  return out;
}

rt::Headers headers_for_peer(const rt::Headers& headers, const DoorOptions& options) {
  rt::Headers out = rt::end_to_end(headers);
  std::erase_if(out, [&options](const auto& one) {
    const std::string_view value = one.second;
    return rt::same_header(one.first, "Set-Cookie") && options.is_own_cookie(value.substr(0, value.find('=')));
  });
  return out;
}

rt::HttpResponse sent_to_https(const rt::HttpRequest& http, std::uint16_t port) {
  constexpr int kPermanent = 308, kUsual = 443;
  std::string_view host = rt::header(http.headers, "Host");
  if (const std::size_t colon = host.rfind(':'); colon != std::string_view::npos && host.find(']', colon) == host.npos)
    host = host.substr(0, colon);
  // An absolute target would name the host a second time.
  const std::string_view target = http.target.starts_with('/') ? std::string_view(http.target) : "/";
  return {kPermanent,
          {{"Location", base::format("https://{}{}{}", host, port == kUsual ? "" : base::format(":{}", port), target)},
           {"Content-Length", "0"}},
          {},
          {}};
}

struct Door::Work {
  rt::HttpRequest http;
  bool tls = false;
  std::shared_ptr<rt::HttpExchange> exchange;
  Backend backend;
  std::vector<Endpoint> endpoints;  // those that were not tried
  int tries = 0;
};

Door::Door(rt::Env& env, DoorOptions options)
    : env_(env), options_(std::move(options)), relays_(std::make_shared<rt::Relays>(env.loop())) {}

void Door::set_routes(std::shared_ptr<const Routes> routes) {
  const std::lock_guard lock(mutex_);
  routes_ = std::move(routes);
}

std::shared_ptr<const Routes> Door::routes() const {
  const std::lock_guard lock(mutex_);
  return routes_;
}

void Door::end() {
  ended_ = true;
  relays_->end();
  ways_.clear();
}

std::optional<rt::HttpResponse> Door::refusal(const rt::HttpRequest& http) const {
  if (routes()->find(rt::header(http.headers, "Host"), path_of(http)) != nullptr) return std::nullopt;
  return not_found();
}

void Door::serve(rt::HttpRequest http, bool tls, std::shared_ptr<rt::HttpExchange> exchange) {
  auto work = std::make_shared<Work>();
  work->http = std::move(http);
  work->tls = tls;
  work->exchange = std::move(exchange);
  env_.loop().post([weak = weak_from_this(), work = std::move(work)] {
    if (const auto self = weak.lock(); self && !self->ended_) return self->begin(work);
    work->exchange->respond(answer_with(kUnavailable, "the server stops"));
  });
}

void Door::begin(const std::shared_ptr<Work>& work) {
  const auto table = routes();
  const Backend* backend = table->find(rt::header(work->http.headers, "Host"), path_of(work->http));
  if (backend == nullptr) return work->exchange->respond(not_found());
  if (backend->https_only && !work->tls && https_port_ != 0)
    return work->exchange->respond(sent_to_https(work->http, https_port_));
  work->backend = *backend;
  work->endpoints = options_.endpoints(work->backend);
  if (work->endpoints.empty())
    return work->exchange->respond(answer_with(kUnavailable, "no pod of the Service is ready"));
  const auto first = static_cast<std::ptrdiff_t>(next_++ % work->endpoints.size());
  std::rotate(work->endpoints.begin(), work->endpoints.begin() + first, work->endpoints.end());
  send(work);
}

void Door::send(const std::shared_ptr<Work>& work) {
  int& mine = under_way_[work->backend.ns];
  const Endpoint at = work->endpoints.front();
  rt::HttpClient* client = mine < kUnderWayMax ? client_of(at) : nullptr;
  if (client == nullptr) {
    if (mine == 0) under_way_.erase(work->backend.ns);
    return work->exchange->respond(
        answer_with(kUnavailable, "so many requests are under way that this one is too much"));
  }
  work->endpoints.erase(work->endpoints.begin());
  ++work->tries;
  ++mine;
  ++ways_[at].requests;
  rt::HttpRequest request{.method = work->http.method,
                          .target = work->http.target,
                          .headers = headers_for_pod(work->http, work->tls, options_)};
  request.upgrade = work->http.upgrade;
  const bool again = (request.method == "GET" || request.method == "HEAD") && request.upgrade.empty();
  request.body = again ? work->http.body : std::move(work->http.body);
  rt::Relays::Ways ways;
  ways.begin = [this, work](std::uint64_t id, rt::HttpExchange& to, int status, const rt::Headers& headers) {
    answer(id, *work, to, status, headers);
  };
  ways.failed = [this, work](rt::HttpExchange&, const base::Error& why) { failed(work, why); };
  ways.ended = [this, work, at] { ended(*work, at); };
  relays_->run(*client, std::move(request), work->exchange, std::move(ways));
}

void Door::answer(std::uint64_t id, const Work& work, rt::HttpExchange& to, int status, const rt::Headers& headers) {
  if (status == kSwitchingProtocols && !work.http.upgrade.empty()) return relays_->go_on(id, to, headers);
  rt::Headers out = headers_for_peer(headers, options_);
  if (work.http.method == "HEAD" || status == kNoContent || status == kNotModified) {
    const auto length = base::parse_number<std::uint64_t>(rt::header(headers, "Content-Length"));
    if (length && status != kNoContent) out.emplace_back("Content-Length", std::to_string(*length));
    return to.respond({status, std::move(out), ""});
  }
  to.start(status, std::move(out));
}

// A pod that has just ended may be known still; a request that changes nothing goes to another one.
void Door::failed(const std::shared_ptr<Work>& work, const base::Error& why) {
  const bool late = why.code == base::Code::kTimeout;
  const bool again = (work->http.method == "GET" || work->http.method == "HEAD") && work->http.upgrade.empty();
  if (!late && again && work->tries < kTriesMax && !work->endpoints.empty()) return send(work);
  work->exchange->respond(late ? answer_with(kTimeout, "the pod has not answered in time")
                               : answer_with(kBadGateway, "the pod was not reached, or has not answered"));
}

void Door::ended(const Work& work, const Endpoint& at) {
  if (const auto found = under_way_.find(work.backend.ns); found != under_way_.end() && --found->second == 0)
    under_way_.erase(found);
  const auto way = ways_.find(at);
  if (way == ways_.end() || --way->second.requests > 0) return;
  way->second.idle_since = env_.uptime();
  if (std::exchange(looks_, true)) return;
  env_.loop().after(kIdleMax, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->forget_idle();
  });
}

rt::HttpClient* Door::client_of(const Endpoint& at) {
  if (const auto found = ways_.find(at); found != ways_.end()) return found->second.client.get();
  if (ways_.size() >= kWaysMax) std::erase_if(ways_, [](const auto& one) { return one.second.requests == 0; });
  if (ways_.size() >= kWaysMax) return nullptr;
  rt::ClientOptions options{.host = at.address, .port = at.port, .tls = at.tls};
  options.insecure_skip_verify = at.tls;  // pods have certificates of their own making
  options.offer_http2 = false;
  options.timeout = kAnswerMax;
  auto client = env_.http_client(std::move(options));
  if (!client.ok()) return nullptr;
  return (ways_[at].client = *std::move(client)).get();
}

void Door::forget_idle() {
  looks_ = false;
  const base::Duration now = env_.uptime();
  std::erase_if(ways_,
                [now](const auto& one) { return one.second.requests == 0 && now - one.second.idle_since >= kIdleMax; });
  if (ended_ || std::ranges::none_of(ways_, [](const auto& one) { return one.second.requests == 0; })) return;
  looks_ = true;
  env_.loop().after(kIdleMax, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->forget_idle();
  });
}

}  // namespace node::ingress
