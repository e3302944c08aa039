// Requests to simulated hosts, and the opening of simulated disks.
#include "sim/world/external_world.h"

#include "base/format.h"

namespace sim {
namespace {

class OpenedDisk final : public rt::KvStore {
 public:
  explicit OpenedDisk(rt::KvStore& disk) : disk_(disk) {}
  base::Status commit(const std::function<void(rt::KvWriter&)>& changes) override { return disk_.commit(changes); }
  base::Status scan(std::string_view begin, std::string_view end,
                    const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    return disk_.scan(begin, end, visit);
  }

 private:
  rt::KvStore& disk_;
};

}  // namespace

class ExternalClient final : public rt::HttpClient {
 public:
  ExternalClient(ExternalWorld& outside, rt::ClientOptions options, Owner owner)
      : outside_(outside), options_(std::move(options)), owner_(owner) {}
  ~ExternalClient() override { *alive_ = false; }

  void send(rt::HttpRequest request, OnResponse on_response) override {
    later(travel_time(), [this, request = std::move(request), on_response = std::move(on_response)]() mutable {
      const auto host = outside_.hosts_.find({options_.host, options_.port});
      if (host == outside_.hosts_.end()) return on_response(refused());
      std::optional<rt::HttpResponse> response = host->second(request);
      if (response) return on_response(*std::move(response));
      later(options_.timeout, [this, on_response = std::move(on_response)] { on_response(timed_out()); });
    });
  }

  void connect(std::function<void(base::Status)> on_connected) override {
    later(travel_time(), [this, on_connected = std::move(on_connected)] {
      if (outside_.hosts_.contains({options_.host, options_.port})) return on_connected({});
      on_connected(refused());
    });
  }

  std::unique_ptr<rt::HttpStream> stream(rt::HttpRequest request, StreamCallbacks callbacks) override {
    auto stream = std::make_unique<Stream>();
    later(travel_time(), [this, alive = stream->alive, request = std::move(request), callbacks = std::move(callbacks)] {
      if (!*alive) return;
      const auto host = outside_.hosts_.find({options_.host, options_.port});
      if (host == outside_.hosts_.end()) return callbacks.on_end(refused());
      const std::optional<rt::HttpResponse> response = host->second(request);
      if (!response) return;  // a stream has no time-out
      callbacks.on_start(response->status, response->headers);
      if (*alive) callbacks.on_data(response->body);
      if (*alive) callbacks.on_end({});
    });
    return stream;
  }

 private:
  struct Stream final : rt::HttpStream {
    ~Stream() override { *alive = false; }
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  };

  base::Duration travel_time() {
    return base::microseconds(100 + static_cast<std::int64_t>(outside_.dice_.below(1900)));
  }
  void later(base::Duration delay, rt::Task task) {
    outside_.clock_.add(owner_, delay, [alive = alive_, task = std::move(task)] {
      if (*alive) task();
    });
  }
  base::Error refused() const {
    return base::make_error(base::Code::kUnavailable,
                            base::format("{}:{}: connection refused", options_.host, options_.port));
  }
  base::Error timed_out() const {
    return base::make_error(base::Code::kTimeout,
                            base::format("{}:{}: no answer in time", options_.host, options_.port));
  }

  ExternalWorld& outside_;
  rt::ClientOptions options_;
  Owner owner_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

std::unique_ptr<rt::HttpClient> ExternalWorld::http_client(rt::ClientOptions options, Owner owner) {
  return std::make_unique<ExternalClient>(*this, std::move(options), owner);
}

base::Result<std::unique_ptr<rt::KvStore>> ExternalWorld::open_store(const std::string& path) {
  const auto disk = disks_.find(path);
  if (disk == disks_.end())
    return base::make_error(base::Code::kUnavailable, base::format("cannot open {}: no such disk", path));
  return std::unique_ptr<rt::KvStore>(std::make_unique<OpenedDisk>(*disk->second));
}

}  // namespace sim
