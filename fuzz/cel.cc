// Expressions: whatever the text, reading and evaluating it ends, and gives the same value again.
#include "api/cel/expression.h"
#include "targets.h"

namespace fuzz {

void cel(std::string_view input) {
  const auto expression = api::cel::Expression::compile(input, {"device", "self"});
  if (!expression.ok()) return promise(!expression.error().message.empty(), "an error says something");
  const api::Json object = api::Json::object({{"name", "web"},
                                              {"n", 3},
                                              {"list", api::Json::array({1, 2.5, "x", nullptr})},
                                              {"map", api::Json::object({{"a", true}})}});
  const api::cel::Expression::Bindings bindings = {{"device", api::cel::Value::from_json(object)},
                                                   {"self", api::cel::Value::from_json(object)}};
  const api::cel::Value once = expression->evaluate(bindings, 50'000), twice = expression->evaluate(bindings, 50'000);
  promise(once.is_error() == twice.is_error(), "the same expression has the same outcome");
  if (once.is_error())
    return promise(once.error()->message == twice.error()->message, "and the same error", once.error()->message);
  (void)api::cel::to_string(once);
}

}  // namespace fuzz
