// One client for each question, as the next one asks elsewhere.
#include "controllers/framework/prober.h"

namespace controllers {

namespace {
constexpr std::size_t kAnswerBytesMax = 64 << 10;
}

void Prober::ask(const Probe& probe, std::function<void(bool answered)> done) {
  rt::ClientOptions options;
  options.host = probe.host;
  options.port = probe.port;
  options.tls = false;
  options.timeout = probe.timeout;
  options.answer_bytes_max = kAnswerBytesMax;
  auto client = env_.http_client(std::move(options));
  if (!client.ok()) {
    env_.loop().post([alive = alive_, done = std::move(done)] {
      if (*alive) done(false);
    });
    return;
  }
  const std::uint64_t id = ++next_;
  clients_[id] = *std::move(client);
  rt::HttpClient& asked = *clients_[id];
  if (probe.path.empty()) {
    asked.connect([this, id, done = std::move(done)](const base::Status& status) { end(id, status.ok(), done); });
    return;
  }
  rt::HttpRequest request{.method = "GET", .target = probe.path};
  if (!probe.header.first.empty()) request.headers.push_back(probe.header);
  asked.send(std::move(request), [this, id, done = std::move(done)](const base::Result<rt::HttpResponse>& answer) {
    end(id, answer.ok() && answer->status >= 200 && answer->status < 400, done);
  });
}

void Prober::end(std::uint64_t id, bool answered, const std::function<void(bool)>& done) {
  // The client is the caller, so it goes a turn later.
  env_.loop().post([client = clients_[id]] {});
  clients_.erase(id);
  done(answered);
}

}  // namespace controllers
