// Device plugins against a manager of devices: a plugin of our own, which can lie, hang and die.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>

#include "api/json/yaml.h"
#include "base/await_for_tests.h"
#include "base/protobuf_wire.h"
#include "node/devices/device_manager.h"
#include "node/devices/plugin_messages.h"
#include "rt/grpc/grpc.h"

namespace node {
namespace {

using base::WireField;
using base::WireReader;
using base::WireWriter;

std::string device_list(const std::vector<std::pair<std::string, std::string>>& devices) {
  WireWriter list;
  for (const auto& [id, health] : devices) {
    WireWriter device;
    device.add(1, id);
    device.add(2, health);
    list.add_entry(1, device.take());
  }
  return list.take();
}

std::vector<std::string> ids_in(std::string_view message) {
  std::vector<std::string> ids;
  WireReader reader(message);
  for (WireField field; reader.next(field);)
    if (field.number == 1) ids.emplace_back(field.bytes);
  return ids;
}

// Everything it is asked, by method; answers are those of a well-behaved plugin unless it is told otherwise.
class FakePlugin {
 public:
  FakePlugin(rt::GrpcIo& io, const std::string& path) {
    server_ = std::move(*rt::start_grpc_server(
        io, {.unix_path = path},
        [this](const std::string& method, const std::string& request, const std::shared_ptr<rt::GrpcAnswer>& answer) {
          asked(method, request, answer);
        }));
  }
  void list(std::string devices) {
    const std::lock_guard lock(mutex_);
    devices_ = std::move(devices);
    if (watcher_) watcher_->send(devices_);
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  std::atomic<bool> lies = false, hangs = false;

 private:
  void asked(const std::string& method, const std::string& request, const std::shared_ptr<rt::GrpcAnswer>& answer) {
    const std::lock_guard lock(mutex_);
    const std::string name = method.substr(method.rfind('/') + 1);
    if (name == "ListAndWatch") {
      watcher_ = answer;
      return answer->send(devices_);
    }
    log_ += name;
    if (hangs) return;
    if (lies) {
      answer->send("\x0a\x7f nonsense");
      return answer->finish({});
    }
    WireWriter response, container;
    if (name == "Allocate") {
      std::string joined;
      for (const std::string& entry : ids_in(request))
        for (const std::string& id : ids_in(entry)) joined += " " + id;
      log_ += joined;
      container.add_pair(1, "DEVICES", joined);
      WireWriter node;
      node.add(1, std::string_view("/dev/inside"));
      node.add(2, std::string_view("/dev/null"));
      node.add(3, std::string_view("rw"));
      container.add_entry(3, node.take());
      response.add_entry(1, container.take());
    }
    if (name == "GetPreferredAllocation") {
      const std::vector<std::string> available = ids_in(ids_in(request).at(0));
      container.add_entry(1, available.back());
      response.add_entry(1, container.take());
    }
    log_ += ";";
    answer->send(response.take());
    answer->finish({});
  }

  std::mutex mutex_;
  std::string devices_ = device_list({{"a", "Healthy"}, {"b", "Healthy"}});
  std::string log_;
  std::shared_ptr<rt::GrpcAnswer> watcher_;
  std::unique_ptr<rt::GrpcServer> server_;
};

class Plugins : public testing::Test {
 protected:
  Plugins() { begin(); }
  ~Plugins() override {
    end();
    env->stop();
  }
  template <class T>
  T on_loop(std::function<T()> work) {
    std::promise<T> result;
    env->loop().post([&] { result.set_value(work()); });
    return base::await(result);
  }
  void begin() {
    on_loop<bool>([this] {
      DeviceOptions options{.enabled = true, .driver_root = "", .cdi_folders = {folder + "/cdi"}};
      options.plugin_folder = folder + "/plugins";
      manager = std::make_unique<DeviceManager>(
          *env, options, folder + "/devices",
          DeviceManager::Callbacks{
              .node_changed = [this] { annotation(""); },
              .pod_changed = [this](const std::string& uid) { annotation("pod " + uid + "\n"); },
              .warn = [this](const char*, const std::string& message) { annotation(message + "\n"); }});
      manager->start(read_held(folder + "/devices"), false);
      return true;
    });
  }
  void end() {
    on_loop<bool>([this] {
      manager.reset();
      return true;
    });
  }
  void annotation(const std::string& text) {
    const std::lock_guard lock(mutex);
    warnings += text;
    changed.notify_all();
  }
  // Until it holds; what waits is told of every change.
  bool until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!holds()) {
      std::unique_lock lock(mutex);
      if (std::chrono::steady_clock::now() > end) return false;
      changed.wait_for(lock, std::chrono::milliseconds(20));
    }
    return true;
  }
  bool warned(const std::string& text) {
    return until([&] {
      const std::lock_guard lock(mutex);
      return warnings.find(text) != std::string::npos;
    });
  }
  void forget_records() {
    const std::lock_guard lock(mutex);
    warnings.clear();
  }
  // The status that the agent answers with.
  rt::GrpcStatus enroll(std::string_view version, std::string_view endpoint, std::string_view resource,
                        bool eager = false) {
    WireWriter request, options;
    options.add(1, eager);
    options.add(2, eager);
    request.add(1, version);
    request.add(2, endpoint);
    request.add(3, resource);
    request.add_entry(4, options.take());
    std::promise<rt::GrpcStatus> promise;
    auto call = on_loop<std::shared_ptr<rt::GrpcCall>>([&] {
      return std::shared_ptr<rt::GrpcCall>(rt::begin_unary_call(
          io, env->loop(), {.unix_path = folder + "/plugins/kubelet.sock"}, "/v1beta1.Registration/Register",
          request.take(), {.timeout = base::seconds(10)},
          [&](rt::GrpcStatus status, const std::string&) { promise.set_value(std::move(status)); }));
    });
    return base::await(promise);
  }
  std::int64_t usable(const std::string& resource) {
    return on_loop<std::int64_t>([&] {
      const auto amounts = manager->amounts();
      const auto found = amounts.allocatable.find(resource);
      return found == amounts.allocatable.end() ? std::int64_t{-1} : found->second.value();
    });
  }
  static api::Json pod(const std::string& uid, int count) {
    return *api::parse_yaml("{metadata: {uid: " + uid +
                            "}, spec: {containers: [{name: m, resources: {limits: {x.org/d: " + std::to_string(count) +
                            "}}}]}}");
  }
  // "there", or why not.
  std::string admit(const api::Json& wanted) {
    std::string why;
    DeviceManager::Admission answer{};
    const bool answered = until([&] {
      answer = on_loop<DeviceManager::Admission>([&] { return manager->admit(wanted, why); });
      return answer != DeviceManager::Admission::kWait;
    });
    return !answered ? "nothing" : answer == DeviceManager::Admission::kThere ? "there" : why;
  }
  std::string variable(const std::string& uid) {
    return on_loop<std::string>([&] {
      const DeviceGrant* grant = manager->grant(uid, "m");
      return grant == nullptr || grant->environment.empty() ? std::string() : grant->environment[0].second;
    });
  }

