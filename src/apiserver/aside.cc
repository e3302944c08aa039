// Turns of asking, deciding off the loop, and looking again.
#include "apiserver/aside.h"

#include "api/json_bulk.h"
#include "base/random.h"

namespace apiserver {

using base::Result;

namespace {

// Of the pool's eight threads; the store's commits use the same.
constexpr std::size_t kUnderWayMax = 3;
constexpr std::size_t kWaitingMax = 200;
// A turn answers questions that the one before asked for the first time, or for what has changed since.
constexpr int kTurnsMax = 32;

// One write. The loop and the deciding thread hold it by turns.
struct Write {
  Request request;
  Aside::Decide decide;
  Aside::Done done;
  Snapshot seen;
  base::Random random;
  base::Time now;
  int turns = 0;
  // Of the last turn.
  Request left;
  std::optional<Result<Change>> decided = {};
};

}  // namespace

struct Aside::State : std::enable_shared_from_this<Aside::State> {
  State(rt::Env& e, const Latest& l, const std::vector<api::AdmissionHook>& h) : env(e), latest(l), hooks(h) {}

  rt::Env& env;
  const Latest& latest;
  const std::vector<api::AdmissionHook> hooks;  // used by other threads
  std::deque<std::shared_ptr<Write>> waiting;
  std::size_t under_way = 0;

  void begin_next() {
    while (!waiting.empty() && under_way < kUnderWayMax) {
      ++under_way;
      auto write = std::move(waiting.front());
      waiting.pop_front();
      turn(std::move(write));
    }
  }

  void turn(std::shared_ptr<Write> write) {
    auto self = shared_from_this();
    env.offload(
        [self, write] {
          write->left = write->request;
          write->decided = write->decide({write->now, write->random, self->hooks, write->seen}, write->left);
        },
        [self, write]() mutable { self->look_again(std::move(write)); });
  }

  void look_again(std::shared_ptr<Write> write) {
    const bool holds = write->seen.refresh(latest);
    if (!holds && ++write->turns < kTurnsMax) return turn(write);
    if (holds)
      write->done(*std::move(write->decided), std::move(write->left));
    else
      write->done(
          conflict(*write->request.kind, write->request.name,
                   "the object has been modified; please apply your changes to the latest version and try again"),
          write->request);
    // To free what is large takes long, too.
    env.offload([garbage = std::move(write)] {}, [] {});
    --under_way;
    begin_next();
  }
};

bool is_long(const Lookups& objects, const Request& request) {
  if (!api::extent_within(request.body, {.bytes = kLongBytes, .levels = SIZE_MAX})) return true;
  if (request.verb == Verb::kCreate && request.subresource.empty()) return false;
  const store::ObjectPtr object = objects.stored(request.resource, request.ns, request.name);
  return object && object->bytes.size() > kLongBytes;
}

Aside::Aside(rt::Env& env, const Latest& latest, const std::vector<api::AdmissionHook>& hooks)
    : state_(std::make_shared<State>(env, latest, hooks)) {}
Aside::~Aside() = default;

void Aside::decide(Request request, Decide decide, Done done) {
  if (state_->waiting.size() >= kWaitingMax) {
    base::Error error = base::make_error(base::Code::kTooManyRequests, "too many large writes are waiting");
    error.retry_after_seconds = 1;
    return done(std::move(error), std::move(request));
  }
  rt::Env& env = state_->env;
  state_->waiting.push_back(std::make_shared<Write>(Write{.request = std::move(request),
                                                          .decide = std::move(decide),
                                                          .done = std::move(done),
                                                          .seen = {},
                                                          .random = base::Random(env.random().next()),
                                                          .now = env.now(),
                                                          .turns = 0,
                                                          .left = {}}));
  state_->begin_next();
}

}  // namespace apiserver
