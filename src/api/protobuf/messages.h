// Which field of an object does a number stand for? Kubernetes' schemas, arranged by the numbers of protobuf.
#pragma once

#include <cstddef>
#include <vector>

#include "api/json/json.h"
#include "api/schema/schema.h"

namespace api {

struct NumberedMessage;

// Either `row` or `in_place` is set.
struct NumberedField {
  const SchemaField* row = nullptr;
  Json name = {};                             // the row's, made once and shared by all that is read
  const NumberedMessage* message = nullptr;   // of an object, or of the objects in a list or a map; null: others
  const NumberedMessage* in_place = nullptr;  // a message whose fields JSON writes among those around it
};

struct NumberedMessage {
  std::vector<NumberedField> fields;  // by number

  // Null: there is none.
  const NumberedField* find(int number) const {
    if (static_cast<std::size_t>(number) >= fields.size()) return nullptr;
    const NumberedField& field = fields[static_cast<std::size_t>(number)];
    return field.row || field.in_place ? &field : nullptr;
  }
};

// Null where it is none of Kubernetes' own definitions. Made once for all of them, when first asked for; never changes.
const NumberedMessage* numbered_message(const Schema& schema);

}  // namespace api
