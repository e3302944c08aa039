// Drivers that register in a folder and are called: one of our own, over real sockets, which can lie, hang and die.
#include "node/dra/driver_host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "base/await_for_tests.h"
#include "base/format.h"
#include "base/protobuf_wire.h"
#include "node/dra/registration.h"
#include "node/machine/metrics.h"
#include "rt/files/files.h"
#include "rt/grpc/grpc.h"

namespace node {
namespace {

using base::WireField;
using base::WireReader;
using base::WireWriter;

std::string field_of(std::string_view message, int number) {
  WireReader reader(message);
  for (WireField field; reader.next(field);)
    if (field.number == number) return std::string(field.bytes);
  return {};
}

// Both services at one socket.
class FakeDriver {
 public:
  FakeDriver(rt::GrpcIo& io, const std::string& path, std::string type = "DRAPlugin",
             std::vector<std::string> versions = {"v1.DRAPlugin"}, std::string endpoint = {})
      : type_(std::move(type)), versions_(std::move(versions)), endpoint_(std::move(endpoint)) {
    server_ = std::move(*rt::start_grpc_server(
        io, {.unix_path = path},
        [this](const std::string& method, const std::string& request, const std::shared_ptr<rt::GrpcAnswer>& answer) {
          asked(method, request, answer);
        }));
  }
  // The calls that it got, without the identity of the caller.
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  std::atomic<bool> lies = false;
  static inline std::atomic<int> health = 0;  // what is said of a device; 0: nothing, 9: nonsense

 private:
  void asked(const std::string& method, const std::string& request, const std::shared_ptr<rt::GrpcAnswer>& answer) {
    const std::lock_guard lock(mutex_);
    const std::string name = method.substr(method.rfind('/') + 1);
    if (method == kWatchHealth) return receive(answer);
    WireWriter out;
    if (name == "GetInfo") {
      out.add(1, type_);
      out.add(2, std::string_view("gpu.org"));
      out.add(3, endpoint_);
      for (const std::string& version : versions_) out.add_entry(4, version);
    } else if (name == "NotifyRegistrationStatus") {
      log_ += "told: " + field_of(request, 2) + ";";
    } else {
      const std::string uid = field_of(field_of(request, 1), 2);
      log_ += method + " " + uid + ";";
      WireWriter device, claim, entry;
      device.add_entry(4, "gpu.org/gpu=0");
      claim.add_entry(1, device.take());
      entry.add(1, uid);
      entry.add_entry(2, claim.take());
      out.add_entry(1, lies ? std::string("\x0a\x7f") : entry.take());
    }
    answer->send(out.take());
    answer->finish({});
  }

