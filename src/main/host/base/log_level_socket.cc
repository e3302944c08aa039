// How the log level is changed while a program runs.
#include "main/host/base/log_level_socket.h"

#include <atomic>
#include <charconv>
#include <cstdlib>

#include "base/format.h"
#include "base/log.h"
#include "base/time.h"
#include "main/host/base/log_setup.h"

namespace volcano_main {
namespace {

constexpr std::int64_t kLevelMax = 100;  // above what any line of Kubernetes asks for

rt::HttpResponse text(int status, std::string body) {
  return {.status = status, .headers = {}, .body = std::move(body) + "\n"};
}

}  // namespace

struct LogLevelSocket::State : std::enable_shared_from_this<LogLevelSocket::State> {
  rt::Env& env;
  const std::int64_t usual;
  std::atomic<std::int64_t> level;
  rt::Loop::TimerId back = 0;  // loop only

  State(rt::Env& e, std::int64_t verbosity) : env(e), usual(verbosity), level(verbosity) {}

  void set(std::int64_t to) {
    level = to;
    set_log_verbosity(to);
  }
  void go_back_after(base::Duration span) {
    if (back != 0) env.loop().cancel(back);
    back = env.loop().after(span, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->back = 0;
      self->set(self->usual);
      base::log_info("log", base::format("the log level is {} again", self->usual));
    });
  }
  // On the thread of the socket.
  rt::HttpResponse answer(const rt::HttpRequest& request) {
    const rt::Target target = rt::parse_target(request.target);
    if (target.path == "/getlevel") return text(200, base::format("Current klog log level: {}", level.load()));
    if (target.path != "/setlevel") return text(404, "404 page not found");
    std::string level_word, span_word;
    for (const auto& [key, value] : target.query) {
      if (key == "level") level_word = value;
      if (key == "duration") span_word = value;
    }
    std::int64_t wanted = 0;
    const char* end = level_word.data() + level_word.size();
    const auto parsed = std::from_chars(level_word.data(), end, wanted);
    if (parsed.ec != std::errc() || parsed.ptr != end || wanted <= 0 || wanted > kLevelMax)
      return text(400, base::format("level: {:?} is not between 1 and {}", level_word, kLevelMax));
    const auto span = base::parse_go_duration(span_word);
    if (!span || span->ns <= 0)
      return text(400, base::format("duration: {:?} is not a time above zero, such as 5m", span_word));
    set(wanted);
    env.loop().post([self = shared_from_this(), span = *span] { self->go_back_after(span); });
    base::log_info("log", base::format("the log level is {} for {}", wanted, span_word));
    return text(200, base::format("Change klog log level to {} successfully and  for {}", wanted, span_word));
  }
};

LogLevelSocket::LogLevelSocket(rt::Env& env, std::int64_t verbosity) : state_(std::make_shared<State>(env, verbosity)) {
  const char* folder = std::getenv("DEBUG_SOCKET_DIR");
  const std::string path =
      std::string(folder != nullptr && *folder != 0 ? folder : "/tmp/klog-socks") + "/klog-klog.sock";
  auto server =
      rt::listen_locally(path, [state = state_](const rt::HttpRequest& request) { return state->answer(request); });
  if (server.ok())
    server_ = *std::move(server);
  else
    base::log_warning("log",
                      base::format("the log level cannot be changed while this runs: {}", server.error().message));
}

LogLevelSocket::~LogLevelSocket() {
  server_.reset();
  if (state_->back != 0) state_->env.loop().cancel(state_->back);
}

}  // namespace volcano_main
