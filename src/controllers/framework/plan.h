// The writes that a controller wants done: a value that can be compared, printed and thrown away.
//
// A plan is a list of stages. Actions of one stage may run at the same time; a stage begins when the one before it
// succeeded whole, and a failed stage stops the later ones, but for actions that have a fate of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/result.h"
#include "base/time.h"
#include "client/client.h"

namespace controllers {

// Kept out of plans, because it is a secret and takes long to make.
enum class Addition : std::uint8_t {
  kNone,
  kSshKeyPair,   // a new RSA pair into the `data` of a Secret: id_rsa, id_rsa.pub, authorized_keys
  kSshAuthPair,  // a new pair on the curve P-521, as a Secret of type kubernetes.io/ssh-auth has it: ssh-privatekey,
                 // ssh-publickey
};

// A field of the `data` of a ConfigMap or Secret, as it is on the wire (base64 in a Secret).
struct DataField {
  std::string key;
  std::string value;
};

// A question to an address outside the API. The answer changes no plan; the controller hears of it.
struct Probe {
  std::string host;  // a name or an address
  std::uint16_t port = 0;
  std::string path = {};                         // of a GET; empty: a connection is enough
  std::pair<std::string, std::string> header{};  // of the GET; no name: none
  base::Duration timeout = base::seconds(2);
  bool tls = false;
  bool insecure_skip_verify = false;  // of the server's certificate
  std::size_t answer_bytes_max = 64 << 10;
};

// The answer to a probe.
struct Answer {
  int status = 0;          // of a GET
  std::string body = {};   // of a GET
  std::string error = {};  // why there is no answer; empty: there is one

  bool is_success() const { return error.empty() && (status == 0 || (status >= 200 && status < 400)); }
};

// Data only: two equal actions do the same.
struct Action {
  enum class Verb : std::uint8_t {
    kCreate,
    kUpdate,
    kPatch,
    kDelete,
    kStatus,
    kApplyStatus,
    kEvent,
    kRequireGone,
    kRemoveTree,
    kDeleteAll,
    kFetch,
    kProbe
  };

  Verb verb = Verb::kCreate;
  api::ResourceId resource = {};
  std::string kind = {};  // of the object, for people
  std::string ns = {};
  std::string name = {};
  std::string subresource = {};  // of an update: "finalize"; of a patch or fetch: "scale"
  // The object, the patch, the DeleteOptions; of an event: the object it is about; of a delete whose object no view
  // holds, a text: the uid of the controller that it must have (the server is asked first; another's counts as
  // missing).
  api::Json body = {};
  client::PatchType patch_type = client::PatchType::kMerge;
  // The part that the driver makes, off the loop, and adds to the body before it is sent.
  Addition addition = Addition::kNone;
  // Answers that count as success: NotFound of a delete or patch, AlreadyExists of a create.
  bool missing_is_fine = false;
  bool existing_is_fine = false;
  // Its failure fails the plan, but only after everything else was done.
  bool stops_nothing = false;
  // A refusal of one action refuses all of its fate: they are not begun any more, in later stages neither. Actions of
  // other fates go on; what has no fate waits for all, and its failure, or an outage, stops all.
  std::string fate = {};
  // For a create whose name is taken: an object whose `data` does not have this field gets the data of the new body;
  // one with another controller is a failure.
  std::optional<DataField> existing_has = {};
  std::string field_manager = {};
  // As whom it is done: "NAMESPACE:NAME" of a service account (client::Request). Empty: the controller itself.
  std::string account = {};
  client::Urgency urgency = client::Urgency::kFirst;  // statuses: kPhase unless the controller says otherwise
  std::string event_type = {};
  std::string event_reason = {};
  std::string event_message = {};
  Probe probe = {};
  // For a write: the events about the plan's object when it has succeeded, or failed for another reason than an old
  // view ("{}" is the error). No reason: none.
  std::string success_reason = {};
  std::string success_text = {};
  // Successes of one stage with equal reason and text have one event, in which "{}" is the list of these names.
  std::string success_name = {};
  std::string failure_reason = {};
  std::string failure_text = {};
};

// The error of one action.
struct Failure {
  std::string kind;
  std::string name;
  base::Error error;
};

// An action that the server refused, with what says which of a plan's actions it was.
struct RefusedAction {
  Action::Verb verb = Action::Verb::kCreate;
  std::string kind;
  std::string name;
  std::string fate;
  base::Error error;
};

struct Stage {
  std::vector<Action> actions = {};
  // The event about the plan's object when an action fails: `text` with "{}" replaced by the errors.
  std::string failure_reason = {};
  std::string failure_text = {};
};

class Plan {
 public:
  // The object that failures are reported about, as events; null: nobody.
  void set_subject(api::Json object) { subject_ = std::move(object); }
  const api::Json& subject() const { return subject_; }

  // Actions added from here on wait for those before.
  void begin_stage() { stages_.emplace_back(); }
  void begin_stage(std::string failure_reason, std::string failure_text);

  // Each returns the action for further settings.
  Action& create(const api::ResourceId& resource, api::Json object);
  Action& update(const api::ResourceId& resource, api::Json object);
  Action& patch(const api::ResourceId& resource, const api::Json& object, client::PatchType type, api::Json patch);
  // Deletes this very object (by uid); one that is gone already is fine.
  Action& remove(const api::ResourceId& resource, const api::Json& object);
  Action& remove_by_name(const api::ResourceId& resource, std::string_view kind, std::string_view ns,
                         std::string_view name);
  // Every object of a resource in one namespace.
  Action& remove_all(const api::ResourceId& resource, std::string_view kind, std::string_view ns);
  Action& set_status(const api::ResourceId& resource, api::Json object);
  Action& apply_status(const api::ResourceId& resource, const api::Json& object, api::Json status,
                       std::string field_manager);
  // Asks the server, not the view: later stages run only if no object of this name has this uid, or, with an empty uid,
  // if there is none of this name.
  Action& require_gone(const api::ResourceId& resource, std::string_view kind, std::string_view ns,
                       std::string_view name, std::string_view uid);
  // Removes a folder of this machine with all that is in it, off the loop.
  Action& remove_tree(std::string path);
  // Reads an object that no view holds; the controller gets it when the plan has ended.
  Action& fetch(const api::ResourceId& resource, std::string_view kind, std::string_view ns, std::string_view name);
  // Asks an address; the controller gets the answer when the plan has ended.
  Action& ask(Probe probe);
  void event(const api::Json& object, std::string_view type, std::string_view reason, std::string message);

  // Look again after this long, whatever happens.
  void requeue_after(base::Duration delay);
  // The decision cannot be made (a thing it needs is broken); counts as a failed plan once its stages have run.
  void fail(base::Error error) { failure_ = std::move(error); }

  const std::vector<Stage>& stages() const { return stages_; }
  std::optional<base::Duration> look_again() const { return look_again_; }
  const std::optional<base::Error>& failure() const { return failure_; }
  // One line per action, "--" between stages; for tests and debug logs.
  std::string text() const;

 private:
  Action& add(Action::Verb verb, const api::ResourceId& resource, const api::Json& object);

  api::Json subject_;
  std::vector<Stage> stages_ = std::vector<Stage>(1);
  std::optional<base::Duration> look_again_;
  std::optional<base::Error> failure_;
};

// True if a plan writes a status, of whatever object.
bool writes_status(const Plan& plan);
// True if nothing but events, questions and a later look would happen.
bool writes_nothing(const Plan& plan);

}  // namespace controllers
