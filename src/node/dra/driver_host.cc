// A driver may have several sockets at a time, while one program takes over from another: the newest is asked.
#include "node/dra/driver_host.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "base/log.h"
#include "node/dra/plugin_registry.h"
#include "node/machine/metrics.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

constexpr base::Duration kCallMax = base::seconds(45);  // a kubelet's

class DriverHost final : public DraDrivers {
 public:
  DriverHost(rt::Env& env, std::string folder, base::Metrics* metrics)
      : env_(env), folder_(std::move(folder)), metrics_(metrics) {}
  ~DriverHost() override { stop(); }

  void start(News news) override;
  void stop() override;
  bool has(const std::string& driver) const override { return find(driver) != nullptr; }
  void prepare(const std::string& driver, const std::vector<ClaimKey>& claims, OnAnswers done) override {
    call(driver, "NodePrepareResources", claims, prepared_from, std::move(done));
  }
  void unprepare(const std::string& driver, const std::vector<ClaimKey>& claims, OnAnswers done) override {
    call(driver, "NodeUnprepareResources", claims, unprepared_from, std::move(done));
  }

 private:
  struct Place {
    std::string socket;  // where it registered
    DraPlugin plugin;
    std::uint64_t number = 0;                   // of this registration
    std::unique_ptr<rt::GrpcCall> health = {};  // null: nobody is heard
  };
  const DraPlugin* find(const std::string& driver) const;
  base::Status enroll(const std::string& socket, const PluginInfo& info);
  void leave(const std::string& socket);
  Place* find_place(std::uint64_t number);
  void receive_health(std::uint64_t number);
  void health_call_ended(std::uint64_t number, const std::string& message);
  void health_ended(std::uint64_t number, const rt::GrpcStatus& status);
  void call(const std::string& driver, const char* method, const std::vector<ClaimKey>& claims,
            base::Result<ClaimAnswers> (*read)(std::string_view), OnAnswers done);

  rt::Env& env_;
  std::string folder_;
  ClaimMetrics metrics_;
  News news_;
  std::vector<Place> places_;  // the newest last
  std::uint64_t registrations_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>();  // for timers
  // Calls need the thread, and go before it.
  std::unique_ptr<rt::GrpcIo> io_;
  std::unique_ptr<PluginCalls> calls_;
  std::unique_ptr<PluginRegistry> registry_;
};

// A driver that is being replaced has two places, and both speak of the same devices.
constexpr base::Duration kReceiveAgain = base::seconds(5);
// A driver that says more is heard later: what it says may concern all its pods each time.
constexpr base::Duration kHealthPause = base::milliseconds(100);

void DriverHost::start(News news) {
  news_ = std::move(news);
  auto io = rt::make_grpc_io();
  if (!io.ok()) return base::log_warning("node", "DRA drivers cannot register: " + io.error().message);
  io_ = std::move(*io);
  calls_ = std::make_unique<PluginCalls>(*io_, env_.loop());
  registry_ = std::make_unique<PluginRegistry>(
      env_, *calls_, folder_,
      PluginRegistry::Callbacks{
          .came = [this](const std::string& socket, const PluginInfo& info) { return enroll(socket, info); },
          .gone = [this](const std::string& socket) { leave(socket); },
          .warn = [this](const std::string& message) { news_.warn(message); }});
  if (const base::Status started = registry_->start(); !started.ok()) {
    base::log_warning("node", "DRA drivers cannot register: " + started.error().message);
    stop();
  }
}

void DriverHost::stop() {
  registry_.reset();
  places_.clear();
  calls_.reset();
  io_.reset();
}

const DraPlugin* DriverHost::find(const std::string& driver) const {
  for (auto place = places_.rbegin(); place != places_.rend(); ++place)
    if (place->plugin.driver == driver) return &place->plugin;
  return nullptr;
}

base::Status DriverHost::enroll(const std::string& socket, const PluginInfo& info) {
  TRY(DraPlugin plugin, dra_plugin_from(info, socket));
  for (const Place& place : places_)
    if (place.plugin.driver == plugin.driver && place.plugin.endpoint == plugin.endpoint)
      return make_error(Code::kAlreadyExists,
                        base::format("RegisterPlugin error -- plugin registration failed with err: endpoint {} already "
                                     "registered for DRA driver plugin {}",
                                     plugin.endpoint, plugin.driver));
  base::log_info("node", base::format("DRA driver {} registers at {}, to be called at {}", plugin.driver, socket,
                                      plugin.endpoint));
  const std::string driver = plugin.driver;
  const std::uint64_t number = ++registrations_;
  places_.push_back({socket, std::move(plugin), number});
  news_.came(driver);
  receive_health(number);
  return {};
}

