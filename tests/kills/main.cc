// kill_writers KUBECONFIG LEDGER: writes without pause to a server that is killed again and again, and notes in LEDGER
// the name of every object whose creation was acknowledged. Runs until it is told to stop.
#include <csignal>
#include <cstdio>

#include "base/format.h"
#include "client/http/http_client.h"
#include "rt/env.h"

namespace {

using api::Json;

constexpr int kWriters = 16;

// All on the loop.
class Writers {
 public:
  Writers(rt::Env& env, client::Client& client, std::FILE* ledger) : env_(env), client_(client), ledger_(ledger) {}

  void start() {
    for (int writer = 0; writer < kWriters; ++writer) create(writer, 0);
  }

 private:
  void create(int writer, int number) {
    const std::string name = base::format("w{}-{}", writer, number);
    client::Request request{.verb = client::Verb::kCreate, .resource = api::resources::kConfigMaps, .ns = "default"};
    request.body = Json::object(
        {{"metadata", Json::object({{"name", name}})}, {"data", Json::object({{"key", std::string(200, 'x')}})}});
    client_.call(std::move(request), [this, writer, number, name](base::Result<Json> result) {
      // "Already exists" is the word about an earlier attempt whose answer was lost.
      if (result.ok() || result.error().code == base::Code::kAlreadyExists) {
        std::fprintf(ledger_, "%s\n", name.c_str());
        std::fflush(ledger_);
        return create(writer, number + 1);
      }
      env_.loop().after(base::milliseconds(20), [this, writer, number] { create(writer, number); });
    });
  }

  rt::Env& env_;
  client::Client& client_;
  std::FILE* ledger_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: kill_writers KUBECONFIG LEDGER\n");
    return 2;
  }
  sigset_t stops;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  sigprocmask(SIG_BLOCK, &stops, nullptr);
  auto access = client::load_kubeconfig(argv[1]);
  std::FILE* ledger = std::fopen(argv[2], "w");
  if (!access.ok() || !ledger) {
    std::fprintf(stderr, "kill_writers: %s\n",
                 access.ok() ? "the ledger cannot be written" : access.error().message.c_str());
    return 2;
  }
  auto env = rt::make_real_env("writers");
  auto client = client::make_http_client({.access = *std::move(access)}, *env);
  if (!client.ok()) {
    std::fprintf(stderr, "kill_writers: %s\n", client.error().message.c_str());
    return 2;
  }
  Writers writers(*env, **client, ledger);
  env->loop().post([&] { writers.start(); });
  int stop = 0;
  sigwait(&stops, &stop);
  env->stop();
  std::fclose(ledger);
  return 0;
}
