// A refusal that rests on a view asks the server before it is given: a view may be a moment behind.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/admission.h"
#include "client/client.h"
#include "rt/loop/loop.h"

namespace admission {

// The objects that rules look at: a view, but the server's own answers where it was asked. Notes what was taken from
// the view.
class Confirming final : public api::ObjectReader {
 public:
  explicit Confirming(const api::ObjectReader& view) : view_(view) {}

  std::optional<api::Json> find(const api::ResourceId& id, std::string_view ns, std::string_view name) const override;
  std::vector<api::Json> list_by(const api::TextField& field, std::string_view value, bool as_prefix) const override;

  // Something was taken from the view since the last fetch().
  bool has_doubts() const { return !doubtful_objects_.empty() || !doubtful_kinds_.empty(); }
  // Asks the server for that: one read per object, or one per kind where several were looked for. False: it did not
  // answer. The reader must live until `done`.
  void fetch(client::Client& client, std::function<void(bool)> done);

 private:
  using ObjectKey = std::pair<api::ResourceId, std::string>;  // with "ns/name"

  const api::ObjectReader& view_;
  std::map<ObjectKey, std::optional<api::Json>> objects_;  // as the server has them
  std::set<api::ResourceId> kinds_;                        // of which objects_ has all
  mutable std::set<ObjectKey> doubtful_objects_;
  mutable std::set<api::ResourceId> doubtful_kinds_;
};

// Reviews by the view, and once more by what the server says if the answer is a refusal that looked at the view. A
// refusal stands if the server does not answer within three seconds. `done` comes on the client's loop, which `loop`
// is; `view` must live until then.
using Review = std::function<api::AdmissionAnswer(const api::ObjectReader&)>;
void review_confirmed(client::Client& client, rt::Loop& loop, const api::ObjectReader& view, Review review,
                      std::function<void(api::AdmissionAnswer)> done);

}  // namespace admission
