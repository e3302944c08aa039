// Which request goes on which connection, and what is sent again.
#include "rt/http/client/http_client.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/format.h"
#include "rt/http/client/client_socket.h"
#include "rt/http/client/client_tls.h"
#include "rt/http/client/http1_connection.h"
#include "rt/http/client/http2_connection.h"
#include "rt/http/request_lines.h"
#include "rt/loop/rest.h"

namespace rt {
namespace {

namespace asio = boost::asio;
using base::Code;

constexpr std::size_t kStreamsPerConnection = 90;           // Go's servers take 100 by default
constexpr int kRefusalsMax = 3;                             // of one request
constexpr std::size_t kUnsentMax = std::size_t{256} << 10;  // of a stream that was upgraded

struct Job {
  HttpRequest request;
  std::function<void(base::Result<HttpResponse>)> answer;
  bool repeated = false;
  int refusals = 0;
};

// From any thread to the loop, and from there to the I/O thread.
struct Outgoing {
  std::mutex mutex;
  std::vector<Job> jobs;
  bool due = false;
};

// A stream from its request to its end.
struct StreamJob {
  HttpRequest request;
  Http1Connection::Callbacks callbacks;
  bool cancelled = false;
  std::shared_ptr<Http1Connection> http1;
  std::shared_ptr<Http2Connection> http2;
  Http2Connection::StreamId id = 0;

  void end(const base::Error& error) const {
    if (!cancelled && callbacks.on_done) callbacks.on_done(error, false);
  }
  // From here on no callback is called, and none is kept.
  void cancel() {
    cancelled = true;
    callbacks = {};
    if (http1) std::exchange(http1, nullptr)->abort();
    if (http2) std::exchange(http2, nullptr)->cancel(id);
  }
};

// One connection that is made to see whether it can be, and ended. I/O thread.
struct Trial : std::enable_shared_from_this<Trial> {
  explicit Trial(const std::shared_ptr<ClientShared>& s) : shared(s), socket(s), timer(s->context) {}

  void run(std::function<void(base::Status)> done) {
    report = std::move(done);
    timer.expires_after(std::chrono::nanoseconds(shared->options.timeout.ns));
    timer.async_wait([self = shared_from_this()](boost::system::error_code error) {
      if (!error) self->end(self->shared->error(Code::kTimeout, "no connection in time"));
    });
    socket.connect(false, [self = shared_from_this()](base::Status status) { self->end(std::move(status)); });
  }
  void end(base::Status status) {
    timer.cancel();
    socket.close();
    if (report) std::exchange(report, nullptr)(std::move(status));
  }

  std::shared_ptr<ClientShared> shared;
  ClientSocket socket;
  asio::steady_timer timer;
  std::function<void(base::Status)> report;
};

class Client : public HttpClient {
 public:
  Client(std::shared_ptr<ClientShared> shared, Loop& loop)
      : shared_(std::move(shared)),
        loop_(loop),
        alive_(std::make_shared<std::atomic<bool>>(true)),
        protocol_(shared_->tls && shared_->options.offer_http2 ? Protocol::kUnknown : Protocol::kHttp1),
        guard_(asio::make_work_guard(shared_->context)) {
    thread_ = std::thread([this] { run_with_rests(shared_->context); });
  }
  ~Client() override {
    *alive_ = false;
    asio::post(shared_->context, [this] {
      ended_ = true;
      for (const auto& one : all_http1_)
        if (const auto connection = one.lock()) connection->abort();
      for (const auto& one : all_http2_)
        if (const auto connection = one.lock()) connection->abort();
      for (const auto& one : trials_)
        if (const auto trial = one.lock()) trial->end({});
      // A stream may outlive the client, and what it asks of this thread then is never done.
      for (const auto& one : stream_jobs_)
        if (const auto job = one.lock()) job->cancel();
      waiting_.clear();
      streams_waiting_.clear();
      idle_.clear();
      carrier_.reset();
      stream_carriers_.clear();
      // After the handlers that hear of it, which keep the connections.
      asio::post(shared_->context, [this] { shared_->context.stop(); });
    });
    thread_.join();
    // Handlers that became ready meanwhile hold connections, and these the context, for ever if nobody ran them.
    shared_->context.restart();
    shared_->context.poll();
  }