DriverHost::Place* DriverHost::find_place(std::uint64_t number) {
  const auto place = std::ranges::find(places_, number, &Place::number);
  return place == places_.end() ? nullptr : &*place;
}

// Whether a driver knows the service it says by answering.
void DriverHost::receive_health(std::uint64_t number) {
  Place* place = find_place(number);
  if (place == nullptr || !news_.health) return;
  const std::weak_ptr<int> alive = alive_;
  place->health = rt::begin_grpc_call(*io_, env_.loop(), {.unix_path = place->plugin.endpoint}, kWatchHealth, {},
                                      {.pause = kHealthPause},
                                      {.on_message =
                                           [this, alive, number](const std::string& message) {
                                             if (alive.lock()) health_call_ended(number, message);
                                           },
                                       .on_end =
                                           [this, alive, number](const rt::GrpcStatus& status) {
                                             if (alive.lock()) health_ended(number, status);
                                           }});
}

void DriverHost::health_call_ended(std::uint64_t number, const std::string& message) {
  const Place* place = find_place(number);
  if (place == nullptr) return;
  const std::string driver = place->plugin.driver;
  const auto news = device_news_from(message);
  if (news.ok()) return news_.health(driver, *news);
  news_.warn(
      base::format("DRA driver {} says nonsense about the health of its devices: {}", driver, news.error().message));
  health_ended(number, {rt::GrpcCode::kUnimplemented, {}});
}

void DriverHost::health_ended(std::uint64_t number, const rt::GrpcStatus& status) {
  Place* place = find_place(number);
  if (place == nullptr) return;
  // Not from within its own callback.
  env_.loop().post([call = std::shared_ptr(std::move(place->health))] {});
  news_.health_lost(place->plugin.driver);
  if (status.code == rt::GrpcCode::kUnimplemented) return;
  env_.loop().after(kReceiveAgain, [this, alive = std::weak_ptr<int>(alive_), number] {
    if (alive.lock()) receive_health(number);
  });
}

void DriverHost::leave(const std::string& socket) {
  const auto place = std::ranges::find(places_, socket, &Place::socket);
  if (place == places_.end()) return;
  const std::string driver = place->plugin.driver;
  places_.erase(place);
  if (news_.health_lost && !has(driver)) news_.health_lost(driver);
  base::log_info("node", base::format("DRA driver {} is gone from {}", driver, socket));
  if (!has(driver)) news_.gone(driver);
}

void DriverHost::call(const std::string& driver, const char* method, const std::vector<ClaimKey>& claims,
                      base::Result<ClaimAnswers> (*read)(std::string_view), OnAnswers done) {
  const DraPlugin* plugin = find(driver);
  if (plugin == nullptr)
    return env_.loop().post([done = std::move(done), driver] {
      done(make_error(Code::kUnavailable, base::format("DRA driver {} is not registered", driver)));
    });
  const std::string path = base::format("{}/{}", plugin->service, method);
  calls_->begin(
      {.socket = plugin->endpoint,
       .method = path,
       .request = claims_request(claims),
       .timeout = kCallMax,
       .on_status =
           [this, driver, path, began = env_.uptime()](const rt::GrpcStatus& status) {
             metrics_.called(driver, path, std::string(rt::grpc_code_name(status.code)), env_.uptime() - began);
           }},
      [driver, method, read, done = std::move(done)](base::Result<std::string> answer) {
        if (!answer.ok()) return done(base::within(answer.take_error(), method));
        auto answers = read(*answer);
        if (answers.ok()) return done(std::move(answers));
        done(base::within(answers.take_error(), base::format("{}: DRA driver {} answers nonsense", method, driver)));
      });
}

}  // namespace

std::unique_ptr<DraDrivers> make_driver_host(rt::Env& env, std::string folder, base::Metrics* metrics) {
  return std::make_unique<DriverHost>(env, std::move(folder), metrics);
}

}  // namespace node
