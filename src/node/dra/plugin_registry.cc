// A look each second, and a question when one is due.
#include "node/dra/plugin_registry.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/format.h"
#include "base/log.h"
#include "node/dra/socket_folder.h"
#include "rt/files/files.h"

namespace node {

namespace {

constexpr base::Duration kLook = base::seconds(1);
// As a kubelet watches over plugins: this often, and so many silences in a row are an end.
constexpr base::Duration kCheck = base::seconds(10);
constexpr int kSilencesMax = 2;
constexpr base::Duration kAskMax = base::seconds(10);
constexpr base::Duration kNotifyMax = base::seconds(5);
constexpr base::Duration kAgainFirst = base::seconds(1);
constexpr base::Duration kAgainMax = base::minutes(2);
constexpr std::size_t kInfoBytesMax = 64 << 10;

struct Entry {
  std::string identity;            // of the socket's file
  std::optional<PluginInfo> info;  // of one that is registered
  bool asked = false;              // and has not answered
  base::Duration due;              // asked not before
  base::Duration back_off;
  int silences = 0;
  std::string complaint;  // the last, which is not repeated
};

}  // namespace

struct PluginRegistry::State : std::enable_shared_from_this<PluginRegistry::State> {
  State(rt::Env& e, PluginCalls& c, std::string f, Callbacks t)
      : env(e), calls(c), folder(std::move(f)), listener(std::move(t)) {}

  rt::Env& env;
  PluginCalls& calls;
  std::string folder;
  Callbacks listener;
  std::map<std::string, Entry> entries;  // by path
  bool stopped = false;

  void look();
  void seen(const std::map<std::string, std::string>& sockets);
  void ask(const std::string& socket, Entry& entry);
  void answered(const std::string& socket, const std::string& identity, const base::Result<std::string>& answer);
  void silent(const std::string& socket, Entry& entry, const std::string& why);
  void introduce(const std::string& socket, Entry& entry, base::Result<PluginInfo> info);
  void drop(const std::string& socket, Entry& entry);
  void complain(Entry& entry, const std::string& why);
  void notify(const std::string& socket, const std::string& error);
};

PluginRegistry::PluginRegistry(rt::Env& env, PluginCalls& calls, std::string folder, Callbacks callbacks)
    : state_(std::make_shared<State>(env, calls, std::move(folder), std::move(callbacks))) {}
PluginRegistry::~PluginRegistry() { state_->stopped = true; }

base::Status PluginRegistry::start() {
  TRY_VOID(rt::make_folders(state_->folder, 0700));
  state_->look();
  return {};
}

void PluginRegistry::State::look() {
  auto found = std::make_shared<std::map<std::string, std::string>>();
  env.offload([found, folder = folder] { *found = sockets_below(folder); },
              [weak = weak_from_this(), found] {
                const auto self = weak.lock();
                if (!self || self->stopped) return;
                self->seen(*found);
                self->env.loop().after(kLook, [weak] {
                  const auto again = weak.lock();
                  if (again && !again->stopped) again->look();
                });
              });
}

void PluginRegistry::State::seen(const std::map<std::string, std::string>& sockets) {
  std::vector<std::string> gone;
  for (auto& [socket, entry] : entries) {
    const auto now = sockets.find(socket);
    if (now == sockets.end() || now->second != entry.identity) gone.push_back(socket);
  }
  for (const std::string& socket : gone) {
    drop(socket, entries[socket]);
    entries.erase(socket);
  }
  for (const auto& [socket, identity] : sockets) {
    Entry& entry = entries[socket];
    entry.identity = identity;
    if (!entry.asked && env.uptime() >= entry.due) ask(socket, entry);
  }
}

void PluginRegistry::State::ask(const std::string& socket, Entry& entry) {
  entry.asked = true;
  calls.begin(
      {.socket = socket, .method = kGetInfo, .request = {}, .timeout = kAskMax, .answer_bytes_max = kInfoBytesMax},
      [weak = weak_from_this(), socket, identity = entry.identity](const base::Result<std::string>& answer) {
        const auto self = weak.lock();
        if (self && !self->stopped) self->answered(socket, identity, answer);
      });
}

void PluginRegistry::State::answered(const std::string& socket, const std::string& identity,
                                     const base::Result<std::string>& answer) {
  const auto found = entries.find(socket);
  if (found == entries.end() || found->second.identity != identity) return;  // it is another socket's
  Entry& entry = found->second;
  entry.asked = false;
  if (!answer.ok()) return silent(socket, entry, answer.error().message);
  entry.silences = 0;
  entry.due = env.uptime() + kCheck;
  auto info = plugin_info_from(*answer);
  if (entry.info && info.ok() && *entry.info == *info) return;
  drop(socket, entry);
  introduce(socket, entry, std::move(info));
}

void PluginRegistry::State::silent(const std::string& socket, Entry& entry, const std::string& why) {
  if (entry.info && ++entry.silences < kSilencesMax) {
    entry.due = env.uptime() + kCheck;
    return;
  }
  drop(socket, entry);
  complain(entry, base::format("RegisterPlugin error -- failed to get plugin info using RPC GetInfo at socket {}, err: "
                               "{}",
                               socket, why));
}

void PluginRegistry::State::introduce(const std::string& socket, Entry& entry, base::Result<PluginInfo> info) {
  base::Status came = info.ok()
                          ? listener.came(socket, *info)
                          : base::Status(base::within(info.take_error(), base::format("the plugin at {}", socket)));
  notify(socket, came.ok() ? std::string() : came.error().message);
  if (!came.ok()) return complain(entry, came.error().message);
  entry.info = *std::move(info);
  entry.back_off = {};
  entry.complaint.clear();
}

void PluginRegistry::State::drop(const std::string& socket, Entry& entry) {
  if (!std::exchange(entry.info, std::nullopt)) return;
  entry.silences = 0;
  listener.gone(socket);
}

void PluginRegistry::State::complain(Entry& entry, const std::string& why) {
  entry.back_off = std::clamp(entry.back_off * 2, kAgainFirst, kAgainMax);
  entry.due = env.uptime() + entry.back_off;
  if (std::exchange(entry.complaint, why) != why) listener.warn(why);
}

void PluginRegistry::State::notify(const std::string& socket, const std::string& error) {
  calls.begin({.socket = socket,
               .method = kNotifyStatus,
               .request = registration_status(error),
               .timeout = kNotifyMax,
               .answer_bytes_max = kInfoBytesMax},
              [socket](const base::Result<std::string>& answer) {
                if (!answer.ok())
                  base::log_warning("node", base::format("the plugin at {} does not hear how its registration went: {}",
                                                         socket, answer.error().message));
              });
}

}  // namespace node
