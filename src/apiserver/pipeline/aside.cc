// Turns of asking, deciding off the loop, and looking again.
#include "apiserver/pipeline/aside.h"

#include <algorithm>

#include "api/json/json_bulk.h"
#include "base/random.h"

namespace apiserver {

using base::Result;

namespace {

// What a large body takes in memory is a multiple of its text.
constexpr std::size_t kWritesMax = 64;
// A turn answers questions that the one before asked for the first time, or for what has changed since.
constexpr int kTurnsMax = 32;

// One write. The loop and the deciding thread hold it by turns.
struct Write {
  Request request;
  Aside::Decide decide;
  Aside::Done done;
  std::shared_ptr<const api::policies::Set> policies;
  Snapshot seen;
  base::Random random;  // as it is before the first throw: every turn throws the same, or it would ask anew each time
  base::Time now;
  int turns = 0;
  // Of the last turn.
  Request left;
  std::optional<Result<Change>> decided = {};
};

// A few words of JSON patch can copy much, and each operation may move what a long list holds.
bool is_long_patch(const api::Json& patch) {
  constexpr std::size_t kOperationsMax = 16;
  return patch.size() > kOperationsMax || std::ranges::any_of(patch.items(), [](const api::Json& operation) {
           return operation["op"].as_string() == "copy";
         });
}

}  // namespace

struct Aside::State : std::enable_shared_from_this<Aside::State> {
  State(rt::Env& e, SideWork& w, const Latest& l, const std::vector<api::AdmissionHook>& h, const ServiceNetwork& n)
      : env(e), side_work(w), latest(l), hooks(h), services(n) {}

  rt::Env& env;
  SideWork& side_work;
  const Latest& latest;
  const std::vector<api::AdmissionHook> hooks;  // used by other threads
  const ServiceNetwork services;
  std::size_t writes = 0;

  void turn(std::shared_ptr<Write> write) {
    auto self = shared_from_this();
    side_work.run(
        [self, write] {
          write->left = write->request;
          base::Random random = write->random;
          api::policies::Budget budget;
          write->decided = write->decide(
              {write->now, random, self->hooks, write->seen, write->policies.get(), &budget, self->services},
              write->left);
        },
        [self, write]() mutable { self->look_again(std::move(write)); });
  }

  void look_again(std::shared_ptr<Write> write) {
    const bool holds = write->seen.refresh(latest);
    if (!holds && ++write->turns < kTurnsMax) return turn(write);
    if (holds)
      write->done(*std::move(write->decided), write->left);
    else
      write->done(
          conflict(*write->request.kind, write->request.name,
                   "the object has been modified; please apply your changes to the latest version and try again"),
          write->request);
    // To free what is large takes long, too.
    side_work.run([garbage = std::move(write)] {}, [] {});
    --writes;
  }
};

bool is_long(const Lookups& objects, const Request& request) {
  if (!api::extent_within(request.body, {.bytes = kLongBytes, .values = kLongValues})) return true;
  if (request.verb == Verb::kPatch && request.patch_type == PatchType::kJson && is_long_patch(request.body))
    return true;
  if (request.verb == Verb::kCreate && request.subresource.empty()) return false;
  const store::ObjectPtr object = objects.stored(request.resource, request.ns, request.name);
  return object && object->bytes.size() > kLongBytes;
}

Aside::Aside(rt::Env& env, SideWork& side_work, const Latest& latest, const std::vector<api::AdmissionHook>& hooks,
             const ServiceNetwork& services)
    : state_(std::make_shared<State>(env, side_work, latest, hooks, services)) {}
Aside::~Aside() = default;

void Aside::decide(Request request, std::shared_ptr<const api::policies::Set> policies, Decide decide, Done done) {
  if (state_->writes >= kWritesMax) {
    base::Error error = base::make_error(base::Code::kTooManyRequests, "too many large writes are waiting");
    error.retry_after_seconds = 1;
    return done(std::move(error), request);
  }
  ++state_->writes;
  rt::Env& env = state_->env;
  state_->turn(std::make_shared<Write>(Write{.request = std::move(request),
                                             .decide = std::move(decide),
                                             .done = std::move(done),
                                             .policies = std::move(policies),
                                             .seen = {},
                                             .random = base::Random(env.random().next()),
                                             .now = env.now(),
                                             .turns = 0,
                                             .left = {}}));
}

}  // namespace apiserver
