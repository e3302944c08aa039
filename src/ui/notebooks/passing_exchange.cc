// Delegation, and collection.
#include "ui/notebooks/passing_exchange.h"

#include <utility>

namespace ui {
namespace {

constexpr std::size_t kKeptMax = std::size_t{8} << 20;
constexpr int kBadGateway = 502;

class PassingExchange final : public rt::HttpExchange {
 public:
  PassingExchange(std::shared_ptr<rt::HttpExchange> inner, Passing passing)
      : inner_(std::move(inner)), passing_(std::move(passing)) {}

  void respond(rt::HttpResponse response) override {
    if (auto other = passing_.instead(response)) return inner_->respond(*std::move(other));
    response.headers = passing_.headers(response.headers);
    inner_->respond(std::move(response));
  }
  void start(int status, rt::Headers headers) override { inner_->start(status, passing_.headers(headers)); }
  void start_web_socket(rt::Headers headers, Messages messages, OnBytes on_bytes) override {
    inner_->start_web_socket(passing_.headers(headers), messages, std::move(on_bytes));
  }
  void start_upgraded(rt::Headers headers, OnBytes on_bytes) override {
    inner_->start_upgraded(passing_.headers(headers), std::move(on_bytes));
  }
  void resume_reading() override { inner_->resume_reading(); }
  void send(std::vector<Bytes> pieces) override { inner_->send(std::move(pieces)); }
  void send_shared(std::shared_ptr<const rt::SharedChunk> chunk) override { inner_->send_shared(std::move(chunk)); }
  void finish() override { inner_->finish(); }
  void abandon() override { inner_->abandon(); }
  std::size_t backlog_bytes() const override { return inner_->backlog_bytes(); }
  void on_drained(std::function<void()> callback) override { inner_->on_drained(std::move(callback)); }
  void wait_until_drained() override { inner_->wait_until_drained(); }
  void on_closed(std::function<void()> callback) override { inner_->on_closed(std::move(callback)); }

 private:
  const std::shared_ptr<rt::HttpExchange> inner_;
  const Passing passing_;
};

// The source of an answer speaks on one thread at a time.
class KeptAnswer final : public rt::HttpExchange {
 public:
  explicit KeptAnswer(OnKept done) : done_(std::move(done)) {}
  // A caller must not wait for an answer that no server will give.
  ~KeptAnswer() override { end(kBadGateway, {}); }
  KeptAnswer(const KeptAnswer&) = delete;
  KeptAnswer& operator=(const KeptAnswer&) = delete;

  void respond(rt::HttpResponse response) override {
    for (const auto& piece : response.pieces) response.body += *piece;
    end(response.status, std::move(response.body));
  }
  void start(int status, rt::Headers) override { status_ = status; }
  void start_web_socket(rt::Headers, Messages, OnBytes) override { abandon(); }
  void start_upgraded(rt::Headers, OnBytes) override { abandon(); }
  void resume_reading() override {}
  void send(std::vector<Bytes> pieces) override {
    for (const Bytes& piece : pieces)
      if (body_.size() + piece->size() <= kKeptMax)
        body_ += *piece;
      else
        status_ = kBadGateway;
  }
  void send_shared(std::shared_ptr<const rt::SharedChunk> chunk) override {
    send({std::make_shared<const std::string>(chunk->bytes())});
  }
  void finish() override { end(status_, std::move(body_)); }
  void abandon() override { end(kBadGateway, {}); }
  std::size_t backlog_bytes() const override { return 0; }
  void on_drained(std::function<void()> callback) override { callback(); }
  void wait_until_drained() override {}
  void on_closed(std::function<void()>) override {}

 private:
  void end(int status, std::string body) {
    if (const OnKept done = std::exchange(done_, {})) done(status, std::move(body));
  }

  int status_ = kBadGateway;
  std::string body_;
  OnKept done_;
};

}  // namespace

std::shared_ptr<rt::HttpExchange> passing_exchange(std::shared_ptr<rt::HttpExchange> inner, Passing passing) {
  return std::make_shared<PassingExchange>(std::move(inner), std::move(passing));
}

std::shared_ptr<rt::HttpExchange> kept_answer(OnKept done) { return std::make_shared<KeptAnswer>(std::move(done)); }

}  // namespace ui
