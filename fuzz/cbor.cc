// CBOR: what was read and written again reads the same, is written the same, and says the same as JSON.
#include "api/json/cbor.h"

#include "targets.h"

namespace fuzz {

using api::Json;

void cbor(std::string_view input) {
  const auto parsed = api::parse_cbor(input);
  if (!parsed.ok())
    return promise(parsed.error().message.starts_with("invalid CBOR: "), "an error says what is wrong",
                   parsed.error().message);
  const std::string bytes = api::to_cbor(*parsed);
  const auto again = api::parse_cbor(bytes);
  promise(again.ok(), "what we wrote can be read", parsed->dump());
  promise(*again == *parsed, "what we wrote reads the same", parsed->dump());
  promise(api::to_cbor(*again) == bytes, "writing is stable", parsed->dump());
  const auto json = api::parse_json(parsed->dump());
  promise(json.ok() && *json == *parsed, "JSON of it reads the same", parsed->dump());
  if (parsed->is_object()) {
    const Json& items = (*parsed)["items"];
    if (items.is_array())
      promise(api::list_to_cbor(*parsed, items.size(), [&](std::size_t i) { return items[i]; }) == bytes,
              "a list is written item by item as it is written whole", parsed->dump());
  }
}

}  // namespace fuzz
