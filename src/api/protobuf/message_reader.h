// Reads the wire format along the numbers of messages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/json/projection.h"
#include "api/protobuf/messages.h"
#include "api/protobuf/recent_messages.h"
#include "base/protobuf_wire.h"
#include "base/result.h"

namespace api {

// Builds values. Each function returns false where the bytes are bad, and error() says how. Cost follows the bytes, in
// whatever order and however often fields come.
class MessageReader {
 public:
  // The sender of the bytes, which decides about values that no JSON can hold: bad UTF-8, a time beyond the year 9999,
  // rubbish where JSON should be.
  enum class Of {
    kRequest,  // it is refused
    kAnswer,   // characters are replaced, as Go's JSON does; others are left out: one such object must not hide a list
  };

  // `recent`: where equal parts are looked for, of answers only; null: nowhere.
  MessageReader(Of of, RecentMessages* recent) : of_(of), recent_(recent) {}

  base::Error error();

  // The members of an object.
  struct Members {
    std::vector<Json::Member> list;
    bool has_nulls = false;  // what came again as nothing

    Json take();
  };
  // Adds what is in `bytes`. `only`: what is kept; null: all.
  bool fields(const NumberedMessage& message, std::string_view bytes, const Projection* only, int depth, Members& out);
  bool object(const NumberedMessage& message, std::string_view bytes, const Projection* only, int depth, Json& out);

 private:
  class Places;

  template <class Make>
  bool shared(const RecentMessages::Way& way, std::string_view bytes, Json& out, Make make);
  bool put(const NumberedField& field, int number, Json made, Places& places, Members& out);
  bool entries(const NumberedField& field, std::string_view bytes, const Projection* only, int depth, Json& out);
  bool entry(const NumberedField& field, const base::WireField& from, const Projection* only, int depth,
             std::vector<Json>& items);
  static bool is_chosen(const base::WireField& item, int number, const Projection::Items& wanted);
  bool pair(const Schema& element, const NumberedMessage* message, const base::WireField& from, const Projection* only,
            int depth, std::vector<Json::Member>& members);
  bool value(const Schema& schema, const NumberedMessage* message, const base::WireField& from, const Projection* only,
             int depth, Json& out);
  bool list_in_map(const Schema& schema, const NumberedMessage* message, std::string_view bytes, const Projection* only,
                   int depth, Json& out);
  bool string(const Schema& schema, std::string_view bytes, Json& out);
  bool text(std::string_view bytes, Json& out);
  bool name(std::string_view bytes, Json& out);
  bool time(std::string_view bytes, bool micro, Json& out);
  bool number(double number, Json& out);
  bool int_or_string(std::string_view bytes, Json& out);
  bool any(std::string_view bytes, Json& out);
  bool first_field(std::string_view bytes, base::WireField& out);
  bool has_type(const base::WireField& field, base::WireType type);
  bool refuse(std::string why);

  Of of_;
  RecentMessages* recent_;
  std::optional<base::Error> error_;
};

}  // namespace api
