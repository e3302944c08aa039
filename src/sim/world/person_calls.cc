// Asking again.
#include "sim/world/person_calls.h"

#include "client/client.h"
#include "sim/world/env.h"

namespace sim {

namespace {

bool is_outage(base::Code code) {
  return code == base::Code::kUnavailable || code == base::Code::kTimeout || code == base::Code::kTooManyRequests ||
         code == base::Code::kInternal;
}

void attempt(Person& person, const std::shared_ptr<client::Request>& request, int count,
             std::function<void(base::Result<api::Json>, int)> done) {
  person.client->call(*request, [&person, request, count,
                                 done = std::move(done)](base::Result<api::Json> result) mutable {
    if (result.ok() || !is_outage(result.error().code)) return done(std::move(result), count);
    const base::Duration pause = base::milliseconds(static_cast<std::int64_t>(100 + person.env->random().below(900)));
    person.env->loop().after(pause, [&person, request, count, done = std::move(done)]() mutable {
      attempt(person, request, count + 1, std::move(done));
    });
  });
}

}  // namespace

void ask_until_answered(Person& person, client::Request request,
                        std::function<void(base::Result<api::Json>, int)> done) {
  attempt(person, std::make_shared<client::Request>(std::move(request)), 1, std::move(done));
}

}  // namespace sim
