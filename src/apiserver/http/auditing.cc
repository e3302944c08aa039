// An exchange that remembers what it answered. Bodies are parsed on the log's thread.
#include "apiserver/http/auditing.h"

#include <atomic>

#include "api/protobuf/protobuf.h"
#include "apiserver/http/access.h"
#include "apiserver/http/requested_resource.h"
#include "apiserver/http/route.h"
#include "base/format.h"
#include "base/utf8.h"
#include "rt/tls/tls.h"

namespace apiserver {
namespace {

using api::Json;

constexpr std::size_t kBodyBytesMax = std::size_t{1} << 20;  // larger ones are left out of the line
constexpr std::size_t kLineBytes = 1024;                     // about, without bodies

std::string new_id() {
  const std::string hex = rt::secure_token(16);
  return base::format("{}-{}-4{}-a{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(13, 3), hex.substr(17, 3),
                      hex.substr(20, 12));
}

base::Result<Json> parse_answer(std::string_view type, std::string_view bytes) {
  if (bytes.starts_with(api::kProtobufMagic)) return api::parse_protobuf_answer(bytes, nullptr);
  return parse_body(type, bytes);
}

// The audit entry of one request, until its answer is complete. Any thread; one after the other.
struct Trail {
  rt::Env& env;
  std::shared_ptr<rt::LineLog> log;
  AuditRecord record;
  rt::HttpRequest request = {};  // with a body where the level has it
  std::shared_ptr<std::vector<std::string>> audit_annotations = {};
  std::atomic<int> started = 0;  // the status of a stream
  std::atomic<bool> done = false;

  Trail(rt::Env& e, std::shared_ptr<rt::LineLog> l, AuditRecord r) : env(e), log(std::move(l)), record(std::move(r)) {}

  bool needs(const rt::HttpResponse& response) const {
    const bool made = response.status == 201 && record.of.name.empty();
    return record.choice.level == AuditLevel::kRequestResponse || response.status >= 400 || made;
  }

  void end(int code, const rt::HttpResponse* response) {
    if (done.exchange(true)) return;
    record.code = code;
    record.ended = env.now();
    if (audit_annotations) record.audit_annotations = *audit_annotations;
    std::string type, body;
    std::vector<std::shared_ptr<const std::string>> pieces;
    if (response != nullptr && needs(*response)) {
      type = rt::header(response->headers, "Content-Type");
      body = response->body;
      pieces = response->pieces;
    }
    std::size_t bytes = body.size();
    for (const auto& piece : pieces) bytes += piece->size();
    if (bytes > kBodyBytesMax) {
      body.clear();
      pieces.clear();
      bytes = 0;
    }
    log->append(kLineBytes + bytes + request.body.size(),
                [record = std::move(record), request = std::move(request), type = std::move(type),
                 body = std::move(body), pieces = std::move(pieces)]() mutable {
                  for (const auto& piece : pieces) body += *piece;
                  if (auto parsed = parse_answer(type, body); parsed.ok()) record.response_object = *std::move(parsed);
                  if (auto parsed = parse_body(rt::header(request.headers, "Content-Type"), request.body); parsed.ok())
                    record.request_object = *std::move(parsed);
                  return audit_event(std::move(record)).dump();
                });
  }
};

class AuditedExchange final : public rt::HttpExchange {
 public:
  AuditedExchange(std::shared_ptr<rt::HttpExchange> inner, std::shared_ptr<Trail> trail)
      : inner_(std::move(inner)), trail_(std::move(trail)) {}