  std::string folder = [] {
    char path[] = "/tmp/plugins-test-XXXXXX";
    return std::string(::mkdtemp(path));
  }();
  std::mutex mutex;
  std::condition_variable changed;
  std::string warnings;
  std::unique_ptr<rt::RealEnv> env = rt::make_real_env("plugins-test");
  rt::GrpcIo io;
  std::unique_ptr<DeviceManager> manager;
};

TEST_F(Plugins, offer_devices_and_give_them) {
  FakePlugin plugin(io, folder + "/plugins/x.sock");
  EXPECT_TRUE(enroll("v1beta1", "x.sock", "x.org/d").ok());
  ASSERT_TRUE(until([&] { return usable("x.org/d") == 2; }));
  plugin.list(device_list({{"a", "Unhealthy"}, {"b", "Healthy"}, {"c", "Healthy"}}));
  ASSERT_TRUE(until([&] {
    return usable("x.org/d") == 2 &&
           on_loop<std::int64_t>([&] { return manager->amounts().capacity.find("x.org/d")->second.value(); }) == 3;
  }));
  EXPECT_EQ(admit(pod("one", 1)), "there");
  EXPECT_EQ(variable("one"), " b");
  EXPECT_EQ(plugin.log(), "Allocate b;");
  EXPECT_EQ(
      admit(pod("two", 2)),
      "Allocate failed due to requested number of devices unavailable for x.org/d. Requested: 2, Available: 1, which "
      "is unexpected");
  on_loop<bool>([&] {
    manager->release("one");
    return true;
  });
  EXPECT_EQ(admit(pod("three", 2)), "there");
  EXPECT_EQ(variable("three"), " b c");
}

TEST_F(Plugins, are_asked_what_they_prefer_and_before_each_start) {
  FakePlugin plugin(io, folder + "/plugins/x.sock");
  EXPECT_TRUE(enroll("v1beta1", "x.sock", "x.org/d", true).ok());
  ASSERT_TRUE(until([&] { return usable("x.org/d") == 2; }));
  EXPECT_EQ(admit(pod("one", 1)), "there");
  EXPECT_EQ(variable("one"), " b") << "the plugin prefers the last";
  const auto prepare = [&](int attempt) {
    return until([&] {
      std::string why;
      return on_loop<DeviceManager::Admission>([&] { return manager->prepare("one", "m", attempt, why); }) ==
             DeviceManager::Admission::kThere;
    });
  };
  EXPECT_TRUE(prepare(0));
  EXPECT_TRUE(prepare(1));
  EXPECT_EQ(plugin.log(), "GetPreferredAllocation;Allocate b;PreStartContainer;PreStartContainer;");
  plugin.lies = true;
  EXPECT_EQ(admit(pod("two", 1)),
            "Allocate failed due to the device plugin of x.org/d answers nonsense: the message is malformed, which is "
            "unexpected");
  EXPECT_TRUE(warned("the device plugin of x.org/d answers nonsense"));
  plugin.lies = false;
  EXPECT_EQ(admit(pod("three", 1)), "there") << "what failed holds nothing";
}

TEST_F(Plugins, say_how_the_devices_of_pods_are) {
  FakePlugin plugin(io, folder + "/plugins/x.sock");
  EXPECT_TRUE(enroll("v1beta1", "x.sock", "x.org/d").ok());
  ASSERT_TRUE(until([&] { return usable("x.org/d") == 2; }));
  const auto health = [&](const char* uid, const char* container) {
    return on_loop<std::string>([&] { return manager->health_of(uid, container).dump(); });
  };
  EXPECT_EQ(admit(pod("one", 2)), "there");
  const std::string healthy =
      R"([{"name":"x.org/d","resources":[{"resourceID":"a","health":"Healthy"},{"resourceID":"b","health":"Healthy"}]}])";
  EXPECT_EQ(health("one", "m"), healthy);
  EXPECT_EQ(health("one", "other"), "[]");
  EXPECT_EQ(health("two", "m"), "[]");
  forget_records();
  // "b" is not listed any more, and others do not matter.
  plugin.list(device_list({{"a", "Unhealthy"}, {"c", "Healthy"}}));
  EXPECT_TRUE(warned("pod one\n"));
  EXPECT_EQ(
      health("one", "m"),
      R"([{"name":"x.org/d","resources":[{"resourceID":"a","health":"Unhealthy"},{"resourceID":"b","health":"Unknown"}]}])");
  plugin.list(device_list({{"a", "Healthy"}, {"b", "Healthy"}}));
  EXPECT_TRUE(until([&] { return health("one", "m") == healthy; }));
}

TEST_F(Plugins, that_die_leave_unhealthy_devices_until_they_are_back) {
  auto plugin = std::make_unique<FakePlugin>(io, folder + "/plugins/x.sock");
  EXPECT_TRUE(enroll("v1beta1", "x.sock", "x.org/d").ok());
  ASSERT_TRUE(until([&] { return usable("x.org/d") == 2; }));
  EXPECT_EQ(admit(pod("one", 1)), "there");
  plugin.reset();
  EXPECT_TRUE(until([&] { return usable("x.org/d") == 0; }));
  EXPECT_TRUE(warned("the device plugin of x.org/d: it has ended: rpc error: code = Unavailable"));
  EXPECT_EQ(admit(pod("one", 1)), "there") << "who has a device keeps it";
  ASSERT_TRUE(until([&] { return ::access((folder + "/devices/plugins").c_str(), F_OK) == 0; }));
  // The agent, too, starts anew, and a pod that is bound already waits for the plugin.
  end();
  begin();
  EXPECT_EQ(variable("one"), " a");
  std::string why;
  const api::Json bound = pod("two", 1);
  EXPECT_EQ(on_loop<DeviceManager::Admission>([&] { return manager->admit(bound, why); }),
            DeviceManager::Admission::kWait);
  plugin = std::make_unique<FakePlugin>(io, folder + "/plugins/x.sock");
  EXPECT_TRUE(enroll("v1beta1", "x.sock", "x.org/d").ok());
  EXPECT_EQ(admit(bound), "there");
  EXPECT_EQ(variable("two"), " b");
}

// There are 64 names in all.
TEST_F(Plugins, that_are_gone_give_their_names_to_others) {
  auto plugin = std::make_unique<FakePlugin>(io, folder + "/plugins/x.sock");
  EXPECT_TRUE(enroll("v1beta1", "x.sock", "x.org/d").ok());
  ASSERT_TRUE(until([&] { return usable("x.org/d") == 2; }));
  EXPECT_EQ(admit(pod("one", 1)), "there");
  plugin.reset();
  ASSERT_TRUE(until([&] { return usable("x.org/d") == 0; }));
  for (int i = 0; i < 100; ++i) {
    const rt::GrpcStatus status = enroll("v1beta1", "nobody.sock", "x.org/n" + std::to_string(i));
    EXPECT_TRUE(status.ok()) << i << ": " << status.message;
  }
  EXPECT_EQ(usable("x.org/d"), 0) << "a pod has one of its devices";
  EXPECT_EQ(usable("x.org/n0"), -1);
  EXPECT_TRUE(until([&] { return usable("x.org/n99") == 0; }));  // its end may follow the answer
  const auto forgotten = on_loop<std::vector<std::string>>([&] { return manager->forgotten(); });
  EXPECT_EQ(std::ranges::count(forgotten, "x.org/n0"), 1);
  EXPECT_EQ(std::ranges::count(forgotten, "x.org/d"), 0);
  on_loop<bool>([&] {
    manager->forgotten_reported(forgotten);
    return true;
  });
  EXPECT_TRUE(on_loop<std::vector<std::string>>([&] { return manager->forgotten(); }).empty());
}

TEST_F(Plugins, that_lie_are_refused_by_name) {
  const struct {
    const char *version, *endpoint, *resource, *why;
  } rows[] = {
      {"v1alpha", "x.sock", "x.org/d", "version: \"v1alpha\" is not v1beta1"},
      {"v1beta1", "../x.sock", "x.org/d", "endpoint: \"../x.sock\" is not the name of a socket beside kubelet.sock"},
      {"v1beta1", "kubelet.sock", "x.org/d",
       "endpoint: \"kubelet.sock\" is not the name of a socket beside kubelet.sock"},
      {"v1beta1", "x.sock", "cpu", "resource_name: \"cpu\" is not the name of an extended resource"},
      {"v1beta1", "x.sock", "kubernetes.io/d",
       "resource_name: \"kubernetes.io/d\" is not the name of an extended resource"},
      {"v1beta1", "x.sock", "x.org/a\nb", "resource_name: \"x.org/a\\nb\" is not the name of an extended resource"},
  };
  for (const auto& row : rows) {
    const rt::GrpcStatus status = enroll(row.version, row.endpoint, row.resource);
    EXPECT_EQ(status.code, rt::GrpcCode::kInvalidArgument);
    EXPECT_EQ(status.message, row.why);
  }
  FakePlugin plugin(io, folder + "/plugins/x.sock");
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < 5000; ++i) many.emplace_back("d" + std::to_string(i), "Healthy");
  plugin.list(device_list(many));
  EXPECT_TRUE(enroll("v1beta1", "x.sock", "x.org/d").ok());
  EXPECT_TRUE(warned("the device plugin of x.org/d: it lists nonsense: devices: more than 4096"));
  plugin.list(device_list({{"a", "Healthy"}, {"a", "Healthy"}}));
  EXPECT_TRUE(enroll("v1beta1", "x.sock", "x.org/d").ok());
  EXPECT_TRUE(warned("devices.ID: \"a\" is there twice"));
  EXPECT_EQ(usable("x.org/d"), 0);
  EXPECT_TRUE(enroll("v1beta1", "nobody.sock", "x.org/e").ok());
  EXPECT_TRUE(
      warned("the device plugin of x.org/e: it has ended: rpc error: code = Unavailable desc = cannot connect"));
}

