// How images are pulled, and what their containers say meanwhile.
#include "node/agent/pods/pod_images.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "node/machine/container_text.h"
#include "node/machine/image_name.h"
#include "node/machine/registry_keys.h"
#include "node/pod/pod_plan.h"
#include "node/pod/pod_specs.h"

namespace node {

using api::Json;

PodImages::PodImages(AgentLoop& loop, const PodTable& pods, PodEvents& events, PodSteps& steps,
                     const PodLookups& lookups, PodReports& reports)
    : loop_(loop), pods_(pods), events_(events), steps_(steps), lookups_(lookups), reports_(reports) {}

void PodImages::pull(PodWorker& worker, std::size_t index) {
  ContainerState& container = worker.state.containers[index];
  const Json& json = container_spec(worker.pod, container);
  const std::string uid(api::uid_of(worker.pod));
  const std::string image = json["image"].str();
  const PullPolicy policy = pull_policy(json);
  container.image_busy = true;
  const bool asks_registry = loop_.runtime()->would_pull(image, policy);
  const std::string registry = registry_of(image);
  if (asks_registry && !slots_.take(registry)) {
    loop_.after(base::milliseconds(200), [this, uid, index] {
      PodWorker* found = pods_.find(uid);
      if (found == nullptr) return;
      found->state.containers[index].image_busy = false;
      steps_.step(uid);
    });
    return;
  }
  if (asks_registry && !loop_.runtime()->image_present(image))
    events_.record(worker.pod, "Normal", "Pulling", base::format("Pulling image \"{}\"", image), container);
  const base::Duration began = loop_.uptime();
  loop_.off_loop<base::Result<ImageAnswer>>(
      [request = ImageRequest{image, policy, keys_for(worker), worker.given_up}](Runtime& machine) {
        return machine.ensure_image(request);
      },
      [this, uid, index, image, began, asks_registry, registry](base::Result<ImageAnswer> answer) {
        if (asks_registry) slots_.give_back(registry);
        PodWorker* found = pods_.find(uid);
        if (found == nullptr) return;
        found->state.containers[index].image_busy = false;
        if (*found->given_up) return steps_.step(uid);
        if (answer.ok())
          came(*found, index, image, *answer, loop_.uptime() - began);
        else
          failed(*found, index, image, answer.error());
        steps_.step(uid);
      });
}

std::string PodImages::keys_for(const PodWorker& worker) {
  std::vector<const Json*> found;
  std::string missing;
  for (const Json& reference : worker.pod["spec"]["imagePullSecrets"].items()) {
    const std::string_view name = reference["name"].as_string();
    if (const Json* secret = lookups_.secret(base::format("{}/{}", api::namespace_of(worker.pod), name)))
      found.push_back(secret);
    else
      missing += base::format("{}{}", missing.empty() ? "" : ", ", name);
  }
  if (!missing.empty())
    events_.record(
        worker.pod, "Warning", "FailedToRetrieveImagePullSecret",
        base::format("Unable to retrieve some image pull secrets ({}); attempting to pull the image may not succeed.",
                     missing));
  return registry_keys(found);
}

void PodImages::came(PodWorker& worker, std::size_t index, const std::string& image, const ImageAnswer& answer,
                     base::Duration waited) {
  ContainerState& of = worker.state.containers[index];
  of.image_ready = true;
  of.image_id = answer.id;
  of.retry_at = {};
  of.retry_back_off = {};
  of.waiting_reason.clear();
  of.waiting_message.clear();
  const std::string took = base::format_go_duration(base::milliseconds(waited.ns / 1'000'000));
  const std::string text =
      answer.pulled
          ? base::format("Successfully pulled image \"{}\" in {} ({} including waiting). Image size: {} bytes.", image,
                         took, took, answer.bytes)
      : !answer.remark.empty() ? answer.remark
                               : base::format("Container image \"{}\" already present on machine", image);
  events_.record(worker.pod, "Normal", "Pulled", text, of);
}

void PodImages::failed(PodWorker& worker, std::size_t index, const std::string& image, const base::Error& error) {
  ContainerState& of = worker.state.containers[index];
  const std::string uid(api::uid_of(worker.pod));
  const std::string why = reason_text(error.message);
  const bool never = error.code == base::Code::kNotFound;
  const bool malformed = error.code == base::Code::kInvalid;
  const bool tried = !never && !malformed;
  if (tried)
    events_.record(worker.pod, "Warning", "Failed", base::format("Failed to pull image \"{}\": {}", image, why), of);
  const char* reason = never ? "ErrImageNeverPull" : malformed ? "InvalidImageName" : "ErrImagePull";
  events_.record(worker.pod, "Warning", "Failed", base::format("Error: {}", reason), of);
  of.waiting_reason = reason;
  of.waiting_message = why;
  of.retry_back_off = next_back_off(of.retry_back_off);
  of.retry_at = loop_.uptime() + of.retry_back_off;
  // A moment later the container says that it waits, as users know it.
  if (tried) loop_.after(base::seconds(2), [this, uid, index, image, why] { back_off(uid, index, image, why); });
}

void PodImages::back_off(const std::string& uid, std::size_t index, const std::string& image, const std::string& why) {
  PodWorker* worker = pods_.find(uid);
  if (worker == nullptr || worker->state.containers[index].waiting_reason != "ErrImagePull") return;
  if (api::is_deleting(worker->pod) || is_over(worker->pod, worker->state)) return;
  ContainerState& container = worker->state.containers[index];
  container.waiting_reason = "ImagePullBackOff";
  container.waiting_message = base::format("Back-off pulling image \"{}\": ErrImagePull: {}", image, why);
  events_.record(worker->pod, "Normal", "BackOff", base::format("Back-off pulling image \"{}\"", image), container);
  events_.record(worker->pod, "Warning", "Failed", "Error: ImagePullBackOff", container);
  reports_.report(*worker);
}

}  // namespace node