  void respond(rt::HttpResponse response) override {
    trail_->end(response.status, &response);
    inner_->respond(std::move(response));
  }
  void start(int status, rt::Headers headers) override {
    begin(status);
    inner_->start(status, std::move(headers));
  }
  void start_web_socket(rt::Headers headers, Messages messages, OnBytes on_bytes) override {
    begin(101);
    inner_->start_web_socket(std::move(headers), messages, std::move(on_bytes));
  }
  void start_upgraded(rt::Headers headers, OnBytes on_bytes) override {
    begin(101);
    inner_->start_upgraded(std::move(headers), std::move(on_bytes));
  }
  void resume_reading() override { inner_->resume_reading(); }
  void send(std::vector<Bytes> pieces) override { inner_->send(std::move(pieces)); }
  void send_shared(std::shared_ptr<const rt::SharedChunk> chunk) override { inner_->send_shared(std::move(chunk)); }
  void finish() override {
    trail_->end(trail_->started, nullptr);
    inner_->finish();
  }
  void abandon() override {
    trail_->end(trail_->started, nullptr);
    inner_->abandon();
  }
  std::size_t backlog_bytes() const override { return inner_->backlog_bytes(); }
  void on_drained(std::function<void()> callback) override { inner_->on_drained(std::move(callback)); }
  void wait_until_drained() override { inner_->wait_until_drained(); }
  void on_closed(std::function<void()> callback) override {
    head_sent_ = true;
    // Before anything was answered there is nothing to say: the answer still comes, to nobody.
    inner_->on_closed([trail = trail_, callback = std::move(callback)] {
      if (const int code = trail->started; code != 0) trail->end(code, nullptr);
      callback();
    });
  }

 private:
  // A stream is over when either side ends it.
  void begin(int code) {
    trail_->started = code;
    if (!head_sent_) inner_->on_closed([trail = trail_, code] { trail->end(code, nullptr); });
  }

  const std::shared_ptr<rt::HttpExchange> inner_;
  const std::shared_ptr<Trail> trail_;
  std::atomic<bool> head_sent_ = false;  // somebody hears of the peer's end, and so does the trail
};

}  // namespace

std::optional<AuditRecord> Auditing::record_for(const rt::HttpRequest& http, const rt::Target& target,
                                                const Caller& caller) const {
  AuditRecord record;
  record.of = attributes_of(http, target);
  record.choice = policy_.choose(caller.user, record.of);
  if (record.choice.level == AuditLevel::kNone) return {};
  if (const auto routed = route(http, target); routed.ok() && *routed)
    record.version = (*routed)->kind->resource.version;
  else if (const auto by_path = requested_resource(http, target))
    record.version = by_path->version;
  record.id = new_id();
  record.uri = base::to_utf8(http.target);
  record.source_ips = source_ips({rt::header(http.headers, "X-Forwarded-For"), rt::header(http.headers, "X-Real-Ip")},
                                 http.peer_address);
  record.user_agent = rt::header(http.headers, "User-Agent");
  record.user = caller.user;
  record.impersonated = caller.impersonated;
  record.received = env_.now();
  return record;
}

std::shared_ptr<rt::HttpExchange> Auditing::watch(const rt::HttpRequest& http, const rt::Target& target,
                                                  const Caller& caller, std::shared_ptr<rt::HttpExchange> exchange,
                                                  std::shared_ptr<std::vector<std::string>>& audit_annotations) const {
  auto record = record_for(http, target, caller);
  if (!record) return exchange;
  audit_annotations = std::make_shared<std::vector<std::string>>();
  auto trail = std::make_shared<Trail>(env_, log_, *std::move(record));
  trail->audit_annotations = audit_annotations;
  if (trail->record.choice.level >= AuditLevel::kRequest && http.body.size() <= kBodyBytesMax) {
    trail->request.headers = {{"Content-Type", std::string(rt::header(http.headers, "Content-Type"))}};
    trail->request.body = http.body;
  }
  return std::make_shared<AuditedExchange>(std::move(exchange), std::move(trail));
}

void Auditing::refused(const rt::HttpRequest& http, const rt::Target& target, const Caller& caller,
                       const rt::HttpResponse& response) const {
  if (auto record = record_for(http, target, caller))
    Trail(env_, log_, *std::move(record)).end(response.status, &response);
}

}  // namespace apiserver
