// One stream and a few calls a plugin.
#include "node/devices/plugin_host.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/log.h"
#include "base/utf8.h"
#include "node/devices/plugin_calls.h"
#include "rt/files/files.h"
#include "rt/grpc/grpc.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

constexpr const char* kSocket = "kubelet.sock";
constexpr std::size_t kPluginsMax = 64;
constexpr base::Duration kCallMax = base::seconds(30);
// A kubelet's: so long a plugin that is gone is expected back.
constexpr base::Duration kGoneMax = base::minutes(5);
// More frequent lists of a plugin are looked at when this has passed, and the newest alone.
constexpr base::Duration kListPause = base::milliseconds(100);
constexpr base::Duration kReportAgain = base::minutes(1);

struct Plugin {
  std::string endpoint;
  PluginOptions options;
  std::vector<Device> devices;
  std::unique_ptr<rt::GrpcCall> list;  // null: it is gone
  rt::Loop::TimerId patience = 0;      // until its first list, or until it is forgotten
  bool lists = false;
  base::Duration gone_since;
  std::optional<base::Duration> reported;  // when the log named it last
};

}  // namespace

struct PluginHost::State : std::enable_shared_from_this<PluginHost::State> {
  State(rt::Env& e, std::string f, Callbacks c) : env(e), folder(std::move(f)), listener(std::move(c)) {}

  rt::Env& env;
  std::string folder;
  Callbacks listener;
  // Calls and the server need the thread, and go before it.
  std::unique_ptr<rt::GrpcIo> io;
  std::unique_ptr<rt::GrpcServer> server;
  std::unique_ptr<PluginCalls> calls;
  std::map<std::string, Plugin> plugins;  // by resource

  void asked(const std::string& method, const std::string& request, const std::shared_ptr<rt::GrpcAnswer>& answer);
  base::Status enroll(const PluginRegistration& registration);
  void listed(const std::string& resource, const std::string& message);
  void lost(const std::string& resource, const std::string& why);
  void await_return(const std::string& resource, Plugin& plugin);
  void forget(const std::string& resource);
  bool make_room();
  void report(Plugin& plugin, const std::string& resource);
  void call(const std::string& resource, const char* method, std::string request,
            std::function<void(base::Result<std::string>)> done);
};

PluginHost::PluginHost(rt::Env& env, std::string folder, Callbacks callbacks)
    : state_(std::make_shared<State>(env, std::move(folder), std::move(callbacks))) {}
PluginHost::~PluginHost() { stop(); }

base::Status PluginHost::start() {
  State& state = *state_;
  TRY_VOID(rt::make_folders(state.folder, 0700));
  TRY(state.io, rt::make_grpc_io());
  auto server = rt::start_grpc_server(
      *state.io, {.unix_path = state.folder + "/" + kSocket},
      [weak = std::weak_ptr(state_), &loop = state.env.loop()](const std::string& method, const std::string& request,
                                                               const std::shared_ptr<rt::GrpcAnswer>& answer) {
        loop.post([weak, method, request, answer] {
          if (const auto self = weak.lock()) self->asked(method, request, answer);
        });
      });
  if (!server.ok()) {
    state.io.reset();
    return server.take_error();
  }
  state.server = std::move(*server);
  state.calls = std::make_unique<PluginCalls>(*state.io, state.env.loop());
  return {};
}

void PluginHost::stop() {
  State& state = *state_;
  for (auto& [resource, plugin] : state.plugins)
    if (plugin.patience != 0) state.env.loop().cancel(plugin.patience);
  state.plugins.clear();
  state.calls.reset();
  state.server.reset();
  state.io.reset();
}

void PluginHost::State::asked(const std::string& method, const std::string& request,
                              const std::shared_ptr<rt::GrpcAnswer>& answer) {
  if (!io) return;
  if (method != "/v1beta1.Registration/Register")
    return answer->finish({rt::GrpcCode::kUnimplemented, base::format("unknown method {}", base::to_utf8(method))});
  auto registration = registration_from(request);
  const base::Status done = registration.ok() ? enroll(*registration) : base::Status(registration.error());
  if (!done.ok()) {
    listener.warn("a device plugin is refused: " + done.error().message);
    return answer->finish({rt::GrpcCode::kInvalidArgument, done.error().message});
  }
  answer->send({});  // Empty
  answer->finish({});
}

