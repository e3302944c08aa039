// A client for a role that may update but not patch, or list but not get.
#include "client/without_patch.h"

#include <map>
#include <utility>

#include "api/kinds.h"
#include "api/schema/patch.h"
#include "base/format.h"
#include "base/log.h"
#include "client/list_items.h"

namespace client {
namespace {

using api::Json;
using base::Result;

constexpr int kTriesMax = 5;

base::Error conflict(const Request& request, std::string_view why) {
  return base::make_error(base::Code::kConflict, base::format("Operation cannot be fulfilled on {} \"{}\": {}",
                                                              request.resource.plural, request.name, why));
}

// The object as the patch leaves it, to be written over the version that was read.
Result<Json> patched(const Request& request, const Json& object) {
  Result<Json> out = request.body;
  if (request.patch_type == PatchType::kMerge) {
    out = api::apply_merge_patch(object, request.body);
  } else if (request.patch_type == PatchType::kJson) {
    out = api::apply_json_patch(object, request.body);
  } else {
    const api::KindInfo* kind = api::find_kind(request.resource);
    if (kind == nullptr || kind->schema == nullptr)
      return base::make_error(base::Code::kForbidden, base::format("{} may not be patched", request.resource.plural));
    out = api::apply_strategic_patch(*kind->schema, object, request.body);
  }
  if (!out.ok()) return out;
  // A patch that names a uid or a version is meant for that object alone.
  if (api::uid_of(*out) != api::uid_of(object)) return conflict(request, "it is another object now");
  if (api::resource_version_of(*out) != api::resource_version_of(object)) return conflict(request, "it has changed");
  return out;
}

class WithoutPatch final : public Client {
 public:
  explicit WithoutPatch(std::unique_ptr<Client> inner) : state_(std::make_shared<State>(std::move(inner))) {}

  void call(Request request, OnResult on_result) override {
    if (request.verb == Verb::kGet) return state_->get(std::move(request), std::move(on_result));
    if (request.verb == Verb::kPatch && request.patch_type != PatchType::kApply)
      return state_->patch(std::move(request), std::move(on_result));
    state_->inner->call(std::move(request), std::move(on_result));
  }
  std::unique_ptr<Watch> watch(WatchRequest request, OnEvent on_event, OnEnd on_end) override {
    return state_->inner->watch(std::move(request), std::move(on_event), std::move(on_end));
  }

 private:
  struct State : std::enable_shared_from_this<State> {
    explicit State(std::unique_ptr<Client> client) : inner(std::move(client)) {}

    // Asks as it is unless that is known to be forbidden; `otherwise(state, on_result)` does it in the other way. Only
    // where that is allowed is the refusal remembered: it may have been a passing one, or meant this object.
    template <class Otherwise>
    void ask(Request request, OnResult on_result, Otherwise otherwise) {
      const std::string kind_of_request =
          base::format("{} {}.{}/{}", static_cast<int>(request.verb), request.resource.plural, request.resource.group,
                       request.subresource);
      const auto judge = [weak = weak_from_this(), kind_of_request, on_result](base::Error refusal) -> OnResult {
        return [weak, kind_of_request, on_result, refusal = std::move(refusal)](Result<Json> answer) {
          auto self = weak.lock();
          if (!self) return;
          if (!answer.ok() && answer.error().code == base::Code::kForbidden) {
            self->forbidden.erase(kind_of_request);
            return on_result(refusal);
          }
          const bool allowed = answer.ok() || answer.error().code == base::Code::kNotFound;
          if (allowed && self->forbidden.try_emplace(kind_of_request, refusal.message).second)
            base::log_info("client", base::format("done in another way from now on: {}", refusal.message));
          on_result(std::move(answer));
        };
      };
      if (const auto known = forbidden.find(kind_of_request); known != forbidden.end())
        return otherwise(*this, judge(base::make_error(base::Code::kForbidden, known->second)));
      inner->call(std::move(request), [weak = weak_from_this(), judge, on_result = std::move(on_result),
                                       otherwise = std::move(otherwise)](Result<Json> answer) {
        auto self = weak.lock();
        if (!self) return;
        if (answer.ok() || answer.error().code != base::Code::kForbidden) return on_result(std::move(answer));
        otherwise(*self, judge(answer.take_error()));
      });
    }

    void get(Request request, OnResult on_result) {
      Request copy = request;
      ask(std::move(copy), std::move(on_result),
          [request](State& self, OnResult done) { self.find_in_list(request, std::move(done)); });
    }

    void find_in_list(const Request& request, OnResult on_result) {
      Request list{.verb = Verb::kList, .resource = request.resource, .ns = request.ns};
      list.field_selector = "metadata.name=" + request.name;
      inner->call(
          std::move(list), [weak = weak_from_this(), request, on_result = std::move(on_result)](Result<Json> page) {
            if (weak.expired()) return;
            if (!page.ok()) return on_result(std::move(page));
            for (Json& item : items_of(*std::move(page), request.resource))
              if (api::name_of(item) == request.name) return on_result(std::move(item));
            on_result(base::make_error(base::Code::kNotFound,
                                       base::format("{} \"{}\" not found", request.resource.plural, request.name)));
          });
    }

    void patch(Request request, OnResult on_result) {
      Request copy = request;
      ask(std::move(copy), std::move(on_result),
          [request](State& self, OnResult done) { self.update(request, std::move(done), kTriesMax); });
    }

    void update(Request request, OnResult on_result, int tries) {
      get({.verb = Verb::kGet, .resource = request.resource, .ns = request.ns, .name = request.name},
          [weak = weak_from_this(), request, on_result, tries](Result<Json> object) {
            auto self = weak.lock();
            if (!self) return;
            if (!object.ok()) return on_result(std::move(object));
            Result<Json> wanted = patched(request, *object);
            if (!wanted.ok() || *wanted == *object) return on_result(std::move(wanted));
            Request write = request;
            write.verb = Verb::kUpdate;
            write.body = *std::move(wanted);
            self->inner->call(std::move(write), [weak, request, on_result, tries](Result<Json> written) {
              auto again = weak.lock();
              if (!again) return;
              const bool changed = !written.ok() && written.error().code == base::Code::kConflict;
              if (changed && tries > 1) return again->update(request, on_result, tries - 1);
              // To the caller a conflict would say that the object is another one now.
              if (changed) return on_result(base::make_error(base::Code::kUnavailable, written.error().message));
              on_result(std::move(written));
            });
          });
    }

    std::unique_ptr<Client> inner;
    std::map<std::string, std::string> forbidden;  // why, by verb, resource and subresource
  };

  std::shared_ptr<State> state_;
};

}  // namespace

std::unique_ptr<Client> make_client_without_patch(std::unique_ptr<Client> inner) {
  return std::make_unique<WithoutPatch>(std::move(inner));
}

}  // namespace client
