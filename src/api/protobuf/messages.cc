// The numbers of all messages, from the tables of Kubernetes' kinds.
#include "api/protobuf/messages.h"

#include <map>
#include <memory>
#include <unordered_map>

namespace api {
namespace {

class Messages {
 public:
  Messages() {
    for (const Schema* schema : all_core_schemas()) message_of(*schema);
  }

  const NumberedMessage* of(const Schema& schema) const {
    const auto found = messages_.find(&schema);
    return found == messages_.end() ? nullptr : found->second.get();
  }

 private:
  // The message of a list's or a map's elements.
  const NumberedMessage* message_of(const Schema& schema) {
    if (schema.element) return message_of(*schema.element);
    if (schema.kind != Schema::Kind::kObject) return nullptr;
    const auto [found, is_new] = messages_.try_emplace(&schema);
    if (!is_new) return found->second.get();
    found->second = std::make_unique<NumberedMessage>();
    NumberedMessage& made = *found->second;
    for (const SchemaField& row : schema.fields) {
      if (row.number == 0) continue;
      NumberedMessage* target = &made;
      for (const int outer : row.outer_numbers)
        if (outer != 0) target = &in_place(*target, outer);
      const NumberedMessage* message = message_of(*row.schema);
      field(*target, row.number) = {&row, Json(row.name), message};
    }
    return &made;
  }

  NumberedMessage& in_place(NumberedMessage& message, int number) {
    NumberedMessage*& inner = inner_[{&message, number}];
    if (!inner) {
      inner = made_.emplace_back(std::make_unique<NumberedMessage>()).get();
      field(message, number).in_place = inner;
    }
    return *inner;
  }

  static NumberedField& field(NumberedMessage& message, int number) {
    const auto at = static_cast<std::size_t>(number);
    if (message.fields.size() <= at) message.fields.resize(at + 1);
    return message.fields[at];
  }

  std::unordered_map<const Schema*, std::unique_ptr<NumberedMessage>> messages_;
  std::map<std::pair<const NumberedMessage*, int>, NumberedMessage*> inner_;  // those that JSON writes in place
  std::vector<std::unique_ptr<NumberedMessage>> made_;
};

}  // namespace

const NumberedMessage* numbered_message(const Schema& schema) {
  static const Messages messages;
  return messages.of(schema);
}

}  // namespace api
