// vcctl: the command tree of cli/, over HTTP(S), one request after the other.
#include "cli/vcctl.h"

#include <ctime>
#include <future>
#include <iostream>

#include "base/format.h"
#include "client/http_client.h"
#include "main/host/connection.h"
#include "main/host/version.h"
#include "main/programs.h"
#include "rt/files.h"
#include "rt/http_client.h"
#include "rt/url.h"

namespace volcano_main {
namespace {

// Owns a loop; a call posts to it and waits.
class WaitingApi final : public cli::Api {
 public:
  explicit WaitingApi(client::ServerAccess access) : env_(rt::make_real_env("vcctl")) {
    std::promise<base::Status> ready;
    env_->loop().post([&] {
      auto made = client::make_http_client(
          {.access = std::move(access), .user_agent = "vcctl", .field_manager = "vcctl"}, *env_);
      if (!made.ok()) return ready.set_value(made.take_error());
      client_ = *std::move(made);
      ready.set_value({});
    });
    opened_ = ready.get_future().get();
  }
  ~WaitingApi() override {
    std::promise<void> gone;
    env_->loop().post([&] {
      client_.reset();
      gone.set_value();
    });
    gone.get_future().wait();
    env_->stop();
  }

  base::Status opened() const { return opened_; }

  base::Result<api::Json> call(client::Request request) override {
    std::promise<base::Result<api::Json>> answer;
    env_->loop().post([&] {
      client_->call(std::move(request), [&](base::Result<api::Json> result) { answer.set_value(std::move(result)); });
    });
    return answer.get_future().get();
  }

 private:
  std::unique_ptr<rt::RealEnv> env_;
  std::unique_ptr<client::Client> client_;
  base::Status opened_;
};

base::Result<std::unique_ptr<cli::Api>> connect(const std::string& kubeconfig, const std::string& master) {
  TRY(client::ServerAccess access, user_access(kubeconfig, master));
  auto server = std::make_unique<WaitingApi>(std::move(access));
  TRY_VOID(server->opened());
  return std::unique_ptr<cli::Api>(std::move(server));
}

// The body of what is at an http:// or https:// URL.
base::Result<std::string> fetch(const std::string& url) {
  TRY(const rt::ServerUrl from, rt::parse_server_url(url));
  rt::ClientOptions options{.host = from.host, .port = from.port, .tls = from.tls};
  options.timeout = base::seconds(10);
  const auto env = rt::make_real_env("fetch");
  TRY(const std::unique_ptr<rt::HttpClient> client, env->http_client(options));
  std::promise<base::Result<rt::HttpResponse>> answer;
  env->loop().post([&] {
    client->send({.method = "GET", .target = from.target()},
                 [&](base::Result<rt::HttpResponse> response) { answer.set_value(std::move(response)); });
  });
  TRY(rt::HttpResponse response, answer.get_future().get());
  env->stop();
  if (response.status != 200)
    return base::make_error(base::Code::kUnavailable,
                            base::format("{} answered {}: {}", url, response.status, response.body));
  return std::move(response.body);
}

std::string local_time(base::Time time) {
  const std::time_t seconds = static_cast<std::time_t>(time.ns / 1'000'000'000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z %Z", &parts);
  return text;
}

}  // namespace

int run_vcctl(const Arguments& arguments) {
  cli::World world{.connect = connect,
                   .read_file = [](const std::string& path) { return rt::read_file(path); },
                   .fetch = fetch,
                   .local_time = local_time,
                   .now = base::Time{std::time(nullptr) * 1'000'000'000LL},
                   .version = kVersion,
                   .out = {},
                   .err = {}};
  const int status = cli::run_command(cli::vcctl_root(), arguments, world);
  std::cout << world.out << std::flush;
  std::cerr << world.err << std::flush;
  return status;
}

}  // namespace volcano_main
