// A metrics source is asked over HTTP, and its values become facts of nodes.
#include "scheduler/sources/usage_collector.h"

#include <gtest/gtest.h>

#include <future>

#include "base/await_for_tests.h"
#include "base/format.h"
#include "rt/http/server/http_server.h"

namespace scheduler {
namespace {

constexpr std::string_view kSample =
    R"({{"status":"success","data":{{"resultType":"vector","result":[{{"metric":{{"instance":"n1:9100"}},"value":[1,"{}"]}}]}}}})";

TEST(UsageCollector, takes_cpu_and_memory_of_each_node_from_prometheus) {
  auto server = rt::listen_http({}, [](rt::HttpRequest request, std::shared_ptr<rt::HttpExchange> exchange) {
    const rt::Target target = rt::parse_target(request.target);
    const bool cpu = target.get("query").find("node_cpu_seconds_total") != std::string_view::npos;
    const std::string body = target.path == "/base/api/v1/query" ? base::format(kSample, cpu ? "42.5" : "17") : "";
    exchange->respond({.status = 200, .headers = {}, .body = body});
  });
  ASSERT_TRUE(server.ok());
  auto env = rt::make_real_env("test");
  NodeUsages usages;
  std::unique_ptr<UsageCollector> collector;
  std::promise<void> measured;
  env->loop().post([&] {
    collector = std::make_unique<UsageCollector>(*env, usages, [&] {
      collector->configure({});  // once is enough
      measured.set_value();
    });
    collector->configure({{"type", "prometheus"},
                          {"address", base::format("http://127.0.0.1:{}/base/", (*server)->port())},
                          {"interval", "1h"}});
  });
  base::await(measured);
  std::promise<void> gone;
  env->loop().post([&] {
    ASSERT_NE(usages.find("n1", "10m"), nullptr);
    EXPECT_EQ(usages.find("n1", "10m")->cpu, 42.5);
    EXPECT_EQ(usages.find("n1", "10m")->memory, 17);
    EXPECT_EQ(usages.find("n1", "5m"), nullptr);
    collector.reset();
    gone.set_value();
  });
  base::await(gone);
  env->stop();
}

}  // namespace
}  // namespace scheduler
