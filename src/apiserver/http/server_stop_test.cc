// A server that stops while requests are under way: what it has received is carried out.
#include <gtest/gtest.h>

#include <future>

#include "apiserver/http/server.h"
#include "base/await_for_tests.h"
#include "rt/http/client/http_client.h"
#include "rt/storage/kv.h"

namespace apiserver {
namespace {

// A disk that waits to be let go, once it is asked to.
class SlowKv final : public rt::KvStore {
 public:
  base::Status commit(const std::function<void(rt::KvWriter&)>& changes) override {
    if (std::exchange(waits_, false)) {
      reached_.set_value();
      base::await(go_on_);
    }
    return inner_->commit(changes);
  }
  base::Status scan(std::string_view begin, std::string_view end,
                    const std::function<bool(std::string_view, std::string_view)>& visit) const override {
    return inner_->scan(begin, end, visit);
  }
  // Between commits.
  void wait_in_the_next() { waits_ = true; }
  void until_reached() { base::await(reached_); }
  void let_go() { go_on_.set_value(); }

 private:
  std::unique_ptr<rt::KvStore> inner_ = rt::make_memory_kv();
  std::promise<void> reached_, go_on_;
  bool waits_ = false;
};

rt::HttpRequest create(const std::string& name) {
  rt::HttpRequest request;
  request.method = "POST";
  request.target = "/api/v1/namespaces/default/configmaps";
  request.headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer secret"}};
  request.body = R"({"metadata":{"name":")" + name + R"("}})";
  return request;
}

TEST(Server, that_stops_carries_out_what_it_received) {
  SlowKv kv;
  const auto env = rt::make_real_env("api");
  auto store = *store::Store::open(*env, kv);
  auto api = std::make_unique<Api>(*env, *store, ApiOptions{});
  std::promise<void> begun;
  env->loop().post([&] { api->bootstrap([&](base::Status) { begun.set_value(); }); });
  base::await(begun);
  auto server = *start_server(*api, {.http = {}, .token = "secret", .version = "0"});

  const auto asks = rt::make_real_env("asks");
  auto http = *rt::make_http_client({.host = "127.0.0.1", .port = server->port(), .tls = false}, asks->loop());
  kv.wait_in_the_next();
  http->send(create("a"), [](base::Result<rt::HttpResponse>) {});
  kv.until_reached();
  server.reset();
  kv.let_go();
  env->stop();
  const auto maps = static_cast<std::uint32_t>(api::find_kind(api::resources::kConfigMaps) - api::all_kinds().data());
  EXPECT_NE(store->find(maps, "default", "a", store::View::kDurable), nullptr);
  http.reset();
  asks->stop();
  api.reset();
}

// The count of connections that it reports kept the server, and so its options, for ever.
TEST(Server, that_ends_keeps_nothing_of_its_options) {
  const auto kv = rt::make_memory_kv();
  const auto env = rt::make_real_env("api");
  auto store = *store::Store::open(*env, *kv);
  auto api = std::make_unique<Api>(*env, *store, ApiOptions{});
  std::promise<void> begun;
  env->loop().post([&] { api->bootstrap([&](base::Status) { begun.set_value(); }); });
  base::await(begun);
  const auto part = std::make_shared<int>();
  auto server = *start_server(
      *api, {.http = {}, .token = "secret", .version = "0", .other_metrics = [part] { return std::string(); }});
  EXPECT_GT(part.use_count(), 1);
  server.reset();
  env->stop();
  EXPECT_EQ(part.use_count(), 1);
  api.reset();
}

}  // namespace
}  // namespace apiserver
