// How is another program asked over HTTP, within a time and a size?
#include "scheduler/sources/bounded_fetch.h"

#include "base/format.h"
#include "rt/http/url.h"

namespace scheduler {

using base::make_error;

BoundedFetch::~BoundedFetch() {
  *alive_ = false;
  for (auto& [id, call] : calls_) {
    env_.loop().cancel(call->timer);
    // Its callbacks hold the call.
    call->stream.reset();
  }
}

base::Result<rt::HttpClient*> BoundedFetch::client_for(const FetchRequest& request, std::string& target) {
  TRY(const rt::ServerUrl address, rt::parse_server_url(request.url));
  target = address.target();
  const std::string key = base::format("{}{} {} {}", address.tls ? "https" : "http",
                                       request.insecure_skip_verify ? "!" : "", address.host, address.port);
  if (const auto known = clients_.find(key); known != clients_.end()) return known->second.get();
  rt::ClientOptions options;
  options.host = address.host;
  options.port = address.port;
  options.tls = address.tls;
  options.insecure_skip_verify = request.insecure_skip_verify;
  TRY(auto client, env_.http_client(std::move(options)));
  return (clients_[key] = std::move(client)).get();
}

void BoundedFetch::end(std::uint64_t id, base::Result<std::string> result) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const std::shared_ptr<Call> call = found->second;
  calls_.erase(found);
  env_.loop().cancel(call->timer);
  // The stream may be the caller, so it goes a turn later.
  env_.loop().post([call] { call->stream.reset(); });
  call->done(std::move(result));
}

void BoundedFetch::fetch(FetchRequest request, Done done) {
  const std::uint64_t id = ++next_;
  auto call = std::make_shared<Call>();
  call->bytes_max = request.bytes_max;
  call->done = std::move(done);
  calls_.emplace(id, call);
  const auto end_later = [this, id](base::Error error) {
    env_.loop().post([this, alive = alive_, id, error = std::make_shared<base::Error>(std::move(error))] {
      if (*alive) end(id, std::move(*error));
    });
  };
  std::string target;
  auto client = client_for(request, target);
  if (!client.ok()) return end_later(client.take_error());
  call->timer = env_.loop().after(request.timeout, [this, alive = alive_, id] {
    if (*alive) end(id, make_error(base::Code::kTimeout, "no answer in time"));
  });
  rt::HttpRequest http;
  http.method = request.method;
  http.target = std::move(target);
  http.body = std::move(request.body);
  if (!http.body.empty()) http.headers.emplace_back("Content-Type", "application/json");
  rt::HttpClient::StreamCallbacks callbacks;
  callbacks.on_start = [call](int status, const rt::Headers&) { call->status = status; };
  callbacks.on_data = [this, alive = alive_, id, call](std::string_view bytes) {
    if (!*alive || call->body.size() > call->bytes_max) return;
    call->body += bytes;
    if (call->body.size() > call->bytes_max)
      end(id, make_error(base::Code::kInvalid, base::format("the answer is longer than {} bytes", call->bytes_max)));
  };
  callbacks.on_end = [this, alive = alive_, id, call](base::Status status) {
    if (!*alive) return;
    if (call->status != 0 && call->status != 200)
      return end(id, make_error(base::Code::kUnavailable, base::format("status {}", call->status)));
    if (!status.ok()) return end(id, status.take_error());
    end(id, std::move(call->body));
  };
  call->stream = (*client)->stream(std::move(http), std::move(callbacks));
}

}  // namespace scheduler