base::Status PluginHost::State::enroll(const PluginRegistration& registration) {
  const std::string& resource = registration.resource;
  if (const std::string why = listener.objection(resource); !why.empty())
    return make_error(Code::kInvalid, base::format("resource_name: {:?}: {}", resource, why));
  if (!plugins.contains(resource) && plugins.size() >= kPluginsMax && !make_room())
    return make_error(Code::kTooManyRequests, base::format("there are {} plugins already", kPluginsMax));
  Plugin& plugin = plugins[resource];
  plugin.list.reset();  // a new plugin takes the place of the old one
  plugin.endpoint = registration.endpoint;
  plugin.options = registration.options;
  plugin.lists = false;
  if (plugin.patience != 0) env.loop().cancel(plugin.patience);
  plugin.patience = env.loop().after(kCallMax, [weak = weak_from_this(), resource] {
    if (const auto self = weak.lock()) self->lost(resource, "it has listed no devices within 30s");
  });
  plugin.list =
      rt::begin_grpc_call(*io, env.loop(), {.unix_path = folder + "/" + plugin.endpoint},
                          "/v1beta1.DevicePlugin/ListAndWatch", {}, {.pause = kListPause, .newest_only = true},
                          {.on_message =
                               [weak = weak_from_this(), resource](const std::string& message) {
                                 if (const auto self = weak.lock()) self->listed(resource, message);
                               },
                           .on_end =
                               [weak = weak_from_this(), resource](const rt::GrpcStatus& status) {
                                 const auto self = weak.lock();
                                 if (self) self->lost(resource, "it has ended: " + reason_of(status));
                               }});
  report(plugin, resource);
  return {};
}

// A plugin may register thousands of times a second.
void PluginHost::State::report(Plugin& plugin, const std::string& resource) {
  if (plugin.reported && env.uptime() - *plugin.reported < kReportAgain) return;
  plugin.reported = env.uptime();
  base::log_info("node", base::format("device plugin {} offers {}", plugin.endpoint, resource));
}

// The name of the plugin that is gone for longest, and whose devices nobody has, is free for another.
bool PluginHost::State::make_room() {
  const std::string* oldest = nullptr;
  for (const auto& [resource, plugin] : plugins)
    if (!plugin.list && !listener.is_held(resource) &&
        (oldest == nullptr || plugin.gone_since < plugins[*oldest].gone_since))
      oldest = &resource;
  if (oldest == nullptr) return false;
  forget(std::string(*oldest));
  return true;
}

void PluginHost::State::await_return(const std::string& resource, Plugin& plugin) {
  plugin.patience = env.loop().after(kGoneMax, [weak = weak_from_this(), resource] {
    const auto self = weak.lock();
    const auto found = self ? self->plugins.find(resource) : decltype(self->plugins.find(resource)){};
    if (!self || found == self->plugins.end()) return;
    found->second.patience = 0;
    if (self->listener.is_held(resource)) return self->await_return(resource, found->second);
    self->forget(resource);
  });
}

void PluginHost::State::forget(const std::string& resource) {
  const auto found = plugins.find(resource);
  if (found == plugins.end()) return;
  if (found->second.patience != 0) env.loop().cancel(found->second.patience);
  plugins.erase(found);
  listener.forgotten(resource);
}

void PluginHost::State::listed(const std::string& resource, const std::string& message) {
  const auto found = plugins.find(resource);
  if (found == plugins.end()) return;
  Plugin& plugin = found->second;
  if (plugin.patience != 0) env.loop().cancel(std::exchange(plugin.patience, 0));
  auto devices = devices_from(message);
  if (!devices.ok()) return lost(resource, "it lists nonsense: " + devices.error().message);
  const bool same = std::exchange(plugin.lists, true) && *devices == plugin.devices;
  plugin.devices = *devices;
  if (!same) listener.changed(resource, std::move(*devices));
}

