// Clients of webhooks, kept by where they call; deadlines; what a failed call is called.
#include "apiserver/webhooks/caller.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <tuple>
#include <utility>

#include "apiserver/webhooks/endpoint.h"
#include "base/format.h"
#include "rt/http/client/http_client.h"

namespace apiserver {

using base::Code;
using base::Result;

namespace {

constexpr std::size_t kClientsMax = 64;  // each has a thread and its connections
constexpr int kInFlightMax = 32;         // of one client; more wait within their time
constexpr std::size_t kWaitingMax = 4096;
constexpr std::size_t kQuotedMax = 256;  // bytes of an answer in a message

// Two webhooks with the same of all these share connections.
using Key = std::tuple<std::string, std::uint16_t, std::string, std::string, std::int64_t>;

struct Client {
  std::shared_ptr<rt::HttpClient> http;
  std::size_t under_way = 0;
  std::uint64_t last_used = 0;
};

std::string quoted(std::string_view body) { return base::format("{:?}", body.substr(0, kQuotedMax)); }

// As client-go words an answer that is not a success.
std::string status_problem(int status, std::string_view body) {
  switch (status) {
    case 400: return "the server rejected our request for an unknown reason";
    case 401: return "the server has asked for the client to provide credentials";
    case 403: return "the server does not allow access to the requested resource";
    case 404: return "the server could not find the requested resource";
    case 405: return "the server does not allow this method on the requested resource";
    case 429: return "the server has received too many requests and has asked us to try again later";
    case 503: return "the server is currently unable to handle the request";
    default: break;
  }
  if (status >= 500)
    return base::format("an error on the server ({}) has prevented the request from succeeding", quoted(body));
  return base::format("the server responded with the status code {} but did not return more information", status);
}

class Caller final : public WebhookCaller {
 public:
  explicit Caller(rt::Env& env) : env_(env) {}

  void call(const api::ObjectReader& objects, const api::policies::WebhookAddress& address, std::string body,
            base::Duration timeout, OnReply on_reply) override {
    const std::int64_t seconds =
        std::max<std::int64_t>(1, (timeout.ns + base::seconds(1).ns - 1) / base::seconds(1).ns);
    const std::string asked = base::format("Post \"{}?timeout={}s\": ", address.text(), seconds);
    const auto failed = [&](const std::string& why) {
      env_.loop().post([on_reply, error = base::make_error(Code::kUnavailable, asked + why)] { on_reply(error); });
    };
    auto endpoint = find_webhook_endpoint(address, objects, env_.random());
    if (!endpoint.ok()) return failed(endpoint.error().message);
    const Key key{endpoint->host, endpoint->port, endpoint->server_name, address.ca_pem, seconds};
    auto client = client_for(key);
    if (!client.ok()) return failed(client.error().message);
    rt::HttpRequest request;
    request.method = "POST";
    request.target = base::format("{}?timeout={}s", endpoint->target, seconds);
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json, */*"}};
    request.body = std::move(body);
    request.may_repeat = true;  // what asks may be asked again
    send(key, **client, std::move(request), timeout, asked, std::move(on_reply));
  }

 private:
  // One call; whichever comes first, its answer or its deadline, is what is told.
  struct Call {
    OnReply on_reply;
    rt::Loop::TimerId timer = 0;
    std::atomic<bool> over = false;  // read by the client's thread

    void end(rt::Env& env, Result<std::string> reply) {
      if (over.exchange(true)) return;
      env.loop().cancel(timer);
      std::exchange(on_reply, nullptr)(std::move(reply));
    }
  };

  void send(const Key& key, Client& client, rt::HttpRequest request, base::Duration timeout, const std::string& asked,
            OnReply on_reply) {
    auto one = std::make_shared<Call>();
    one->on_reply = std::move(on_reply);
    const auto late = base::make_error(Code::kTimeout, asked + "context deadline exceeded");
    one->timer = env_.loop().after(timeout, [one, late, this] { one->end(env_, late); });
    request.wanted = [one] { return !one->over; };
    ++client.under_way;
    ++under_way_;
    client.http->send(std::move(request), [this, key, one, asked, late](Result<rt::HttpResponse> response) {
      --under_way_;
      if (const auto found = clients_.find(key); found != clients_.end()) --found->second.under_way;
      if (!response.ok())
        return one->end(env_, response.error().code == Code::kTimeout
                                  ? late
                                  : base::make_error(Code::kUnavailable, asked + response.error().message));
      if (response->status != 200 && response->status != 201)
        return one->end(env_, base::make_error(Code::kUnavailable, status_problem(response->status, response->body)));
      one->end(env_, std::move(response->body));
    });
  }

  Result<Client*> client_for(const Key& key) {
    if (under_way_ >= kWaitingMax)
      return base::make_error(Code::kTooManyRequests, "too many calls of webhooks are under way");
    if (const auto found = clients_.find(key); found != clients_.end()) {
      found->second.last_used = ++uses_;
      return &found->second;
    }
    if (clients_.size() >= kClientsMax && !forget_one())
      return base::make_error(Code::kTooManyRequests, "too many webhooks are being called");
    const auto& [host, port, server_name, ca_pem, seconds] = key;
    rt::ClientOptions options;
    options.host = host;
    options.port = port;
    options.ca_pem = ca_pem;
    options.server_name = server_name;
    options.in_flight_max = kInFlightMax;
    options.answer_bytes_max = kWebhookAnswerBytesMax;
    options.timeout = base::seconds(seconds);
    TRY(auto http, env_.http_client(std::move(options)));
    return &(clients_[key] = Client{std::move(http), 0, ++uses_});
  }

  // The one that was idle longest. To end it waits for its thread, which may be looking up a name.
  bool forget_one() {
    auto oldest = clients_.end();
    for (auto it = clients_.begin(); it != clients_.end(); ++it)
      if (it->second.under_way == 0 && (oldest == clients_.end() || it->second.last_used < oldest->second.last_used))
        oldest = it;
    if (oldest == clients_.end()) return false;
    auto gone = std::make_shared<std::shared_ptr<rt::HttpClient>>(std::move(oldest->second.http));
    clients_.erase(oldest);
    env_.offload([gone] { gone->reset(); }, [] {});
    return true;
  }

  rt::Env& env_;
  std::map<Key, Client> clients_;
  std::uint64_t uses_ = 0;
  std::size_t under_way_ = 0;
};

}  // namespace

std::unique_ptr<WebhookCaller> make_webhook_caller(rt::Env& env) { return std::make_unique<Caller>(env); }

}  // namespace apiserver
