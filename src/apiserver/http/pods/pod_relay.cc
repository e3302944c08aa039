// One request under way: bytes between a connection to the pod and the client's exchange.
#include "apiserver/http/pods/pod_relay.h"

#include <future>
#include <optional>
#include <utility>

#include "apiserver/http/answers.h"
#include "apiserver/http/negotiation.h"
#include "apiserver/http/pods/proxied_request.h"
#include "base/format.h"
#include "base/number.h"
#include "rt/http/client/answer_reader.h"
#include "rt/tls/tls_bytes.h"

namespace apiserver {

using base::Result;

namespace {

constexpr int kSwitchingProtocols = 101, kNoContent = 204, kNotModified = 304;

// One request under way. The stream holds it until its end, by its events.
class Relay : public std::enable_shared_from_this<Relay> {
 public:
  Relay(const rt::HttpRequest& http, std::string host, std::shared_ptr<rt::HttpExchange> exchange)
      : prefix_(proxy_prefix(http.target)),
        host_(std::move(host)),
        head_(http.method == "HEAD"),
        wants_upgrade_(!http.upgrade.empty()),
        encoding_(accepted_encoding(http)),
        exchange_(std::move(exchange)) {}

  void go(const ConnectToPod& connect, const ProxiedPod& pod, const std::string& request) {
    if (pod.tls) tls_.emplace([this](std::string sealed) { return stream()->write(std::move(sealed)); });
    reader_.emplace(
        head_, rt::AnswerReader::Callbacks{[this](int status, const rt::Headers& headers) { answer(status, headers); },
                                           [this](std::string bytes) { pass_on(std::move(bytes)); }});
    const auto self = shared_from_this();
    auto opened = connect({.on_output = [self](int, const std::string& bytes) { self->peer_sent(bytes); },
                           .on_room = [self] { self->exchange_->resume_reading(); },
                           .on_end = [self](const Result<int>& how) { self->ended(how); }});
    if (!opened.ok()) return fail(*exchange_, opened.error(), encoding_);
    exchange_->on_closed([stream = std::weak_ptr(*opened)] {
      if (const auto alive = stream.lock()) alive->end();
    });
    opened_.set_value(*opened);
    send_to_peer(request);
  }

 private:
  // Waits until go() has it: a pod may speak before that.
  std::shared_ptr<api::PodStream> stream() const { return std::shared_future(stream_).get(); }
  // To the pod. False: it has enough for now.
  bool send_to_peer(const std::string& bytes) { return tls_ ? tls_->send(bytes) : stream()->write(bytes); }

  // From here on: threads of the source, one at a time.

  void peer_sent(const std::string& bytes) {
    if (over_) return;
    (void)stream();  // who answers before he is asked waits until the client's end is heard of
    const Result<std::string> plain = tls_ ? tls_->receive(bytes) : bytes;
    const base::Status fine = plain.ok() ? reader_->read(*plain) : plain.error();
    if (!fine.ok()) break_off(fine.error().message);
    if (over_ || reader_->is_done()) {
      finish();
      return stream()->end();
    }
    exchange_->wait_until_drained();
  }
  void ended(const Result<int>& how) {
    if (over_) return;
    const base::Status whole = how.ok() ? reader_->end() : how.error();
    whole.ok() ? finish() : break_off(whole.error().message);
  }

  void answer(int status, const rt::Headers& headers) {
    const bool upgraded = status == kSwitchingProtocols;
    if (upgraded && !wants_upgrade_) return break_off("the pod goes on with a protocol that nobody asked for");
    answered_ = true;
    rt::Headers out = headers_for_client(headers, prefix_, host_, upgraded);
    if (upgraded) {
      return exchange_->start_upgraded(
          std::move(out), [self = shared_from_this()](const std::string& bytes) { return self->send_to_peer(bytes); });
    }
    if (head_ || status == kNoContent || status == kNotModified) {
      over_ = true;
      const auto length = base::parse_number<std::uint64_t>(rt::header(headers, "Content-Length"));
      if (length && status != kNoContent) out.emplace_back("Content-Length", std::to_string(*length));
      return exchange_->respond({status, std::move(out), ""});
    }
    exchange_->start(status, std::move(out));
  }
  void pass_on(std::string bytes) {
    if (!over_) exchange_->send_one(std::make_shared<const std::string>(std::move(bytes)));
  }
  void finish() {
    if (!std::exchange(over_, true)) exchange_->finish();
  }
  void break_off(std::string_view why) {
    if (std::exchange(over_, true)) return;
    if (answered_) return exchange_->abandon();
    fail(*exchange_, pod_unreachable(why), encoding_);
  }

  const std::string prefix_, host_;
  const bool head_, wants_upgrade_;
  const Encoding encoding_;  // of an error
  const std::shared_ptr<rt::HttpExchange> exchange_;
  std::optional<rt::AnswerReader> reader_;
  bool answered_ = false, over_ = false;
  std::optional<rt::TlsBytes> tls_;  // made before the stream is
  std::promise<std::shared_ptr<api::PodStream>> opened_;
  const std::shared_future<std::shared_ptr<api::PodStream>> stream_ = opened_.get_future().share();
};

}  // namespace

base::Error pod_unreachable(std::string_view why) {
  return base::make_error(base::Code::kUnavailable, base::format("error trying to reach service: {}", why));
}

void relay_to_pod(const ConnectToPod& connect, const ProxiedPod& pod, const rt::HttpRequest& http,
                  std::shared_ptr<rt::HttpExchange> exchange) {
  const std::string host = base::format("localhost:{}", pod.port);
  std::make_shared<Relay>(http, host, std::move(exchange))->go(connect, pod, request_for_pod(http, host));
}

}  // namespace apiserver
