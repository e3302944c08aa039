// Protobuf bodies: what was read can be written, and reads the same from then on.
#include "api/protobuf.h"

#include "targets.h"

namespace fuzz {

void protobuf(std::string_view input) {
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
