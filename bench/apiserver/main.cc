// apiserver_bench KUBECONFIG: how fast a running API server takes durable writes, lists, and feeds watchers, over
// HTTPS.
//
// Closed loops: each client sends its next request when the last one was answered. Everything made is deleted in the
// end.
#include <algorithm>
#include <cstdio>
#include <future>
#include <vector>

#include "api/json/json.h"
#include "base/format.h"
#include "client/http/kubeconfig.h"
#include "own_server.h"
#include "rt/env.h"
#include "rt/http/client/http_client.h"
#include "rt/http/url.h"
#include "thread_times.h"

namespace {

using api::Json;

constexpr int kPods = 20'000;
constexpr int kWatchers = 100;
constexpr int kQueues = 2'000;

base::Result<rt::ClientOptions> options_for(const client::ServerAccess& access, int connections) {
  TRY(const rt::ServerUrl url, rt::parse_server_url(access.server));
  rt::ClientOptions options{.host = url.host, .port = url.port, .tls = url.tls};
  options.ca_pem = access.ca_pem;
  options.certificate_pem = access.certificate_pem;
  options.key_pem = access.key_pem;
  options.server_name = access.tls_server_name;
  options.insecure_skip_verify = access.insecure_skip_tls_verify;
  options.in_flight_max = connections;
  return options;
}

rt::HttpRequest request_for(std::string method, std::string target, std::string body = {}) {
  rt::HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  request.body = std::move(body);
  return request;
}

// One load: `clients` loops that send until `wanted` requests are answered or `limit` has passed. All on the loop.
struct Load {
  rt::Env& env;
  rt::HttpClient& http;
  std::function<rt::HttpRequest(int)> make;
  int wanted;
  base::Duration limit;
  std::promise<void> finished = {};
  base::Duration begin = {};
  base::Duration end = {};
  int sent = 0, answered = 0, failed = 0, open = 0;
  std::string problem = {};
  std::vector<std::int64_t> times_ns = {};

  void run(int clients) {
    env.loop().post([this, clients] {
      begin = env.uptime();
      for (int i = 0; i < clients; ++i) next();
    });
    finished.get_future().wait();
  }

  void next() {
    if (sent >= wanted || env.uptime() - begin > limit) {
      if (open == 0) {
        end = env.uptime();
        open = -1;
        finished.set_value();  // the load may be gone now
      }
      return;
    }
    ++open;
    const base::Duration start = env.uptime();
    http.send(make(sent++), [this, start](base::Result<rt::HttpResponse> response) {
      --open;
      times_ns.push_back((env.uptime() - start).ns);
      if (response.ok() && response->status < 300) {
        ++answered;
      } else {
        ++failed;
        if (problem.empty())
          problem = response.ok() ? base::format("{} {}", response->status, response->body.substr(0, 200))
                                  : response.error().message;
      }
      next();
    });
  }

  double per_second() const { return static_cast<double>(answered) / (end - begin).seconds(); }
  double percentile_ms(double share) {
    if (times_ns.empty()) return 0;
    std::sort(times_ns.begin(), times_ns.end());
    return static_cast<double>(times_ns[std::min(
               times_ns.size() - 1, static_cast<std::size_t>(share * static_cast<double>(times_ns.size())))]) /
           1e6;
  }
  void report_failures() const {
    if (failed > 0) std::printf("  %d of %d failed, the first: %s\n", failed, sent, problem.c_str());
  }
};

std::string config_map(const std::string& name) {
  return Json::object({{"metadata", Json::object({{"name", name}})}, {"data", Json::object({{"key", "value"}})}})
      .dump();
}

std::string pod(int index) {
  const Json container =
      Json::object({{"name", "main"},
                    {"image", "work"},
                    {"resources", Json::object({{"requests", Json::object({{"cpu", "100m"}, {"memory", "64Mi"}})}})}});
  // The pod is never scheduled.
  return Json::object({{"metadata", Json::object({{"name", base::format("bench-{}", index)},
                                                  {"labels", Json::object({{"app", "bench"}})}})},
                       {"spec", Json::object({{"schedulerName", "nobody"}, {"containers", Json::array({container})}})}})
      .dump();
}

class Bench {
 public:
  // `only`: one measurement by name; empty: all of them.
  // `own`: the server is in this process.
  Bench(rt::Env& env, client::ServerAccess access, std::string only, bool own)
      : env_(env), access_(std::move(access)), only_(std::move(only)), own_(own) {}

