// A scheduler between its start and its first bind, with a client that reads pages of another process.
#include "restart.h"

#include <time.h>

#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "base/format.h"
#include "client/client.h"
#include "client/http/wire.h"
#include "client/watch/initial_events.h"
#include "loads.h"
#include "main/host/base/resource_use.h"
#include "rt/env.h"
#include "scheduler/scheduler.h"

namespace bench {
namespace {

using api::Json;

constexpr base::Duration kQuiet = base::seconds(3);

double cpu_seconds() {
  timespec spent{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec) / 1e9;
}

std::optional<Pages::Kind> kind_of(const api::ResourceId& id) {
  namespace resources = api::resources;
  if (id == resources::kNodes) return Pages::Kind::kNodes;
  if (id == resources::kPodGroups) return Pages::Kind::kGroups;
  if (id == resources::kPods) return Pages::Kind::kPods;
  if (id == resources::kQueues) return Pages::Kind::kQueues;
  return std::nullopt;
}

// Says what there is, in pieces as TLS records bring them, then that this was all, and then nothing.
class PagesWatch : public std::enable_shared_from_this<PagesWatch> {
 public:
  PagesWatch(rt::Loop& loop, Pages& pages, const client::WatchRequest& request, client::Client::OnEvent on_event)
      : loop_(loop),
        pages_(pages),
        kind_(kind_of(request.resource)),
        decoder_(request.only),
        replay_(std::move(on_event)) {
    const bool core = kind_ == Pages::Kind::kNodes || kind_ == Pages::Kind::kPods;
    decoder_.begin(core && pages_.is_protobuf() ? "application/vnd.kubernetes.protobuf;stream=watch"
                                                : "application/json");
  }
  void post_next() {
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->next();
    });
  }

 private:
  // The process that makes them is waited for, which leaves the caches cold, and nobody waits for a server that has
  // them ready; what it sends at once is held here, too.
  static constexpr int kItemsAtOnce = 1000;
  static constexpr std::size_t kPiece = 16 << 10;

  void next() {
    const std::string_view bytes = kind_ ? pages_.events(*kind_, sent_, kItemsAtOnce) : std::string_view();
    if (bytes.empty()) return replay_({client::EventType::kBookmark, client::make_bookmark("", "", 1'000'000, true)});
    sent_ += kItemsAtOnce;
    std::vector<client::WatchEvent> events;
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
      if (!decoder_.feed(bytes.substr(at, kPiece), events).ok()) return;
      for (client::WatchEvent& event : events) replay_(std::move(event));
      events.clear();
    }
    post_next();
  }

  rt::Loop& loop_;
  Pages& pages_;
  std::optional<Pages::Kind> kind_;  // not set: there are none
  client::WatchDecoder decoder_;
  client::Client::OnEvent replay_;
  int sent_ = 0;
};

// Lists and watches come from pages, writes are answered with their own body, and nothing changes behind anybody's
// back.
class PagesClient : public client::Client {
 public:
  PagesClient(rt::Env& env, Pages& pages, std::function<void()> on_bind)
      : env_(env), pages_(pages), on_bind_(std::move(on_bind)) {}

  void call(client::Request request, OnResult on_result) override {
    if (request.verb != client::Verb::kList && request.verb != client::Verb::kGet) last_write_ = env_.uptime();
    if (request.subresource == "binding") on_bind_();
    env_.loop().post(
        [this, request = std::move(request), on_result = std::move(on_result)] { on_result(answer(request)); });
  }
  std::unique_ptr<client::Watch> watch(client::WatchRequest request, OnEvent on_event, OnEnd) override {
    if (!request.resource_version.empty()) return std::make_unique<client::Watch>();
    struct Held : client::Watch {
      std::shared_ptr<PagesWatch> watch;
    };
    auto held = std::make_unique<Held>();
    held->watch = std::make_shared<PagesWatch>(env_.loop(), pages_, request, std::move(on_event));
    held->watch->post_next();
    return held;
  }
  base::Duration last_write() const { return last_write_; }

 private:
  base::Result<Json> answer(const client::Request& request) const {
    if (request.verb != client::Verb::kList) return request.body;
    const auto kind = kind_of(request.resource);
    if (!kind) return Json::object({{"metadata", Json::object({{"resourceVersion", "1000000"}})}});
    rt::HttpResponse response;
    response.body = pages_.page(*kind, std::atoi(request.continue_token.c_str()), static_cast<int>(request.limit));
    return client::decode_response(response, request.only, true);
  }

  rt::Env& env_;
  Pages& pages_;
  std::function<void()> on_bind_;
  base::Duration last_write_{};
};

}  // namespace

base::Result<Restart> measure_restart(ClusterSize size, bool protobuf) {
  Pages pages(size, protobuf);
  Restart out;
  const auto env = rt::make_real_env("restart");
  std::promise<void> decided;
  bool bound = false;
  const double begin = cpu_seconds();
  PagesClient client(*env, pages, [&] {
    if (std::exchange(bound, true)) return;
    out.decided_s = cpu_seconds() - begin;
    decided.set_value();
  });
  scheduler::Scheduler scheduler(*env, client, {});
  std::promise<base::Status> started;
  env->loop().post([&] {
    started.set_value(scheduler.configure(chart_configuration()));
    scheduler.start();
  });
  TRY_VOID(started.get_future().get());
  if (decided.get_future().wait_for(std::chrono::minutes(2)) != std::future_status::ready)
    return base::make_error(base::Code::kTimeout, "nothing was decided");
  std::promise<void> settled;
  std::function<void()> look = [&] {
    if (env->uptime() - client.last_write() >= kQuiet) return settled.set_value();
    env->loop().after(base::milliseconds(100), look);
  };
  env->loop().post(look);
  settled.get_future().wait();
  out.settled_s = cpu_seconds() - begin;
  out.rest_bytes = volcano_main::resident_bytes();
  env->stop();
  return out;
}

}  // namespace bench
