// Rows are compared by the sorted field, then by their ids: a page begins behind the last row of the one before it,
// whatever has come or gone since.
#include "pipelines/rest/listing.h"

#include <algorithm>
#include <compare>
#include <optional>

#include "base/base64.h"
#include "base/format.h"
#include "base/number.h"
#include "base/split.h"
#include "base/time.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::int64_t kPageDefault = 20, kPageMax = 200;
constexpr std::size_t kPredicatesMax = 100, kFilterBytesMax = 64 << 10;

enum class Operation : std::uint8_t { kEquals, kNotEquals, kGreater, kGreaterEquals, kLess, kLessEquals, kIn, kPart };

struct OperationRow {
  std::string_view name;
  std::int64_t number;
  Operation operation;
};

constexpr OperationRow kOperations[] = {{"EQUALS", 1, Operation::kEquals},
                                        {"NOT_EQUALS", 2, Operation::kNotEquals},
                                        {"GREATER_THAN", 3, Operation::kGreater},
                                        {"GREATER_THAN_EQUALS", 5, Operation::kGreaterEquals},
                                        {"LESS_THAN", 6, Operation::kLess},
                                        {"LESS_THAN_EQUALS", 7, Operation::kLessEquals},
                                        {"IN", 8, Operation::kIn},
                                        {"IS_SUBSTRING", 9, Operation::kPart}};

struct Predicate {
  Operation operation = Operation::kEquals;
  std::string key;
  std::vector<Json> values;
  bool is_time = false;
};

struct Order {
  std::string field = "created_at";
  bool descends = false;
};

bool is_field(const ListedAs& as, std::string_view name) {
  return name == as.id || std::ranges::find(as.fields, name) != as.fields.end();
}

base::Error unknown_field(const ListedAs& as, std::string_view where, std::string_view name) {
  std::string known(as.id);
  for (const std::string_view one : as.fields) known += ", " + std::string(one);
  return make_error(Code::kInvalid, base::format("{}: {:?} is not a field of {}: {}", where, name, as.rows, known));
}

std::strong_ordering compare_text(std::string_view a, std::string_view b) { return a <=> b; }

// Numbers by size, times by when they are, everything else as text. Numbers of 64 bits come as text.
std::strong_ordering compare(const Json& a, const Json& b, bool is_time) {
  if (is_time) {
    const auto left = base::parse_rfc3339(a.as_string()), right = base::parse_rfc3339(b.as_string());
    if (left && right) return left->ns <=> right->ns;
  }
  if (a.is_number() || b.is_number()) {
    const auto number = [](const Json& of) {
      return of.is_number() ? of.as_int() : base::parse_number<std::int64_t>(of.as_string()).value_or(0);
    };
    return number(a) <=> number(b);
  }
  if (a.is_bool() || b.is_bool()) return a.as_bool() <=> b.as_bool();
  return compare_text(a.as_string(), b.as_string());
}

base::Result<Operation> operation_of(const Json& given) {
  for (const OperationRow& row : kOperations)
    if ((given.is_int() && given.as_int() == row.number) || given.as_string() == row.name) return row.operation;
  return make_error(Code::kInvalid, "filter: the operation " + given.dump().substr(0, 60) + " is not known");
}

base::Result<Predicate> predicate_of(const Json& given, const ListedAs& as) {
  Predicate predicate{.key = given["key"].str()};
  const Json& operation = given.has("operation") ? given["operation"] : given["op"];
  TRY(predicate.operation, operation_of(operation));
  // A key may say whose field it is, as in "runs.name"; names were so called once.
  if (const std::size_t dot = predicate.key.rfind('.'); dot != std::string::npos) predicate.key.erase(0, dot + 1);
  if (predicate.key == "id") predicate.key = as.id;
  if (predicate.key == "name" && !is_field(as, "name")) predicate.key = "display_name";
  if (!is_field(as, predicate.key)) return unknown_field(as, "filter", predicate.key);
  for (const std::string_view name : {"string_value", "int_value", "long_value", "timestamp_value"})
    if (const Json& value = member(given, name); !value.is_null()) predicate.values.push_back(value);
  for (const std::string_view name : {"string_values", "int_values", "long_values"})
    if (const Json& list = member(given, name); list.is_object())
      for (const Json& value : list["values"].items()) predicate.values.push_back(value);
  predicate.is_time = !member(given, "timestamp_value").is_null();
  if (predicate.values.empty() && predicate.operation != Operation::kIn)
    return make_error(Code::kInvalid, base::format("filter: the predicate of {} has no value", predicate.key));
  return predicate;
}

base::Result<std::vector<Predicate>> predicates_of(const std::string& filter, const ListedAs& as) {
  std::vector<Predicate> predicates;
  if (filter.empty()) return predicates;
  if (filter.size() > kFilterBytesMax) return make_error(Code::kInvalid, "filter: the text is too long");
  auto parsed = api::parse_json(filter);
  // Some clients encode it for a URL themselves.
  if (!parsed.ok()) parsed = api::parse_json(rt::parse_target("/" + filter).path.substr(1));
  if (!parsed.ok()) return make_error(Code::kInvalid, "filter: the text is not JSON: " + parsed.error().message);
  if ((*parsed)["predicates"].size() > kPredicatesMax)
    return make_error(Code::kInvalid, base::format("filter: more than {} predicates", kPredicatesMax));
  for (const Json& one : (*parsed)["predicates"].items()) {
    TRY(Predicate predicate, predicate_of(one, as));
    predicates.push_back(std::move(predicate));
  }
  return predicates;
}

