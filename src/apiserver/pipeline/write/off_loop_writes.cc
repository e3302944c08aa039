// Turns of asking, deciding off the loop, and looking again.
#include "apiserver/pipeline/write/off_loop_writes.h"

#include <algorithm>

#include "api/json/json_bulk.h"
#include "apiserver/webhooks/questions.h"
#include "base/random.h"

namespace apiserver {

using base::Result;

namespace {

// A large body takes a multiple of its text in memory.
constexpr std::size_t kWritesMax = 64;
// Short ones that wait for webhooks. More than a deletion of a collection begins at once.
constexpr std::size_t kAskingMax = 2048;
// The time of a write that webhooks are asked about, as Kubernetes has it for any request.
constexpr base::Duration kAskingTime = base::seconds(60);
// A turn answers questions that the one before asked for the first time, or for what has changed since.
constexpr int kTurnsMax = 32;

// One write. The loop and the deciding thread hold it by turns.
struct Write {
  Request request;
  OffLoopWrites::Decide decide;
  OffLoopWrites::Done done;
  OffLoopWrites::RulesInForce laws;
  bool is_long = false;
  base::Time deadline;
  Snapshot seen;
  WebhookQuestions questions;
  base::Random random;  // as it is before the first throw: every turn throws the same, or it would ask anew each time
  base::Time now;
  int turns = 0;
  // The rest of the last turn.
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

struct OffLoopWrites::State : std::enable_shared_from_this<OffLoopWrites::State> {
  State(rt::Env& e, SideWork& w, const LiveObjects& l, const std::vector<api::AdmissionHook>& h,
        const ServiceNetwork& n, WebhookCaller* c, Converter& v)
      : env(e), side_work(w), latest(l), hooks(h), services(n), caller(c), converter(v) {}

  rt::Env& env;
  SideWork& side_work;
  const LiveObjects& latest;
  const std::vector<api::AdmissionHook> hooks;  // used by other threads
  const ServiceNetwork services;
  WebhookCaller* caller;
  Converter& converter;
  std::size_t writes = 0;  // long ones
  std::size_t asking = 0;  // others

  void turn(std::shared_ptr<Write> write) {
    auto self = shared_from_this();
    side_work.run(
        [self, write] {
          write->left = write->request;
          base::Random random = write->random;
          api::policies::Budget budget;
          write->questions.forget_open();
          write->decided = write->decide({.now = write->now,
                                          .random = random,
                                          .hooks = self->hooks,
                                          .objects = write->seen,
                                          .policies = write->laws.policies.get(),
                                          .budget = &budget,
                                          .services = self->services,
                                          .webhooks = write->laws.webhooks.get(),
                                          .questions = &write->questions,
                                          .roles = write->laws.roles},
                                         write->left);
        },
        [self, write]() mutable { self->look_again(std::move(write)); });
  }

  void look_again(std::shared_ptr<Write> write) {
    const bool holds = write->seen.refresh(latest);
    if (!holds && ++write->turns < kTurnsMax) return turn(write);
    if (holds && ask(write)) return;
    if (holds)
      write->done(*std::move(write->decided), write->left);
    else
      write->done(
          conflict(*write->request.kind, write->request.name,
                   "the object has been modified; please apply your changes to the latest version and try again"),
          write->request);
    // To free what is large takes long, too.
    --(write->is_long ? writes : asking);
    side_work.run([garbage = std::move(write)] {}, [] {});
  }

  // Calls the webhooks whose answers the decision waits for; false: it waits for none.
  bool ask(const std::shared_ptr<Write>& write) {
    const auto open = write->questions.open();
    const auto conversions = write->questions.open_conversions();
    if (open.empty() && conversions.empty()) return false;
    auto left = std::make_shared<std::size_t>(open.size() + conversions.size());
    for (WebhookQuestions::Conversion* one : conversions)
      converter.convert(write->laws.conversion, *one->to, {one->object},
                        [self = shared_from_this(), write, one, left](Result<std::vector<api::Json>> converted) {
                          one->converted = converted.ok() ? Result<api::Json>(std::move(converted->front()))
                                                          : Result<api::Json>(converted.take_error());
                          if (--*left == 0) self->turn(write);
                        });
    for (WebhookQuestions::Question* one : open) {
      const api::policies::Webhook& webhook = *one->webhook;
      const std::string uid = env.random().uuid();
      auto answered = [self = shared_from_this(), write, one, uid, left](Result<std::string> reply) {
        one->verdict = reply.ok() ? read_verdict(*one->webhook, uid, *reply)
                                  : Verdict{.failure = "failed to call webhook: " + reply.error().message};
        if (--*left == 0) self->turn(write);
      };
      const base::Duration time = std::min(base::seconds(webhook.timeout_seconds), write->deadline - env.now());
      if (time.ns <= 0)
        env.loop().post([answered] { answered(base::make_error(base::Code::kTimeout, "context deadline exceeded")); });
      else
        caller->call(latest, webhook.address, review_text(webhook.review_version, uid, one->tail), time, answered);
    }
    return true;
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

OffLoopWrites::OffLoopWrites(rt::Env& env, SideWork& side_work, const LiveObjects& latest,
                             const std::vector<api::AdmissionHook>& hooks, const ServiceNetwork& services,
                             WebhookCaller* caller, Converter& converter)
    : state_(std::make_shared<State>(env, side_work, latest, hooks, services, caller, converter)) {}
OffLoopWrites::~OffLoopWrites() = default;

void OffLoopWrites::decide(Request request, RulesInForce laws, Decide decide, Done done) {
  const bool asks = laws.webhooks != nullptr || laws.conversion != nullptr;
  const bool long_write = !asks || is_long(state_->latest, request);
  std::size_t& count = long_write ? state_->writes : state_->asking;
  if (count >= (long_write ? kWritesMax : kAskingMax)) {
    base::Error error =
        base::make_error(base::Code::kTooManyRequests,
                         long_write ? "too many large writes are waiting" : "too many writes wait for webhooks");
    error.retry_after_seconds = 1;
    return done(std::move(error), request);
  }
  ++count;
  rt::Env& env = state_->env;
  state_->turn(std::make_shared<Write>(Write{.request = std::move(request),
                                             .decide = std::move(decide),
                                             .done = std::move(done),
                                             .laws = std::move(laws),
                                             .is_long = long_write,
                                             .deadline = env.now() + kAskingTime,
                                             .seen = {},
                                             .questions = {},
                                             .random = base::Random(env.random().next()),
                                             .now = env.now(),
                                             .turns = 0,
                                             .left = {}}));
}

}  // namespace apiserver
