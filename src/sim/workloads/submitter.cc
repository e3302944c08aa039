// A creation whose answer was lost is made again, and finds its own object then.
#include "sim/workloads/submitter.h"

#include "base/format.h"

namespace sim {

void Submitter::start() {
  person_ = world_.make_person(person_name_);
  prepare();
  arm();
}

void Submitter::arm() {
  after(interval_, [this] {
    if (stopped_ || is_enough()) return;
    submit();
    arm();
  });
}

void Submitter::ask(client::Request request, const rt::Task& then) {
  ++open_;
  const bool makes = request.verb == client::Verb::kCreate;
  ask_until_answered(*person_, std::move(request), [this, makes, then](base::Result<api::Json> result, int attempts) {
    --open_;
    if (then) then();
    if (!makes || result.ok() || (attempts > 1 && result.error().code == base::Code::kAlreadyExists)) return;
    world_.chronicle().violation(name_, base::format("a good object was refused: {}", result.error().message));
  });
}

}  // namespace sim
