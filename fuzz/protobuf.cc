// Protobuf bodies: what was read can be written, and reads the same from then on. Answers and events of watches, which
// clients read by parts and find again by their bytes, are what they are when they are read whole.
#include "api/protobuf/protobuf.h"

#include "targets.h"

namespace fuzz {
namespace {

const api::Projection& everything() {
  static const api::Projection kAll{"*", "metadata.*", "spec.*", "spec.containers.*"};
  return kAll;
}

void answers(std::string_view input) {
  const auto whole = api::parse_protobuf_answer(input, nullptr);
  for (int round = 0; round < 2; ++round) {  // built, and found again
    const auto parts = api::parse_protobuf_answer(input, &everything());
    promise(whole.ok() == parts.ok(), "an answer is readable, or not, however it is read");
    if (whole.ok()) promise(*whole == *parts, "an answer's parts are those of the whole", parts->dump());
  }
  const auto event = api::parse_protobuf_event(input, &everything());
  if (!event.ok()) promise(!event.error().message.empty(), "an error says what is wrong");
}

}  // namespace

void protobuf(std::string_view input) {
  answers(input);
  const auto parsed = api::parse_protobuf(input);
  if (!parsed.ok()) return promise(!parsed.error().message.empty(), "an error says what is wrong");
  const std::string bytes = api::to_protobuf(*parsed);
  if (bytes.empty()) return;  // of a kind that is only read
  const auto again = api::parse_protobuf(bytes);
  promise(again.ok(), "what we wrote can be read", parsed->dump());
  const auto twice = api::parse_protobuf(api::to_protobuf(*again));
  promise(twice.ok() && *twice == *again, "what we wrote reads the same", again->dump());
}

}  // namespace fuzz