  void send(HttpRequest request, OnResponse on_response) override {
    auto answer = [shared = shared_.get(), alive = alive_,
                   on_response = std::move(on_response)](base::Result<HttpResponse> response) {
      shared->post([alive, on_response, response = std::move(response)]() mutable {
        if (*alive) on_response(std::move(response));
      });
    };
    if (base::Status fine = check_lines(request); !fine.ok()) {
      asio::post(shared_->context, [answer, error = fine.take_error()]() mutable { answer(std::move(error)); });
      return;
    }
    const std::lock_guard lock(outgoing_->mutex);
    outgoing_->jobs.push_back({std::move(request), std::move(answer)});
    if (std::exchange(outgoing_->due, true)) return;
    // The requests of one turn of the loop go over together.
    loop_.post([this, shared = shared_, alive = alive_, outgoing = outgoing_] {
      const std::lock_guard again(outgoing->mutex);
      outgoing->due = false;
      if (!*alive) return;
      asio::post(shared->context, [this, jobs = std::exchange(outgoing->jobs, {})]() mutable {
        for (Job& job : jobs) waiting_[job.request.urgency].push_back(std::move(job));
        next();
      });
    });
  }

  std::unique_ptr<HttpStream> stream(HttpRequest request, StreamCallbacks callbacks) override;

  void connect(std::function<void(base::Status)> on_connected) override {
    auto report = [shared = shared_.get(), alive = alive_,
                   on_connected = std::move(on_connected)](base::Status status) {
      shared->post([alive, on_connected, status = std::move(status)]() mutable {
        if (*alive) on_connected(std::move(status));
      });
    };
    asio::post(shared_->context, [this, report = std::move(report)]() mutable {
      keep_in_sight(trials_, std::make_shared<Trial>(shared_))->run(std::move(report));
    });
  }

 private:
  enum class Protocol : std::uint8_t { kUnknown, kHttp1, kHttp2 };

  // I/O thread, all of it.
  void next() {
    if (ended_) return;
    if (protocol_ == Protocol::kHttp1) {
      while (!waiting_.empty() && (!idle_.empty() || open_ < shared_->options.in_flight_max)) start_http1(take_first());
      return;
    }
    if (carrier_ && !carrier_->takes_requests() && !connecting_) carrier_.reset();
    while (!waiting_.empty() && carrier_ &&
           carrier_->has_room(static_cast<std::size_t>(shared_->options.in_flight_max)))
      start_http2(take_first());
    if (!waiting_.empty() && !carrier_) connect_carrier();
  }

  Job take_first() {
    const auto most_urgent = waiting_.begin();
    Job job = std::move(most_urgent->second.front());
    most_urgent->second.pop_front();
    if (most_urgent->second.empty()) waiting_.erase(most_urgent);
    return job;
  }

  template <class T>
  static std::shared_ptr<T> keep_in_sight(std::vector<std::weak_ptr<T>>& all, std::shared_ptr<T> one) {
    std::erase_if(all, [](const auto& old) { return old.expired(); });
    all.push_back(one);
    return one;
  }

  // The protocol is what the server chose last.
  void chose(bool http2) {
    protocol_ = http2 ? Protocol::kHttp2 : Protocol::kHttp1;
    next();
    next_streams();
  }

  void connect_carrier() {
    carrier_ = keep_in_sight(all_http2_, std::make_shared<Http2Connection>(shared_));
    connecting_ = true;
    carrier_->connect(
        [this](base::Result<bool> http2) {
          connecting_ = false;
          if (http2.ok() && *http2) return chose(true);
          carrier_.reset();
          if (http2.ok()) return chose(false);
          for (auto& [urgency, jobs] : std::exchange(waiting_, {}))
            for (Job& job : jobs) job.answer(http2.error());
        },
        [this, raw = carrier_.get()] {
          if (carrier_.get() == raw) carrier_.reset();
          asio::post(shared_->context, [this] { next(); });
        });
  }