TEST(PluginAnswers, are_read_with_suspicion) {
  const auto answer = [](const std::function<void(WireWriter&)>& fill) {
    WireWriter container, response;
    fill(container);
    response.add_entry(1, container.take());
    const auto read = allocation_from(response.take());
    return read.ok() ? std::string("fine") : read.error().message;
  };
  EXPECT_EQ(answer([](WireWriter& of) { of.add_pair(1, "A=B", "x"); }), "envs: \"A=B\" cannot be a variable");
  EXPECT_EQ(answer([](WireWriter& of) {
              WireWriter mount;
              mount.add(1, std::string_view("/in"));
              mount.add(2, std::string_view("out"));
              of.add_entry(2, mount.take());
            }),
            "mounts.host_path: \"out\" is not an absolute path");
  EXPECT_EQ(answer([](WireWriter& of) {
              of.add_entry(5,
                           "\x0a\x03"
                           "gpu");
            }),
            "cdi_devices.name: \"gpu\" is not VENDOR/CLASS=NAME");
  EXPECT_EQ(answer([](WireWriter& of) {
              for (int i = 0; i < 2000; ++i) of.add_pair(1, "A" + std::to_string(i), "");
            }),
            "more than 1024 entries");
  EXPECT_EQ(allocation_from("").error().message, "container_responses: none");
  EXPECT_FALSE(preference_from("", {"a"}, 1).ok());
}

}  // namespace
}  // namespace node