  base::Status run() {
    TRY_VOID(open(64));
    Load make_namespace{
        env_, *http_, [](int) { return request_for("POST", "/api/v1/namespaces", R"({"metadata":{"name":"bench"}})"); },
        1, base::seconds(10)};
    make_namespace.run(1);
    if (wants("creates")) {
      for (const int clients : {1, 32, 256}) TRY_VOID(creates(clients));
    }
    TRY_VOID(open(64));
    if (wants("watch")) TRY_VOID(watch_fan_out());
    if (wants("list")) pods_listed();
    if (wants("queues")) queues_made_and_deleted();
    clean();
    return {};
  }

 private:
  bool wants(std::string_view name) const { return only_.empty() || only_ == name; }

  base::Status open(int connections) {
    http_.reset();
    TRY(const rt::ClientOptions options, options_for(access_, connections));
    TRY(http_, rt::make_http_client(options, env_.loop()));
    return {};
  }

  base::Status creates(int clients) {
    TRY_VOID(open(clients));
    const std::string round = std::to_string(clients);
    Load load{env_, *http_,
              [&round](int i) {
                return request_for("POST", "/api/v1/namespaces/bench/configmaps",
                                   config_map(base::format("c{}-{}", round, i)));
              },
              200'000, base::seconds(3)};
    // A client connects once and then works for long.
    Load connect{env_, *http_, [](int) { return request_for("GET", "/version"); }, clients, base::seconds(60)};
    connect.run(clients);
    const auto before = bench::thread_times();
    load.run(clients);
    std::printf("durable creates, %3d clients: %8.0f a second, median %.2f ms, 99%% %.2f ms\n", clients,
                load.per_second(), load.percentile_ms(0.5), load.percentile_ms(0.99));
    if (own_) std::printf("  microseconds a create: %s\n", bench::times_each(before, load.answered).c_str());
    load.report_failures();
    return {};
  }

  // The watchers share the cores with the server: as little as can be.
  static std::int64_t lines_in(std::string_view bytes) {
    std::int64_t lines = 0;
    for (std::size_t at = bytes.find('\n'); at != bytes.npos; at = bytes.find('\n', at + 1)) ++lines;
    return lines;
  }

  base::Status watch_fan_out() {
    constexpr int kEvents = 10'000;
    std::int64_t lines = 0;  // loop only
    int started = 0;
    std::promise<void> all_started, all_seen;
    std::vector<std::unique_ptr<rt::HttpStream>> streams;
    Load version{env_, *http_, [](int) { return request_for("GET", "/api/v1/namespaces/bench"); }, 1,
                 base::seconds(10)};
    version.run(1);
    std::promise<void> opened;
    env_.loop().post([&] {
      for (int i = 0; i < kWatchers; ++i) {
        rt::HttpClient::StreamCallbacks callbacks;
        callbacks.on_start = [&](int, const rt::Headers&) {
          if (++started == kWatchers) all_started.set_value();
        };
        callbacks.on_data = [&](std::string_view bytes) {
          const std::int64_t before = lines;
          lines += lines_in(bytes);
          if (before < std::int64_t{kEvents} * kWatchers && lines >= std::int64_t{kEvents} * kWatchers)
            all_seen.set_value();
        };
        callbacks.on_end = [](base::Status) {};
        streams.push_back(http_->stream(request_for("GET", "/api/v1/namespaces/bench/secrets?watch=true"), callbacks));
      }
      opened.set_value();
    });
    opened.get_future().wait();
    if (all_started.get_future().wait_for(std::chrono::seconds(20)) != std::future_status::ready)
      return base::make_error(base::Code::kTimeout, base::format("{} of {} watches were opened", started, kWatchers));
    const base::Duration begin = env_.uptime();
    const auto before = bench::thread_times();
    Load load{env_, *http_,
              [](int i) {
                return request_for(
                    "POST", "/api/v1/namespaces/bench/secrets",
                    Json::object({{"metadata", Json::object({{"name", base::format("w{}", i)}})}}).dump());
              },
              kEvents, base::seconds(30)};
    load.run(256);
    load.report_failures();
    const bool seen = all_seen.get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready;
    const double seconds = (env_.uptime() - begin).seconds();
    std::printf("watch fan-out, %d watchers: %d events each in %.2f s, %.0f deliveries a second%s\n", kWatchers,
                kEvents, seconds, static_cast<double>(kEvents) * kWatchers / seconds, seen ? "" : " (not all arrived)");
    if (own_) std::printf("  microseconds an event: %s\n", bench::times_each(before, kEvents).c_str());
    std::promise<void> closed;
    env_.loop().post([&] {
      streams.clear();
      closed.set_value();
    });
    closed.get_future().wait();
    return {};
  }

  void pods_listed() {
    Load make{env_, *http_, [](int i) { return request_for("POST", "/api/v1/namespaces/bench/pods", pod(i)); }, kPods,
              base::seconds(120)};
    make.run(64);
    std::printf("pods created, 64 clients: %d at %.0f a second\n", make.answered, make.per_second());
    make.report_failures();
    Load list{env_, *http_, [](int) { return request_for("GET", "/api/v1/pods"); }, 5, base::seconds(60)};
    list.run(1);
    std::printf("list of %d pods: median %.0f ms\n", make.answered, list.percentile_ms(0.5));
    list.report_failures();
  }

  // Each new queue meets the rules of the tree of queues; what one costs must not grow with how many there are.
  void queues_made_and_deleted() {
    const auto path = [](int i) { return base::format("/apis/scheduling.volcano.sh/v1beta1/queues/bench-{}", i); };
    double first = 0;
    for (int begin = 0; begin < kQueues; begin += kQueues / 4) {
      Load make{env_, *http_,
                [begin](int i) {
                  return request_for(
                      "POST", "/apis/scheduling.volcano.sh/v1beta1/queues",
                      Json::object({{"metadata", Json::object({{"name", base::format("bench-{}", begin + i)}})},
                                    {"spec", Json::object({{"weight", 1}})}})
                          .dump());
                },
                kQueues / 4, base::seconds(60)};
      make.run(1);
      if (begin == 0) first = make.percentile_ms(0.5);
      if (begin == kQueues / 4 * 3)
        std::printf("queues made one by one: median %.2f ms of the first %d, %.2f ms of the last of %d\n", first,
                    kQueues / 4, make.percentile_ms(0.5), kQueues);
      make.report_failures();
    }
    Load remove{env_, *http_, [&](int i) { return request_for("DELETE", path(i)); }, kQueues, base::seconds(60)};
    remove.run(1);
    std::printf("queues deleted one by one: median %.2f ms\n", remove.percentile_ms(0.5));
    remove.report_failures();
  }

  void clean() {
    Load remove{env_, *http_, [](int) { return request_for("DELETE", "/api/v1/namespaces/bench"); }, 1,
                base::seconds(10)};
    remove.run(1);
  }

  rt::Env& env_;
  client::ServerAccess access_;
  std::string only_;
  bool own_;
  std::unique_ptr<rt::HttpClient> http_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::size_t own = !words.empty() && words[0] == "--own" ? 1 : 0;
  if (words.size() < 1 + own || words.size() > 2 + own) {
    std::fprintf(stderr,
                 "usage: apiserver_bench KUBECONFIG [creates|watch|list|queues]\n"
                 "       apiserver_bench --own FOLDER [...]      a server in this process, for profiles\n");
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::unique_ptr<bench::OwnServer> server;
  const auto find_access = [&]() -> base::Result<client::ServerAccess> {
    if (own == 0) return client::load_kubeconfig(words[0]);
    TRY(server, bench::start_own_server(words[1]));
    return server->access();
  };
  const auto access = find_access();
  if (!access.ok()) {
    std::fprintf(stderr, "apiserver_bench: %s\n", access.error().message.c_str());
    return 2;
  }
  const auto env = rt::make_real_env("bench");
  const base::Status status = Bench(*env, *access, words.size() == 2 + own ? words.back() : "", own == 1).run();
  if (!status.ok()) std::fprintf(stderr, "apiserver_bench: %s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
