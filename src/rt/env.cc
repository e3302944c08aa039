// An environment that has neither network nor disk nor threads.
#include "rt/env.h"

#include "base/format.h"
#include "rt/http/client/http_client.h"
#include "rt/storage/kv.h"

namespace rt {
namespace {

class OffloadWorker final : public Worker {
 public:
  explicit OffloadWorker(Env& env) : env_(env) {}
  void run(Task work, Task done) override { env_.offload(std::move(work), std::move(done)); }

 private:
  Env& env_;
};

}  // namespace

std::unique_ptr<Worker> Env::worker(const std::string&) { return std::make_unique<OffloadWorker>(*this); }

base::Result<std::unique_ptr<HttpClient>> Env::http_client(ClientOptions options) {
  return base::make_error(base::Code::kUnavailable,
                          base::format("cannot reach {}:{}: there is no network here", options.host, options.port));
}

base::Result<std::unique_ptr<KvStore>> Env::open_store(const std::string& path, std::size_t) {
  return base::make_error(base::Code::kUnavailable, base::format("cannot open {}: there is no disk here", path));
}

}  // namespace rt