// Its devices are there, and unhealthy, until it registers again.
void PluginHost::State::lost(const std::string& resource, const std::string& why) {
  const auto found = plugins.find(resource);
  if (found == plugins.end()) return;
  Plugin& plugin = found->second;
  if (plugin.patience != 0) env.loop().cancel(std::exchange(plugin.patience, 0));
  // Not from within its own callback.
  env.loop().post([call = std::shared_ptr(std::move(plugin.list))] {});
  plugin.lists = false;
  plugin.gone_since = env.uptime();
  await_return(resource, plugin);
  for (Device& device : plugin.devices) device.healthy = false;
  listener.warn(base::format("the device plugin of {}: {}", resource, why));
  listener.changed(resource, plugin.devices);
}

void PluginHost::expect(const std::string& resource) {
  Plugin& plugin = state_->plugins[resource];
  plugin.gone_since = state_->env.uptime();
  state_->await_return(resource, plugin);
}

bool PluginHost::has(const std::string& resource) const { return state_->plugins.contains(resource); }

PluginOptions PluginHost::options(const std::string& resource) const {
  const auto found = state_->plugins.find(resource);
  return found == state_->plugins.end() ? PluginOptions() : found->second.options;
}

void PluginHost::State::call(const std::string& resource, const char* method, std::string request,
                             std::function<void(base::Result<std::string>)> done) {
  const auto found = plugins.find(resource);
  if (found == plugins.end() || !found->second.list)
    return env.loop().post([done = std::move(done), resource] {
      done(make_error(Code::kUnavailable, base::format("the device plugin of {} is not there", resource)));
    });
  calls->begin({.socket = folder + "/" + found->second.endpoint,
                .method = std::string("/v1beta1.DevicePlugin/") + method,
                .request = std::move(request),
                .timeout = kCallMax},
               [this, resource, method, done = std::move(done)](base::Result<std::string> answer) {
                 if (answer.ok()) return done(std::move(answer));
                 const std::string why =
                     base::format("{} of the device plugin of {}: {}", method, resource, answer.error().message);
                 listener.warn(why);
                 done(make_error(Code::kUnavailable, why));
               });
}

namespace {

// The answer of a plugin, or its fault.
template <class T>
base::Result<T> understood(const std::string& resource, base::Result<T> read) {
  if (read.ok()) return read;
  return base::within(read.take_error(), base::format("the device plugin of {} answers nonsense", resource));
}

}  // namespace

void PluginHost::allocate(const std::string& resource, const std::vector<std::string>& ids,
                          std::function<void(base::Result<PluginAllocation>)> done) {
  state_->call(resource, "Allocate", allocate_request(ids),
               [resource, done = std::move(done), warn = state_->listener.warn](base::Result<std::string> answer) {
                 if (!answer.ok()) return done(answer.take_error());
                 auto read = understood(resource, allocation_from(*answer));
                 if (!read.ok()) warn(read.error().message);
                 done(std::move(read));
               });
}

void PluginHost::prefer(const std::string& resource, const std::vector<std::string>& available, std::int64_t count,
                        std::function<void(base::Result<std::vector<std::string>>)> done) {
  state_->call(resource, "GetPreferredAllocation", preference_request(available, count),
               [resource, available, count, done = std::move(done),
                warn = state_->listener.warn](base::Result<std::string> answer) {
                 if (!answer.ok()) return done(answer.take_error());
                 auto read = understood(resource, preference_from(*answer, available, count));
                 if (!read.ok()) warn(read.error().message);
                 done(std::move(read));
               });
}

void PluginHost::pre_start(const std::string& resource, const std::vector<std::string>& ids,
                           std::function<void(base::Status)> done) {
  state_->call(resource, "PreStartContainer", pre_start_request(ids),
               [done = std::move(done)](base::Result<std::string> answer) {
                 done(answer.ok() ? base::Status() : base::Status(answer.take_error()));
               });
}

}  // namespace node