  // A request that waited for too long is not sent any more.
  static bool ends_unsent(const Job& job) {
    if (!job.request.wanted || job.request.wanted()) return false;
    job.answer(
        base::make_error(Code::kUnavailable, base::format("{} {} is not sent any more: the right to write is over",
                                                          job.request.method, job.request.target)));
    return true;
  }

  void start_http2(Job job) {
    if (ends_unsent(job)) return;
    Http2Connection::Callbacks callbacks;
    HttpRequest request = job.request;
    callbacks.on_done = [this, job = std::move(job)](base::Result<HttpResponse> response,
                                                     Http2Connection::Loss loss) mutable {
      const bool refused = loss == Http2Connection::Loss::kRefused && job.refusals < kRefusalsMax;
      const bool unheard = loss == Http2Connection::Loss::kUnheard && !job.repeated && may_repeat(job.request);
      if (refused || unheard) {
        job.refusals += refused ? 1 : 0;
        job.repeated = job.repeated || unheard;
        waiting_[job.request.urgency].push_front(std::move(job));
      } else {
        if (response.ok()) response->repeated = job.repeated;
        job.answer(std::move(response));
      }
      asio::post(shared_->context, [this] { next(); });
    };
    carrier_->run(request, false, std::move(callbacks));
  }

  void start_http1(Job job) {
    if (ends_unsent(job)) return;
    std::shared_ptr<Http1Connection> connection;
    if (!idle_.empty()) {
      connection = std::move(idle_.back());
      idle_.pop_back();
    } else {
      connection = keep_in_sight(all_http1_, std::make_shared<Http1Connection>(shared_));
      ++open_;
    }
    const bool was_used = connection->used();
    Http1Connection* raw = connection.get();
    HttpRequest request = job.request;
    raw->run(request, false, shared_->options.timeout,
             {nullptr, nullptr,
              [this, connection, job = std::move(job), was_used](base::Result<HttpResponse> response,
                                                                 bool reusable) mutable {
                if (reusable)
                  rest(connection);
                else
                  --open_;
                const bool lost = !response.ok() && response.error().code == Code::kUnavailable;
                if (lost && was_used && !connection->got_bytes() && may_repeat(job.request)) {
                  repeat(std::move(job));
                } else {
                  if (response.ok()) response->repeated = job.repeated;
                  job.answer(std::move(response));
                }
                asio::post(shared_->context, [this] { next(); });
              }});
  }

  void rest(const std::shared_ptr<Http1Connection>& connection) {
    idle_.push_back(connection);
    connection->rest([this, raw = connection.get()] {
      std::erase_if(idle_, [raw](const auto& one) { return one.get() == raw; });
      --open_;
    });
  }

  static bool may_repeat(const HttpRequest& request) {
    return request.method == "GET" || request.method == "HEAD" || request.may_repeat;
  }

  // The server has ended a kept connection before it answered. The others are as old: the request goes on a new one.
  void repeat(Job job) {
    for (const auto& connection : std::exchange(idle_, {})) {
      connection->abort();
      --open_;
    }
    job.repeated = true;
    waiting_[job.request.urgency].push_front(std::move(job));
  }

  // Streams go on a connection that has room for one more; new ones are made as they are needed.
  void next_streams() {
    if (ended_) return;
    while (!streams_waiting_.empty()) {
      const std::shared_ptr<StreamJob> job = streams_waiting_.front();
      if (!job->cancelled) {
        // A connection of HTTP/2 carries one protocol only.
        if (protocol_ == Protocol::kHttp1 || !job->request.upgrade.empty()) {
          start_stream_http1(job);
        } else if (const auto carrier = stream_carrier()) {
          start_stream_http2(job, carrier);
        } else {
          if (!stream_connecting_) connect_stream_carrier();
          return;
        }
      }
      streams_waiting_.pop_front();
    }
  }

