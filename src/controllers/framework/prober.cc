// One client for each question, as the next one asks elsewhere.
#include "controllers/framework/prober.h"

namespace controllers {

void Prober::ask(const Probe& probe, Done done) {
  rt::ClientOptions options;
  options.host = probe.host;
  options.port = probe.port;
  options.tls = probe.tls;
  options.insecure_skip_verify = probe.insecure_skip_verify;
  options.timeout = probe.timeout;
  options.answer_bytes_max = probe.answer_bytes_max;
  auto client = env_.http_client(std::move(options));
  if (!client.ok()) {
    env_.loop().post([alive = alive_, done = std::move(done), why = client.error().message] {
      if (*alive) done({.error = why});
    });
    return;
  }
  const std::uint64_t id = ++next_;
  clients_[id] = *std::move(client);
  rt::HttpClient& asked = *clients_[id];
  if (probe.path.empty()) {
    asked.connect([this, id, done = std::move(done)](const base::Status& status) {
      end(id, {.error = status.ok() ? "" : status.error().message}, done);
    });
    return;
  }
  rt::HttpRequest request{.method = "GET", .target = probe.path};
  if (!probe.header.first.empty()) request.headers.push_back(probe.header);
  asked.send(std::move(request), [this, id, done = std::move(done)](base::Result<rt::HttpResponse> answer) {
    if (!answer.ok()) return end(id, {.error = answer.error().message}, done);
    end(id, {.status = answer->status, .body = std::move(answer->body)}, done);
  });
}

void Prober::end(std::uint64_t id, Answer answer, const Done& done) {
  // The client is the caller, so it goes a turn later.
  env_.loop().post([client = clients_[id]] {});
  clients_.erase(id);
  done(std::move(answer));
}

}  // namespace controllers
