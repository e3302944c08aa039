// A loop on a thread of its own does the work; the caller posts to it and waits for what it brings.
#include "main/host/base/waiting_api.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>

#include "client/http/http_client.h"
#include "client/http/server_connection.h"
#include "client/watch/informer.h"
#include "main/host/base/connection.h"
#include "rt/http/client/http_client.h"

namespace volcano_main {
namespace {

using cli::Happening;

// The answers that the loop puts in and the caller takes out.
class Mailbox {
 public:
  void put(Happening news) {
    const std::lock_guard lock(mutex_);
    news_.push_back(std::move(news));
    arrived_.notify_one();
  }
  Happening take(base::Duration patience) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, std::chrono::nanoseconds(patience.ns), [this] { return !news_.empty(); });
    if (news_.empty()) return {};
    Happening first = std::move(news_.front());
    news_.pop_front();
    return first;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Happening> news_;
};

class WaitingApi final : public cli::Api {
 public:
  explicit WaitingApi(client::ServerAccess access) : access_(std::move(access)), env_(rt::make_real_env("vcctl")) {
    opened_ = on_loop<base::Status>([this]() -> base::Status {
      TRY(client_,
          client::make_http_client({.access = access_, .user_agent = "vcctl", .field_manager = "vcctl"}, *env_));
      return {};
    });
  }
  ~WaitingApi() override {
    on_loop<bool>([this] {
      followed_.clear();
      logs_.clear();
      log_connection_.reset();
      client_.reset();
      return true;
    });
    env_->stop();
  }

  const base::Status& opened() const { return opened_; }

  base::Result<api::Json> call(client::Request request) override {
    std::promise<base::Result<api::Json>> answer;
    env_->loop().post([&] {
      client_->call(std::move(request), [&](base::Result<api::Json> result) { answer.set_value(std::move(result)); });
    });
    return answer.get_future().get();
  }

  int follow(cli::Selection selection) override {
    const int stream = ++streams_;
    env_->loop().post([this, stream, selection = std::move(selection)] { start_following(stream, selection); });
    return stream;
  }

  int read_log(client::LogRequest request) override {
    const int stream = ++streams_;
    env_->loop().post([this, stream, request = std::move(request)] { start_log(stream, request); });
    return stream;
  }

  void stop(int stream) override {
    on_loop<bool>([this, stream] {
      followed_.erase(stream);
      logs_.erase(stream);
      return true;
    });
  }

  Happening next(base::Duration patience) override { return mailbox_.take(patience); }
  std::string own_namespace() const override { return access_.ns; }

 private:
  template <class T, class Work>
  T on_loop(Work work) {
    std::promise<T> done;
    env_->loop().post([&] { done.set_value(work()); });
    return done.get_future().get();
  }

  void start_following(int stream, const cli::Selection& selection) {
    auto& informer = followed_[stream];
    informer = std::make_unique<client::Informer>(*client_, *env_, selection.resource,
                                                  client::InformerOptions{.ns = selection.ns,
                                                                          .label_selector = selection.label_selector,
                                                                          .field_selector = selection.field_selector});
    informer->on_change([this, stream](const api::Json* before, const api::Json* after, bool) {
      mailbox_.put({.kind = after ? Happening::Kind::kObject : Happening::Kind::kGone,
                    .stream = stream,
                    .object = after ? *after : *before});
    });
    informer->on_synced([this, stream] { mailbox_.put({.kind = Happening::Kind::kCurrent, .stream = stream}); });
    informer->start();
    look_for_trouble(stream);
  }

  // A person waits for the first list: what keeps it away is said, not tried again for ever.
  void look_for_trouble(int stream) {
    env_->loop().after(base::milliseconds(200), [this, stream] {
      const auto found = followed_.find(stream);
      if (found == followed_.end() || found->second->synced()) return;
      if (found->second->trouble().empty()) return look_for_trouble(stream);
      mailbox_.put({.kind = Happening::Kind::kEnd,
                    .stream = stream,
                    .end = base::make_error(base::Code::kUnavailable, found->second->trouble())});
      followed_.erase(found);
    });
  }

  void start_log(int stream, const client::LogRequest& request) {
    const auto end = [this, stream](base::Status status) {
      mailbox_.put({.kind = Happening::Kind::kEnd, .stream = stream, .end = std::move(status)});
    };
    if (!log_connection_) {
      auto opened = client::ServerConnection::open(access_, "vcctl", *env_);
      if (!opened.ok()) return end(opened.take_error());
      log_connection_ = *std::move(opened);
    }
    logs_[stream] = client::read_log(
        *log_connection_, request,
        [this, stream](std::string_view bytes) {
          mailbox_.put({.kind = Happening::Kind::kText, .stream = stream, .text = std::string(bytes)});
        },
        end);
  }

  client::ServerAccess access_;
  std::unique_ptr<rt::RealEnv> env_;
  Mailbox mailbox_;
  int streams_ = 0;
  base::Status opened_;
  // On the loop.
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<client::ServerConnection> log_connection_;
  std::map<int, std::unique_ptr<client::Informer>> followed_;
  std::map<int, std::unique_ptr<rt::HttpStream>> logs_;
};

}  // namespace

base::Result<std::unique_ptr<cli::Api>> open_waiting_api(const std::string& kubeconfig, const std::string& master) {
  TRY(client::ServerAccess access, user_access(kubeconfig, master));
  auto server = std::make_unique<WaitingApi>(std::move(access));
  TRY_VOID(server->opened());
  return std::unique_ptr<cli::Api>(std::move(server));
}

}  // namespace volcano_main