  std::shared_ptr<Http2Connection> stream_carrier() const {
    for (const auto& one : stream_carriers_)
      if (one->has_room(kStreamsPerConnection)) return one;
    return nullptr;
  }

  void connect_stream_carrier() {
    const auto connection = keep_in_sight(all_http2_, std::make_shared<Http2Connection>(shared_));
    stream_connecting_ = true;
    connection->connect(
        [this, weak = std::weak_ptr(connection)](base::Result<bool> http2) {
          stream_connecting_ = false;
          if (http2.ok()) {
            if (*http2) stream_carriers_.push_back(weak.lock());
            return chose(*http2);
          }
          for (const auto& job : std::exchange(streams_waiting_, {})) job->end(http2.error());
        },
        [this, raw = connection.get()] {
          std::erase_if(stream_carriers_, [raw](const auto& one) { return one.get() == raw; });
        });
  }

  void start_stream_http1(const std::shared_ptr<StreamJob>& job) {
    job->http1 = keep_in_sight(all_http1_, std::make_shared<Http1Connection>(shared_));
    job->http1->run(job->request, true, shared_->options.timeout, job->callbacks);
  }

  void start_stream_http2(const std::shared_ptr<StreamJob>& job, const std::shared_ptr<Http2Connection>& carrier) {
    Http2Connection::Callbacks callbacks;
    callbacks.on_head = job->callbacks.on_head;
    callbacks.on_data = job->callbacks.on_data;
    callbacks.on_done = [job](base::Result<HttpResponse> response, Http2Connection::Loss) {
      if (job->callbacks.on_done) job->callbacks.on_done(std::move(response), false);
    };
    job->http2 = carrier;
    job->id = carrier->run(job->request, true, std::move(callbacks));
  }

  std::shared_ptr<ClientShared> shared_;
  Loop& loop_;
  std::shared_ptr<std::atomic<bool>> alive_;  // read by the loop; cleared wherever the owner is destroyed
  const std::shared_ptr<Outgoing> outgoing_ = std::make_shared<Outgoing>();
  bool ended_ = false;  // I/O thread: nothing begins any more
  Protocol protocol_;
  std::map<std::uint8_t, std::deque<Job>> waiting_;  // by urgency; none is empty
  std::deque<std::shared_ptr<StreamJob>> streams_waiting_;
  // HTTP/2: the connection of requests, and those of streams.
  std::shared_ptr<Http2Connection> carrier_;
  bool connecting_ = false;
  std::vector<std::shared_ptr<Http2Connection>> stream_carriers_;
  bool stream_connecting_ = false;
  // HTTP/1.1.
  std::vector<std::shared_ptr<Http1Connection>> idle_;
  int open_ = 0;
  // Also those of streams.
  std::vector<std::weak_ptr<Http1Connection>> all_http1_;
  std::vector<std::weak_ptr<Http2Connection>> all_http2_;
  std::vector<std::weak_ptr<Trial>> trials_;
  std::vector<std::weak_ptr<StreamJob>> stream_jobs_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  std::thread thread_;
};

// Some of a stream on its way to the loop, where it may also be dropped.
struct Piece {
  Piece(std::string d, std::shared_ptr<std::atomic<std::size_t>> u) : data(std::move(d)), untaken(std::move(u)) {
    *untaken += data.size();
  }
  ~Piece() { *untaken -= data.size(); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  const std::string data;
  const std::shared_ptr<std::atomic<std::size_t>> untaken;
};

class Stream : public HttpStream {
 public:
  Stream(std::shared_ptr<ClientShared> shared, std::shared_ptr<StreamJob> job, std::shared_ptr<std::atomic<bool>> alive,
         std::shared_ptr<std::atomic<std::size_t>> unsent)
      : shared_(std::move(shared)), job_(std::move(job)), alive_(std::move(alive)), unsent_(std::move(unsent)) {}
  ~Stream() override {
    *alive_ = false;
    asio::post(shared_->context, [job = job_] { job->cancel(); });
  }
  bool write(std::string bytes) override {
    const bool enough = (*unsent_ += bytes.size()) > kUnsentMax;
    asio::post(shared_->context, [job = job_, bytes = std::move(bytes)] {
      if (job->http1) job->http1->write_bytes(bytes);
    });
    return !enough;
  }
  void hold(bool held) override {
    asio::post(shared_->context, [job = job_, held] {
      if (job->http1) job->http1->hold(held);
    });
  }

