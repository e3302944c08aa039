// Requests to pods and services: who is meant, and what comes back.
#include "apiserver/http/pods/pod_proxy.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/http/served_for_tests.h"
#include "base/await_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

// A pod that answers each connection with one text and then ends it.
class CannedPods final : public api::PodStreams {
 public:
  Opened exec(const std::string&, api::ExecOptions, api::PodStreamEvents) override {
    return base::make_error(base::Code::kInternal, "not here");
  }
  Opened attach(const std::string&, api::ExecOptions, api::PodStreamEvents) override {
    return base::make_error(base::Code::kInternal, "not here");
  }
  ~CannedPods() override { end(); }
  // As the streams of a node: none speaks any more once this has returned.
  void end() {
    std::vector<std::thread> all;
    {
      const std::lock_guard lock(mutex_);
      all = std::exchange(speakers_, {});
    }
    for (std::thread& one : all) one.join();
  }
  Opened connect(const std::string& uid, int port, api::PodStreamEvents events) override {
    reached = base::format("{}:{}", uid, port);
    return std::shared_ptr<api::PodStream>(std::make_shared<Stream>(*this, std::move(events)));
  }

  std::string answer;
  base::Result<int> how = 0;
  std::string reached, asked;

 private:
  class Stream final : public api::PodStream {
   public:
    Stream(CannedPods& pods, api::PodStreamEvents events) : pods_(pods), events_(std::move(events)) {}
    bool write(std::string bytes) override {
      pods_.asked = std::move(bytes);
      const std::lock_guard lock(pods_.mutex_);
      // Copies: once the answer is there, the test changes the originals, and this stream may be gone.
      pods_.speakers_.emplace_back([events = std::exchange(events_, {}), answer = pods_.answer, how = pods_.how] {
        if (!answer.empty()) events.on_output(1, answer);
        events.on_end(how);
      });
      return true;
    }
    void close_input() override {}
    void resize(int, int) override {}
    void end() override {}

   private:
    CannedPods& pods_;
    api::PodStreamEvents events_;
  };

  std::mutex mutex_;
  std::vector<std::thread> speakers_;
};

struct PodProxy : ::testing::Test {
  CannedPods pods;
  Served served{{.pod_streams = &pods}};
  ~PodProxy() override { pods.end(); }  // the server's loop outlives what comes from pods

  static constexpr const char* kPods = "/api/v1/namespaces/default/pods";
  void make(const std::string& path, const std::string& body) {
    const auto answer = served.ask("POST", path, {{"Content-Type", "application/json"}}, body);
    ASSERT_LT(answer.status, 300) << answer.body;
  }
  void make_pod(const std::string& name, const std::string& phase) {
    make(kPods, R"({"metadata":{"name":")" + name + R"("},"spec":{"containers":[{"name":"a","image":"i"},
                   {"name":"c","image":"i","ports":[{"name":"web","containerPort":8080}]}]}})");
    const auto answer =
        served.ask("PATCH", std::string(kPods) + "/" + name + "/status",
                   {{"Content-Type", "application/merge-patch+json"}}, R"({"status":{"phase":")" + phase + R"("}})");
    ASSERT_EQ(answer.status, 200) << answer.body;
  }
  rt::HttpResponse get(const std::string& path, const std::string& method = "GET") {
    return served.ask(method, "/api/v1/namespaces/default/" + path, {});
  }
  std::string uid_of(const std::string& name) {
    return (*api::parse_json(get("pods/" + name).body))["metadata"]["uid"].str();
  }
};

TEST(ProxiedName, has_a_scheme_and_a_port_or_not) {
  struct Row {
    const char *text, *scheme, *name, *port;
  };
  for (const Row& row : {Row{"web", "", "web", ""}, Row{"web:80", "", "web", "80"}, Row{"web:http", "", "web", "http"},
                         Row{"http:web:80", "http", "web", "80"}, Row{":web:80", "", "web", "80"},
                         Row{"http:web:", "http", "web", ""}, Row{"https:web:443", "https", "web", "443"}}) {
    const auto named = proxied_name("pod", row.text);
    ASSERT_TRUE(named.ok()) << row.text;
    EXPECT_EQ(named->scheme, row.scheme);
    EXPECT_EQ(named->name, row.name);
    EXPECT_EQ(named->port, row.port);
  }
  for (const char* bad : {"", ":80", "ftp:web:80", "http::80", "a:b:c:d"}) {
    const auto named = proxied_name("service", bad);
    ASSERT_FALSE(named.ok()) << bad;
    EXPECT_EQ(named.error().code, base::Code::kBadRequest);
    EXPECT_EQ(named.error().message, base::format("invalid service request \"{}\"", bad));
  }
}