bool holds(const Predicate& predicate, const Json& row) {
  const Json& value = row[predicate.key];
  const auto equals = [&](const Json& other) { return compare(value, other, predicate.is_time) == 0; };
  if (predicate.operation == Operation::kIn) return std::ranges::any_of(predicate.values, equals);
  const auto order = compare(value, predicate.values[0], predicate.is_time);
  switch (predicate.operation) {
    case Operation::kEquals: return order == 0;
    case Operation::kNotEquals: return order != 0;
    case Operation::kGreater: return order > 0;
    case Operation::kGreaterEquals: return order >= 0;
    case Operation::kLess: return order < 0;
    case Operation::kLessEquals: return order <= 0;
    case Operation::kPart: return value.as_string().find(predicate.values[0].as_string()) != std::string_view::npos;
    case Operation::kIn: break;
  }
  return false;
}

base::Result<Order> order_of(const std::string& sort_by, const ListedAs& as) {
  Order order;
  const auto words = base::split_words(sort_by, ' ');
  if (words.empty()) return order;
  order.field = words[0];
  if (order.field == "id") order.field = as.id;
  if (order.field == "name" && !is_field(as, "name")) order.field = "display_name";
  if (!is_field(as, order.field)) return unknown_field(as, "sort_by", order.field);
  if (words.size() > 2 || (words.size() == 2 && words[1] != "asc" && words[1] != "desc"))
    return make_error(Code::kInvalid, base::format("sort_by: {:?} is not a field, then asc or desc", sort_by));
  order.descends = words.size() == 2 && words[1] == "desc";
  return order;
}

// The begin of a page.
struct Place {
  std::string sort_by, filter;
  Json value;  // of the last row before it
  std::string id;

  std::string token() const {
    const Json whole = Json::object({{"sort_by", sort_by}, {"filter", filter}, {"value", value}, {"id", id}});
    return base::base64url_encode(whole.dump());
  }
};

base::Result<std::optional<Place>> place_of(const std::string& token) {
  if (token.empty()) return std::optional<Place>();
  const base::Error broken = make_error(Code::kInvalid, "page_token: the text is not a token that was given out");
  const auto text = base::base64url_decode(token);
  if (!text.ok()) return broken;
  const auto whole = api::parse_json(*text);
  if (!whole.ok() || !whole->is_object() || !(*whole)["id"].is_string()) return broken;
  return std::optional(
      Place{(*whole)["sort_by"].str(), (*whole)["filter"].str(), (*whole)["value"], (*whole)["id"].str()});
}

base::Result<std::size_t> page_size_of(const std::string& given) {
  if (given.empty()) return static_cast<std::size_t>(kPageDefault);
  const auto size = base::parse_number<std::int64_t>(given);
  if (!size || *size < 0) return make_error(Code::kInvalid, base::format("page_size: {:?} is not a size", given));
  return static_cast<std::size_t>(*size == 0 ? kPageDefault : std::min(*size, kPageMax));
}

}  // namespace

base::Result<Reply> listed(const Call& call, const ListedAs& as, std::vector<Json> rows) {
  TRY(const std::size_t size, page_size_of(call.query("page_size")));
  TRY(std::optional<Place> from, place_of(call.query("page_token")));
  Place next;
  next.sort_by = from ? from->sort_by : call.query("sort_by");
  next.filter = from ? from->filter : call.query("filter");
  TRY(const Order order, order_of(next.sort_by, as));
  TRY(const std::vector<Predicate> predicates, predicates_of(next.filter, as));
  std::erase_if(rows, [&predicates](const Json& row) {
    return !std::ranges::all_of(predicates, [&row](const Predicate& one) { return holds(one, row); });
  });
  const auto before = [&order](const Json& a, std::string_view a_id, const Json& b, std::string_view b_id) {
    auto found = compare(a, b, order.field.ends_with("_at"));
    if (found == 0) found = compare_text(a_id, b_id);
    return order.descends ? found > 0 : found < 0;
  };
  const auto id_of = [&as](const Json& row) { return row[as.id].as_string(); };
  std::ranges::sort(
      rows, [&](const Json& a, const Json& b) { return before(a[order.field], id_of(a), b[order.field], id_of(b)); });
  const std::size_t total = rows.size();
  if (from)
    std::erase_if(rows, [&](const Json& row) { return !before(from->value, from->id, row[order.field], id_of(row)); });
  Reply reply;
  if (rows.size() > size) {
    rows.resize(size);
    next.value = rows.back()[order.field];
    next.id = id_of(rows.back());
    reply.body.set("next_page_token", next.token());
  }
  reply.body.set("total_size", static_cast<std::int64_t>(total));
  reply.body.set(as.rows, Json::array(std::move(rows)));
  return reply;
}

base::Result<Reply> listed_objects(const Call& call, Facts& facts, const ListedAs& as, const ListedObjects& of) {
  if (!facts.page()) {
    std::vector<Json> rows;
    for (const Json& one : of.objects) rows.push_back(of.shape(one));
    TRY(Reply chosen, listed(call, as, std::move(rows)));
    facts.page() = std::move(chosen.body);
  }
  Reply reply{*facts.page()};
  Json page = Json::array();
  for (const Json& row : reply.body[as.rows].items()) {
    const std::string id = row[as.id].str();
    auto object = object_of(facts, of.other ? of.other(id) : of.noun, id);
    if (object.ok()) page.push_back(of.shape(*object));
    // It may have gone since.
    if (!object.ok() && (facts.next() || object.error().code != Code::kNotFound)) return object.take_error();
  }
  reply.body.set(as.rows, std::move(page));
  return reply;
}

}  // namespace pipelines::rest
