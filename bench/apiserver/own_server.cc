// Keys for an hour, a store on disk, a server on a free port.
#include "own_server.h"

#include <future>

#include "admission/rules/hooks.h"
#include "apiserver/http/server.h"
#include "apiserver/pipeline/api.h"
#include "base/format.h"
#include "rt/storage/kv.h"
#include "rt/tls/tls.h"

namespace bench {
namespace {

class Running final : public OwnServer {
 public:
  ~Running() override {
    server_.reset();
    env_->stop();
  }

  base::Status start(const std::string& data) {
    TRY(kv_, env_->open_store(data + "/objects", std::size_t{8} << 30));
    TRY(store_, store::Store::open(*env_, *kv_));
    apiserver::ApiOptions options;
    options.hooks = admission::hooks({});
    api_ = std::make_unique<apiserver::Api>(*env_, *store_, std::move(options));
    std::promise<base::Status> begun;
    env_->loop().post([&] { api_->bootstrap([&](base::Status status) { begun.set_value(std::move(status)); }); });
    TRY_VOID(begun.get_future().get());
    TRY(ca_, rt::make_ca("bench", env_->now(), base::hours(1)));
    TRY(const rt::KeyPair key,
        rt::issue_certificate(ca_, {.common_name = "server", .ip_addresses = {"127.0.0.1"}, .server = true},
                              env_->now(), base::hours(1)));
    TRY(admin_, rt::issue_certificate(ca_, {.common_name = "admin", .organizations = {"system:masters"}}, env_->now(),
                                      base::hours(1)));
    apiserver::ServerOptions listening;
    listening.http.tls = rt::ServerKeys{key.certificate_pem, key.key_pem, ca_.certificate_pem};
    listening.version = "bench";
    TRY(server_, apiserver::start_server(*api_, std::move(listening)));
    server_->set_ready(true);
    return {};
  }

  client::ServerAccess access() const override {
    client::ServerAccess access;
    access.server = base::format("https://127.0.0.1:{}", server_->port());
    access.ca_pem = ca_.certificate_pem;
    access.certificate_pem = admin_.certificate_pem;
    access.key_pem = admin_.key_pem;
    return access;
  }

 private:
  std::unique_ptr<rt::RealEnv> env_ = rt::make_real_env("apiserver");
  std::unique_ptr<rt::KvStore> kv_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<apiserver::Api> api_;
  std::unique_ptr<apiserver::Server> server_;
  rt::KeyPair ca_, admin_;
};

}  // namespace

base::Result<std::unique_ptr<OwnServer>> start_own_server(const std::string& data) {
  auto server = std::make_unique<Running>();
  TRY_VOID(server->start(data));
  return std::unique_ptr<OwnServer>(std::move(server));
}

}  // namespace bench
