// Which images are here is read again when the store's index has changed.
#include "node/machine/image_hook.h"

#include <sys/stat.h>

#include <mutex>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "node/machine/image_name.h"
#include "node/machine/image_store.h"

namespace node {

using api::Json;

namespace {

// The name without its tag, in normal form: "docker.io/library/nginx:latest" -> "docker.io/library/nginx"
std::string without_tag(const std::string& name) {
  const std::string plain = name.substr(0, name.find('@'));
  const std::size_t colon = plain.rfind(':');
  return colon == std::string::npos || plain.find('/', colon) != std::string::npos ? plain : plain.substr(0, colon);
}

class Names {
 public:
  explicit Names(std::string folder) : folder_(std::move(folder)), store_(folder_) {}

  bool has(const std::string& image) {
    const std::lock_guard lock(mutex_);
    struct stat facts {};
    const bool there = ::stat((folder_ + "/index.json").c_str(), &facts) == 0;
    const std::int64_t stamp = there ? facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec : 0;
    if (stamp != stamp_) {
      stamp_ = stamp;
      names_.clear();
      for (const StoredImage& one : store_.list()) {
        names_.insert(one.name);
        names_.insert(without_tag(one.name) + "@" + one.id);
      }
    }
    return names_.contains(normal_image_name(image));
  }

 private:
  const std::string folder_;
  const ImageStore store_;
  std::mutex mutex_;
  std::int64_t stamp_ = -1;
  std::set<std::string> names_;
};

}  // namespace

std::vector<std::string> image_warnings(const Json& pod, const std::function<bool(const std::string&)>& is_here) {
  std::vector<std::string> warnings;
  for (const char* list : {"initContainers", "containers"}) {
    std::size_t at = 0;
    for (const Json& container : pod["spec"][list].items()) {
      const std::size_t index = at++;
      const std::string image = container["image"].str();
      if (image.empty() || !check_image_name(image).ok() || is_here(image)) continue;
      warnings.push_back(
          base::format("spec.{}[{}].image: \"{}\" is not imported: the host's root file system stands in for it", list,
                       index, image));
    }
  }
  return warnings;
}

api::AdmissionHook image_hook(const Options& options) {
  const auto names = std::make_shared<Names>(options.data_dir + "/images");
  return {.path = "/pods/images",
          .mutating = false,
          .resource = api::resources::kPods,
          .kind = "Pod",
          .operations = {api::Operation::kCreate},
          .review = [names](const api::AdmissionRequest& request, const api::ObjectReader&) {
            api::AdmissionAnswer answer;
            if (request.object["metadata"]["ownerReferences"].empty())
              answer.warnings = image_warnings(request.object, [&](const std::string& one) { return names->has(one); });
            return answer;
          }};
}

}  // namespace node
