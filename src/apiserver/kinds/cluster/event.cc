// Events, whose names are words of paths.
#include <algorithm>
#include <vector>

#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"
#include "base/letters.h"

namespace apiserver {

using api::Json;

namespace {

std::vector<Json> event_cells(const Json& event, base::Time now) {
  const Json& last = !event["lastTimestamp"].is_null() ? event["lastTimestamp"]
                     : !event["eventTime"].is_null()   ? event["eventTime"]
                                                       : event["metadata"]["creationTimestamp"];
  const Json& first = !event["firstTimestamp"].is_null() ? event["firstTimestamp"] : last;
  const Json& object = event["involvedObject"];
  const std::string kind = base::lower(object["kind"].str());
  const std::int64_t count = std::max<std::int64_t>(event["count"].as_int(), 1);
  const std::string seen = time_since(last, now).str();
  std::string message = event["message"].str();
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return {Json(count > 1 ? base::format("{} (x{} over {})", seen, count, time_since(first, now).str()) : seen),
          event["type"],
          event["reason"],
          Json(kind + "/" + object["name"].str()),
          object["fieldPath"].is_null() ? Json("") : object["fieldPath"],
          Json(event["source"]["component"].as_string().empty() ? event["reportingComponent"].str()
                                                                : event["source"]["component"].str()),
          Json(message),
          time_since(first, now),
          Json(count),
          event["metadata"]["name"]};
}
constexpr api::Column kColumnsOfEvent[] = {{"Last Seen", ""},
                                           {"Type", ""},
                                           {"Reason", ""},
                                           {"Object", ""},
                                           {"Subobject", "", "string", 1},
                                           {"Source", "", "string", 1},
                                           {"Message", ""},
                                           {"First Seen", "", "string", 1},
                                           {"Count", "", "string", 1},
                                           {"Name", "", "string", 1}};
constexpr std::string_view kSelectableOfEvent[] = {"involvedObject.kind",
                                                   "involvedObject.namespace",
                                                   "involvedObject.name",
                                                   "involvedObject.uid",
                                                   "involvedObject.apiVersion",
                                                   "involvedObject.resourceVersion",
                                                   "involvedObject.fieldPath",
                                                   "reason",
                                                   "reportingComponent",
                                                   "source",
                                                   "type"};

}  // namespace

const KindRules kEvent = {.kind = "Event",
                          .naming = Naming::kPath,
                          .table = {kColumnsOfEvent, event_cells},
                          .selectable = kSelectableOfEvent};

}  // namespace apiserver