  void receive(const std::shared_ptr<rt::GrpcAnswer>& answer) {
    if (!health) return answer->finish({rt::GrpcCode::kUnimplemented, "what?"});
    WireWriter name, device, out;
    name.add(1, std::string_view("pool"));
    name.add(2, std::string_view("g0"));
    device.add_entry(1, name.take());
    device.add(2, static_cast<std::uint64_t>(health));
    out.add_entry(1, device.take());
    answer->send(health == 9 ? "\xff" : out.take());
    listeners_.push_back(answer);
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<rt::GrpcAnswer>> listeners_;
  std::string type_;
  std::vector<std::string> versions_;
  std::string endpoint_;
  std::string log_;
  std::unique_ptr<rt::GrpcServer> server_;
};

class DriverHosts : public testing::Test {
 protected:
  DriverHosts() {
    (void)rt::make_folders(folder + "/below", 0700);
    metrics.add(metric_rows());
    on_loop<bool>([this] {
      host = make_driver_host(*env, folder, &metrics);
      host->start({.came = [this](const std::string& driver) { record("came " + driver + ";"); },
                   .gone = [this](const std::string& driver) { record("gone " + driver + ";"); },
                   .warn = [this](const std::string& message) { record(message + ";"); },
                   .health =
                       [this](const std::string& driver, const std::vector<DeviceNews>& update) {
                         for (const DeviceNews& one : update)
                           record(base::format("{} {} {} {};", driver, one.pool, one.device, name_of(one.health)));
                       },
                   .health_lost = [this](const std::string& driver) { record("silence of " + driver + ";"); }});
      return true;
    });
  }
  ~DriverHosts() override {
    on_loop<bool>([this] {
      host.reset();
      return true;
    });
    env->stop();
    (void)rt::remove_tree(folder);
  }
  template <class T>
  T on_loop(std::function<T()> work) {
    std::promise<T> result;
    env->loop().post([&] { result.set_value(work()); });
    return base::await(result);
  }
  void record(const std::string& text) {
    const std::lock_guard lock(mutex);
    news += text;
    changed.notify_all();
  }
  bool until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!holds()) {
      std::unique_lock lock(mutex);
      if (std::chrono::steady_clock::now() > end) return false;
      changed.wait_for(lock, std::chrono::milliseconds(20));
    }
    return true;
  }
  bool received(const std::string& text) {
    return until([&] {
      const std::lock_guard lock(mutex);
      return news.find(text) != std::string::npos;
    });
  }
  // The driver's first CDI device, or the error.
  std::string prepare() {
    std::promise<std::string> answer;
    on_loop<bool>([&] {
      host->prepare("gpu.org", {{"ns", "a", "uid-1"}}, [&](base::Result<ClaimAnswers> answers) {
        answer.set_value(answers.ok() ? answers->at("uid-1").devices.at(0).cdi_names.at(0) : answers.error().message);
      });
      return true;
    });
    return base::await(answer);
  }
  std::string folder = [] {
    char path[] = "/tmp/drivers-test-XXXXXX";
    return std::string(::mkdtemp(path));
  }();
  std::mutex mutex;
  std::condition_variable changed;
  std::string news;
  std::unique_ptr<rt::RealEnv> env = rt::make_real_env("drivers-test");
  rt::GrpcIo io;
  base::Metrics metrics;
  std::unique_ptr<DraDrivers> host;
};

TEST_F(DriverHosts, call_who_registers_and_forget_who_goes) {
  EXPECT_EQ(prepare(), "DRA driver gpu.org is not registered");
  auto driver = std::make_unique<FakeDriver>(io, folder + "/below/gpu.sock");
  ASSERT_TRUE(received("came gpu.org;"));
  EXPECT_EQ(prepare(), "gpu.org/gpu=0");
  ASSERT_TRUE(until([&] { return driver->log().find("told: ;") != std::string::npos; }));
  EXPECT_NE(driver->log().find("/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources uid-1;"),
            std::string::npos);
  const std::string series =
      "dra_grpc_operations_duration_seconds_count{driver_name=\"gpu.org\",grpc_status_code=\"OK\",method_name=\""
      "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources\"} 1";
  EXPECT_NE(metrics.text().find(series), std::string::npos) << metrics.text();
  driver->lies = true;
  EXPECT_EQ(prepare(), "NodePrepareResources: DRA driver gpu.org answers nonsense: the message is malformed");
  driver.reset();
  ASSERT_TRUE(received("gone gpu.org;"));
  EXPECT_EQ(prepare(), "DRA driver gpu.org is not registered");
}

TEST_F(DriverHosts, call_the_newest_of_two) {
  FakeDriver old(io, folder + "/old.sock", "DRAPlugin", {"v1beta1.DRAPlugin"});
  ASSERT_TRUE(received("came gpu.org;"));
  auto young = std::make_unique<FakeDriver>(io, folder + "/young.sock");
  ASSERT_TRUE(until([&] { return young->log().find("told: ;") != std::string::npos; }));
  EXPECT_EQ(prepare(), "gpu.org/gpu=0");
  EXPECT_NE(young->log().find("NodePrepareResources"), std::string::npos);
  young.reset();
  ASSERT_TRUE(until([&] { return prepare() == "gpu.org/gpu=0"; }));
  EXPECT_NE(old.log().find("/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/NodePrepareResources uid-1;"),
            std::string::npos);
  const std::lock_guard lock(mutex);
  EXPECT_EQ(news.find("gone"), std::string::npos);
}

TEST_F(DriverHosts, hear_how_devices_are) {
  FakeDriver::health = 2;
  auto driver = std::make_unique<FakeDriver>(io, folder + "/gpu.sock");
  EXPECT_TRUE(received("gpu.org pool g0 Unhealthy;"));
  EXPECT_EQ(prepare(), "gpu.org/gpu=0");
  FakeDriver::health = 9;
  driver.reset();
  EXPECT_TRUE(received("silence of gpu.org;"));
  driver = std::make_unique<FakeDriver>(io, folder + "/liar.sock");
  EXPECT_TRUE(received("DRA driver gpu.org says nonsense about the health of its devices: the message is malformed;"));
  EXPECT_EQ(prepare(), "gpu.org/gpu=0") << "which is not a reason to use it less";
  FakeDriver::health = 0;
}

TEST_F(DriverHosts, refuse_who_is_not_wanted_and_say_so) {
  FakeDriver stranger(io, folder + "/csi.sock", "CSIPlugin");
  const std::string why =
      "RegisterPlugin error -- no handler registered for plugin type: CSIPlugin at socket " + folder + "/csi.sock";
  EXPECT_TRUE(received(why));
  EXPECT_TRUE(until([&] { return stranger.log().find("told: " + why + ";") != std::string::npos; }));
  FakeDriver first(io, folder + "/first.sock");
  ASSERT_TRUE(received("came gpu.org;"));
  FakeDriver thief(io, folder + "/thief.sock", "DRAPlugin", {"v1.DRAPlugin"}, folder + "/first.sock");
  EXPECT_TRUE(received("RegisterPlugin error -- plugin registration failed with err: endpoint " + folder +
                       "/first.sock already registered for DRA driver plugin gpu.org;"));
  // Names that begin with a dot, and files that are not sockets, are nobody's.
  FakeDriver hidden(io, folder + "/.hidden.sock");
  ASSERT_TRUE(rt::write_file(folder + "/file.sock", "", 0600).ok());
  EXPECT_EQ(prepare(), "gpu.org/gpu=0");
  EXPECT_EQ(hidden.log(), "");
}

}  // namespace
}  // namespace node