TEST_F(PodProxy, a_pod_answers) {
  make_pod("web", "Running");
  pods.answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello";
  const auto answer = get("pods/web/proxy/a?watch=true&limit=x");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(rt::header(answer.headers, "Content-Type"), "text/plain");
  EXPECT_EQ(pods.reached, uid_of("web") + ":8080");
  EXPECT_TRUE(pods.asked.starts_with("GET /a?watch=true&limit=x HTTP/1.1\r\nHost: localhost:8080\r\n")) << pods.asked;
  EXPECT_EQ(pods.asked.find("secret"), std::string::npos);

  EXPECT_EQ(served.ask("POST", std::string(kPods) + "/http:web:81/proxy/", {{"Content-Type", "no/json"}}, "{").status,
            200);
  EXPECT_TRUE(pods.asked.ends_with("Content-Length: 1\r\n\r\n{")) << pods.asked;
  EXPECT_TRUE(pods.reached.ends_with(":81"));
  const auto head = get("pods/web/proxy/", "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(rt::header(head.headers, "Content-Length"), "5");
  const auto moved = get("pods/web/proxy?a=b");
  EXPECT_EQ(moved.status, 301);
  EXPECT_EQ(rt::header(moved.headers, "Location"), "/api/v1/namespaces/default/pods/web/proxy/?a=b");
}

TEST_F(PodProxy, says_why_there_is_no_answer) {
  make_pod("web", "Running");
  make_pod("early", "Pending");
  pods.answer = "SSH-2.0-x\r\n\r\n";
  const auto expect = [this](const char* path, int status, const char* message) {
    const auto answer = get(path);
    EXPECT_EQ(answer.status, status) << path;
    EXPECT_NE(answer.body.find(message), std::string::npos) << answer.body;
  };
  expect("pods/none/proxy/", 404, "pods \\\"none\\\" not found");
  expect("pods/early/proxy/", 503, "error trying to reach service: pod \\\"early\\\" is Pending");
  expect("pods/web:0/proxy/", 400, "port \\\"0\\\" is not a number from 1 to 65535");
  expect("pods/a:b:c/proxy/", 400, "invalid pod request \\\"a:b:c\\\"");
  expect("pods/web/proxy/", 503, "error trying to reach service: the answer is not HTTP");
  pods.answer = "";
  pods.how = base::make_error(base::Code::kUnavailable, "connect: Connection refused");
  expect("pods/web/proxy/", 503, "error trying to reach service: connect: Connection refused");
  expect("configmaps/web/proxy/", 404, "could not find the requested resource");
  EXPECT_EQ(get("pods/web/proxy/", "OPTIONS").status, 405);
}

TEST_F(PodProxy, an_answer_that_is_cut_off_does_not_look_whole) {
  make_pod("web", "Running");
  pods.answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel";
  rt::HttpRequest request;
  request.method = "GET";
  request.target = std::string(kPods) + "/web/proxy/";
  request.headers = {{"Authorization", "Bearer secret"}};
  std::promise<bool> whole;
  served.http->send(request, [&](const base::Result<rt::HttpResponse>& answer) { whole.set_value(answer.ok()); });
  EXPECT_FALSE(base::await(whole));
}

TEST_F(PodProxy, a_service_stands_for_its_ready_pods) {
  make("/api/v1/namespaces/default/services",
       R"({"metadata":{"name":"web"},"spec":{"ports":[{"name":"http","port":80,"targetPort":8080}]}})");
  pods.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  const auto expect = [this](const char* path, const char* message) {
    const auto answer = get(path);
    EXPECT_EQ(answer.status, 503) << path;
    EXPECT_NE(answer.body.find(message), std::string::npos) << answer.body;
  };
  expect("services/web:http/proxy/", "no endpoints available for service \\\"web\\\"");
  make_pod("a", "Running");
  make_pod("b", "Running");
  make_pod("done", "Succeeded");
  const std::string b = uid_of("b");
  // Only running pods of the namespace count in a slice that others may have written.
  make("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
       R"({"metadata":{"name":"web-1","labels":{"kubernetes.io/service-name":"web"}},"addressType":"IPv4",
           "ports":[{"name":"http","port":8080}],"endpoints":[
           {"addresses":["10.0.0.1"],"conditions":{"ready":false},"targetRef":{"kind":"Pod","name":"a","uid":")" +
           uid_of("a") + R"("}},
           {"addresses":["10.0.0.3"],"targetRef":{"kind":"Pod","name":"a","uid":")" +
           b + R"(/volumes/v"}},
           {"addresses":["10.0.0.4"],"targetRef":{"kind":"Pod","name":"none","uid":")" +
           b + R"("}},
           {"addresses":["10.0.0.5"],"targetRef":{"kind":"Pod","uid":"../other"}},
           {"addresses":["10.0.0.6"],"targetRef":{"kind":"Pod","name":"done","uid":")" +
           uid_of("done") + R"("}},
           {"addresses":["10.0.0.2"],"conditions":{"ready":true},"targetRef":{"kind":"Pod","name":"b","uid":")" +
           b + R"("}}]})");
  for (const char* name : {"web:http", "web:80", "http:web:http", "web:http", "web:http", "web:http"}) {
    const auto answer = get(base::format("services/{}/proxy/", name));
    EXPECT_EQ(answer.body, "ok") << name;
    EXPECT_EQ(pods.reached, b + ":8080");
  }
  expect("services/web:81/proxy/", "no service port 81 found for service \\\"web\\\"");
  expect("services/web/proxy/", "no endpoints available for service \\\"web\\\"");  // its port has a name
  EXPECT_EQ(get("services/none/proxy/").status, 404);
}

}  // namespace
}  // namespace apiserver