 private:
  std::shared_ptr<ClientShared> shared_;
  std::shared_ptr<StreamJob> job_;
  std::shared_ptr<std::atomic<bool>> alive_;          // read by the loop; cleared wherever the owner is destroyed
  std::shared_ptr<std::atomic<std::size_t>> unsent_;  // bytes of write() on their way to the socket
};

std::unique_ptr<HttpStream> Client::stream(HttpRequest request, StreamCallbacks callbacks) {
  auto job = std::make_shared<StreamJob>();
  job->request = std::move(request);
  auto alive = std::make_shared<std::atomic<bool>>(true);
  auto shared_callbacks = std::make_shared<StreamCallbacks>(std::move(callbacks));
  auto to_loop = [shared = shared_.get(), alive](auto f) {
    shared->post([alive, f = std::move(f)]() mutable {
      if (*alive) f();
    });
  };
  Http1Connection::Callbacks& inner = job->callbacks;
  inner.on_head = [to_loop, shared_callbacks](int status, Headers headers) {
    to_loop([shared_callbacks, status, headers = std::move(headers)] {
      if (shared_callbacks->on_start) shared_callbacks->on_start(status, headers);
    });
  };
  inner.on_data = [to_loop, shared_callbacks, untaken = shared_->untaken](std::string data) {
    to_loop([shared_callbacks, piece = std::make_shared<Piece>(std::move(data), untaken)] {
      if (shared_callbacks->on_data) shared_callbacks->on_data(piece->data);
    });
  };
  inner.on_done = [to_loop, shared_callbacks](base::Result<HttpResponse> response, bool) {
    to_loop([shared_callbacks, status = response.ok() ? base::Status() : base::Status(response.take_error())] {
      if (shared_callbacks->on_end) shared_callbacks->on_end(status);
    });
  };
  auto unsent = std::make_shared<std::atomic<std::size_t>>(0);
  inner.on_written = [to_loop, shared_callbacks, unsent](std::size_t size) {
    const std::size_t before = unsent->fetch_sub(size);
    if (before <= kUnsentMax || before - size > kUnsentMax) return;
    to_loop([shared_callbacks] {
      if (shared_callbacks->on_room) shared_callbacks->on_room();
    });
  };
  asio::post(shared_->context, [this, job] {
    if (const base::Status fine = check_lines(job->request); !fine.ok()) return job->end(fine.error());
    streams_waiting_.push_back(keep_in_sight(stream_jobs_, job));
    next_streams();
  });
  return std::make_unique<Stream>(shared_, std::move(job), alive, std::move(unsent));
}

}  // namespace

base::Result<std::unique_ptr<HttpClient>> make_http_client(ClientOptions options, Loop& loop) {
  if (options.proxy && !options.tls)
    return base::make_error(Code::kInvalid, "a server without TLS is not spoken to through a proxy");
  auto shared = std::make_shared<ClientShared>(std::move(options), loop);
  if (shared->options.tls) {
    shared->tls.emplace(asio::ssl::context::tls_client);
    TRY_VOID(use_client_keys(*shared->tls, shared->options));
  }
  try {
    // Makes what all sockets need, on this thread: its lack is not an error of theirs but an exception, which on the
    // client's own thread would be the end of the process.
    const asio::steady_timer first(shared->context);
    return std::unique_ptr<HttpClient>(std::make_unique<Client>(shared, loop));
  } catch (const std::runtime_error& scarce) {  // std::system_error, or Boost's
    return shared->error(Code::kUnavailable, base::format("no thread or descriptor is free: {}", scarce.what()));
  }
}

}  // namespace rt
