// How images come in and where they lie: images/index.json names them, images/ID/{rootfs,config.json} hold them.
#include "node/machine/image_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/format.h"
#include "node/machine/container_text.h"
#include "node/os/command.h"
#include "node/os/images/image_tree.h"
#include "node/os/pod_folders.h"
#include "rt/files/files.h"
#include "rt/files/rooted_files.h"

extern char** environ;

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr base::Duration kLong = base::minutes(15);
// A registry that fetches an image from another one first says nothing for a while.
constexpr base::Duration kSilenceMax = base::minutes(5);
// Less than that in this time is none that could end.
constexpr std::int64_t kBytesMin = 4 << 20;
constexpr base::Duration kDownloadMax = base::hours(1);
constexpr std::size_t kJsonMax = 4 << 20;
constexpr int kListingKib = 256 << 10;  // memory of the program that lists an archive
constexpr std::size_t kListingMax = 256 << 20;
constexpr std::size_t kManifestsMax = 100;

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with("TMPDIR=")) out.emplace_back(*entry);
  return out;
}

base::Duration uptime() {
  return {std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
              .count()};
}

// A folder that is gone when the work ends, whichever way.
struct WorkFolder {
  std::string path;
  explicit WorkFolder(const std::string& store) : path(base::format("{}/work-{}", store, ::getpid())) {
    static int counter = 0;
    path += base::format("-{}", __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED));
  }
  ~WorkFolder() { remove_tree(path); }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
};

std::string folder_of_id(const std::string& id) {
  const std::size_t colon = id.find(':');
  return colon == std::string::npos ? id : id.substr(colon + 1);
}

base::Result<Json> read_json(const rt::RootedPath& file) {
  TRY(const std::string text, rt::read_rooted_file(file, kJsonMax));
  auto json = api::parse_json(text);
  if (!json.ok())
    return make_error(Code::kInvalid, base::format("the archive's {}: {}", file.path, json.error().message));
  return json;
}

base::Result<Json> read_blob(const std::string& layout, std::string_view digest) {
  if (!is_digest(digest)) return make_error(Code::kInvalid, base::format("digest {:?} is malformed", digest));
  const std::size_t colon = digest.find(':');
  return read_json({layout, base::format("blobs/{}/{}", digest.substr(0, colon), digest.substr(colon + 1))});
}

// The last line of what skopeo says is the reason; umoci puts it behind a mark.
std::string reason_of(const base::Error& error) {
  constexpr std::string_view kMark = "\u2a2f ";
  std::string text = error.message;
  if (const std::size_t mark = text.find(kMark); mark != std::string::npos) return text.substr(mark + kMark.size());
  if (const std::size_t fatal = text.find("level=fatal msg="); fatal != std::string::npos) {
    text = text.substr(fatal + 16);
    if (text.size() >= 2 && text.front() == '"') {
      std::string plain;
      for (std::size_t i = 1; i < text.size() && text[i] != '"'; ++i)
        plain += text[i] == '\\' && i + 1 < text.size() ? text[++i] : text[i];
      text = plain;
    }
  }
  return text;
}

// The image goes by its configuration's digest, which vouches for its layers as long as it names each of them. One that
// named more would stand for another image than it is: for the real one of that configuration, which is not pulled
// then.
base::Status check_config(const Json& manifest, const Json& config) {
  const std::size_t layers = manifest["layers"].size(), named = config["rootfs"]["diff_ids"].size();
  if (layers == named) return {};
  return make_error(Code::kInvalid,
                    base::format("the image has {} layers, and its configuration names {}", layers, named));
}

}  // namespace

std::vector<StoredImage> ImageStore::list() const {
  std::vector<StoredImage> images;
  const auto index = api::parse_json(read_text(folder_ + "/index.json"));
  if (!index.ok()) return images;
  const Json sorted = index->sorted();
  for (const Json::Member& member : sorted.members()) {
    StoredImage image;
    image.name = member.name();
    image.id = member.value["id"].str();
    image.root = folder_ + "/" + folder_of_id(image.id) + "/rootfs";
    image.bytes = member.value["bytes"].as_int();
    image.imported = member.value["imported"].as_bool();
    image.created = member.value["created"].str();
    images.push_back(std::move(image));
  }
  return images;
}

std::optional<StoredImage> ImageStore::find(std::string_view name) const {
  const std::string normal = normal_image_name(name);
  const std::string plain = normal.substr(0, normal.find('@'));
  for (StoredImage& image : list()) {
    if (image.name != normal && !(normal.find('@') != std::string::npos &&
                                  image.id == normal.substr(normal.find('@') + 1) && image.name.starts_with(plain)))
      continue;
    if (::access(image.root.c_str(), F_OK) != 0) continue;
    if (auto config = read_json({folder_, folder_of_id(image.id) + "/config.json"}); config.ok())
      image.config = *std::move(config);
    return std::move(image);
  }
  return std::nullopt;
}

base::Status ImageStore::change_index(const std::function<void(Json&)>& change) {
  TRY_VOID(rt::make_folders(folder_, 0755));
  const int lock = ::open((folder_ + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock >= 0) ::flock(lock, LOCK_EX);
  auto index = api::parse_json(read_text(folder_ + "/index.json"));
  Json json = index.ok() && index->is_object() ? *index : Json::object();
  change(json);
  base::Status written = rt::write_file(folder_ + "/index.json", json.dump(), 0644);
  if (lock >= 0) ::close(lock);
  return written;
}

base::Status ImageStore::keep(StoredImage& image, const std::string& work) {
  TRY_VOID(rt::write_file(work + "/config.json", image.config.is_null() ? "{}" : image.config.dump(), 0644));
  const std::string final_folder = folder_ + "/" + folder_of_id(image.id);
  if (::access(final_folder.c_str(), F_OK) != 0 && ::rename(work.c_str(), final_folder.c_str()) != 0 &&
      ::access(final_folder.c_str(), F_OK) != 0)
    return make_error(Code::kUnavailable, base::format("cannot keep the image at {}", final_folder));
  image.root = final_folder + "/rootfs";
  return change_index([&](Json& index) {
    index.set(
        image.name,
        Json::object(
            {{"id", image.id}, {"bytes", image.bytes}, {"imported", image.imported}, {"created", image.created}}));
  });
}

// A program that works below `work`, and takes no more of the disk than an image may. `download`: the folder that
// grows, if it waits for others.
base::Status ImageStore::run(const std::vector<std::string>& words, const std::string& work,
                             const std::string& download, const std::atomic<bool>* given_up) const {
  const SpaceGuard space(folder_, image_bytes_max_);
  StallGuard stall(kSilenceMax, kBytesMin);
  CommandOptions options{.timeout = download.empty() ? kLong : kDownloadMax, .cancelled = &cancelled_};
  options.guard = [&]() -> base::Status {
    if (given_up != nullptr && *given_up) return make_error(Code::kUnavailable, "nobody waits for it any more");
    TRY_VOID(space.check());
    return download.empty() ? base::Status() : stall.check(bytes_below(download), uptime());
  };
  // The remains of a killed one go with the folder.
  options.environment = own_environment();
  options.environment.push_back("TMPDIR=" + work);
  return must_run(words, options);
}

base::Result<StoredImage> ImageStore::unpack_layout(const std::string& layout, const std::string& work,
                                                    const std::atomic<bool>* given_up) {
  TRY(const Json index, read_json({layout, "index.json"}));
  if (index["manifests"].empty()) return make_error(Code::kInvalid, "the archive holds no image");
  TRY(const Json manifest, read_blob(layout, index["manifests"].items().front()["digest"].as_string()));
  if (manifest["layers"].size() > kLayersMax)
    return make_error(Code::kTooLarge, base::format("the image has {} layers; at most {} are taken",
                                                    manifest["layers"].size(), std::size_t{kLayersMax}));
  StoredImage image;
  image.id = manifest["config"]["digest"].str();
  TRY(image.config, read_blob(layout, image.id));
  TRY_VOID(check_config(manifest, image.config));
  std::vector<std::string> words{"umoci", "unpack", "--image", layout + ":image", work + "/bundle"};
  if (::geteuid() != 0) words.insert(words.begin() + 2, "--rootless");
  TRY_VOID(run(words, work, {}, given_up));
  if (::rename((work + "/bundle/rootfs").c_str(), (work + "/rootfs").c_str()) != 0)
    return make_error(Code::kInternal, "umoci left no root file system");
  remove_tree(work + "/bundle");
  remove_tree(layout);
  TRY(image.bytes, inspect_image_tree(work + "/rootfs"));
  return image;
}

// "oci", "oci-archive", "docker-archive"; empty: a tar of a root file system.
base::Result<std::string> ImageStore::kind_of(const std::string& file) const {
  struct stat facts {};
  if (::access(file.c_str(), R_OK) != 0 || ::stat(file.c_str(), &facts) != 0)
    return make_error(Code::kNotFound, base::format("cannot read {}", file));
  if (S_ISDIR(facts.st_mode)) {
    if (::access((file + "/oci-layout").c_str(), F_OK) == 0) return std::string("oci");
    return make_error(Code::kInvalid, base::format("{} is a folder, but not an OCI layout", file));
  }
  if (!S_ISREG(facts.st_mode)) return make_error(Code::kInvalid, base::format("{} is not a regular file", file));
  // tar holds a name as a whole, however long its header says that it is. An archive that passes is read again without
  // a limit.
  const std::string bounded = base::format("ulimit -v {}; exec tar --quoting-style=escape -tf \"$1\"", kListingKib);
  const auto listed = run_command({"sh", "-c", bounded, "sh", file},
                                  {.timeout = kLong, .cancelled = &cancelled_, .output_bytes_max = kListingMax});
  if (!listed.ok()) {
    if (listed.error().code != Code::kTooLarge) return listed.error();
    return make_error(Code::kTooLarge, base::format("{} has more entries than an image may have", file));
  }
  if (listed->exit_code != 0 && listed->err.find("memory exhausted") != std::string::npos)
    return make_error(Code::kTooLarge,
                      base::format("{} has a name, or a header, that is longer than {} MiB", file, kListingKib / 1024));
  if (listed->exit_code != 0)
    return make_error(Code::kInvalid, base::format("{} is not a tar archive: {}", file, reason_text(listed->err)));
  const std::string lines = "\n" + listed->out;
  const auto has = [&](const char* entry) {
    return lines.find(base::format("\n{}\n", entry)) != std::string::npos ||
           lines.find(base::format("\n./{}\n", entry)) != std::string::npos;
  };
  return std::string(has("oci-layout") ? "oci-archive" : has("manifest.json") ? "docker-archive" : "");
}

// A JSON file of an archive, wherever in it; null if there is none.
base::Result<Json> ImageStore::json_in(const std::string& kind, const std::string& file,
                                       const std::string& name) const {
  if (kind == "oci") return read_json({file, name});
  for (const std::string& spelled : {name, "./" + name}) {
    TRY(const CommandResult read,
        run_command({"tar", "-xOf", file, "--occurrence=1", "--", spelled},
                    {.timeout = kLong, .cancelled = &cancelled_, .output_bytes_max = kJsonMax}));
    if (read.exit_code != 0) continue;
    auto json = api::parse_json(read.out);
    if (!json.ok()) return make_error(Code::kInvalid, base::format("the archive's {}: {}", name, json.error().message));
    return json;
  }
  return Json();
}

// Before anything is unpacked: the tools take minutes for thousands of layers.
base::Status ImageStore::check_layers(const std::string& kind, const std::string& file) const {
  std::size_t layers = 0, seen = 0;
  if (kind == "docker-archive") {
    TRY(const Json manifest, json_in(kind, file, "manifest.json"));
    for (const Json& image : manifest.items()) layers = std::max(layers, image["Layers"].size());
  } else {
    TRY(const Json index, json_in(kind, file, "index.json"));
    for (const Json& entry : index["manifests"].items()) {
      const std::string_view digest = entry["digest"].as_string();
      if (!is_digest(digest)) return make_error(Code::kInvalid, base::format("digest {:?} is malformed", digest));
      const std::size_t colon = digest.find(':');
      TRY(const Json manifest,
          json_in(kind, file, base::format("blobs/{}/{}", digest.substr(0, colon), digest.substr(colon + 1))));
      layers = std::max(layers, manifest["layers"].size());
      if (++seen > kManifestsMax) return make_error(Code::kTooLarge, "the archive holds too many images");
    }
  }
  if (layers <= kLayersMax) return {};
  return make_error(Code::kTooLarge,
                    base::format("the image has {} layers; at most {} are taken", layers, std::size_t{kLayersMax}));
}

base::Result<StoredImage> ImageStore::unpack_root(const std::string& file, const std::string& work) {
  TRY_VOID(rt::make_folders(work + "/rootfs", 0755));
  // Devices in dev/ are left out: a container has a /dev of its own. tar itself keeps names and links inside.
  std::vector<std::string> words{
      "tar", "-xf", file, "-C", work + "/rootfs", "--numeric-owner", "--exclude=./dev/*", "--exclude=dev/*"};
  if (::geteuid() == 0) words.push_back("--same-owner");
  TRY_VOID(run(words, work));
  TRY(const CommandResult sum, run_command({"sha256sum", file}, {.timeout = kLong, .cancelled = &cancelled_}));
  StoredImage image;
  image.id = "sha256:" + sum.out.substr(0, 64);
  if (!is_digest(image.id)) return make_error(Code::kInternal, base::format("sha256sum: {}", reason_text(sum.err)));
  TRY(image.bytes, inspect_image_tree(work + "/rootfs"));
  return image;
}

base::Result<StoredImage> ImageStore::import_file(const std::string& name, const std::string& file,
                                                  const std::string& now) {
  TRY_VOID(check_image_name(name));
  TRY_VOID(rt::make_folders(folder_, 0755));
  const WorkFolder work(folder_);
  TRY_VOID(rt::make_folders(work.path, 0755));
  TRY(const std::string kind, kind_of(file));
  StoredImage image;
  if (kind.empty()) {
    TRY(image, unpack_root(file, work.path));
  } else {
    TRY_VOID(check_layers(kind, file));
    const std::string layout = work.path + "/layout";
    TRY_VOID(run({"skopeo", "copy", "--quiet", "--insecure-policy", kind + ":" + file, "oci:" + layout + ":image"},
                 work.path));
    TRY(image, unpack_layout(layout, work.path));
  }
  image.name = normal_image_name(name);
  image.imported = true;
  image.created = now;
  TRY_VOID(keep(image, work.path));
  return image;
}

base::Result<StoredImage> ImageStore::pull(const std::string& name, const std::string& now, const std::string& keys,
                                           const std::atomic<bool>* given_up) {
  TRY_VOID(check_image_name(name));
  const std::string normal = normal_image_name(name);
  if (find_program("skopeo").empty() || find_program("umoci").empty())
    return make_error(Code::kUnavailable, base::format("failed to pull and unpack image {:?}: it is not in the local "
                                                       "store, and skopeo and umoci, which pull, are not installed",
                                                       normal));
  TRY_VOID(rt::make_folders(folder_, 0755));
  const WorkFolder work(folder_);
  TRY_VOID(rt::make_folders(work.path, 0755));
  const std::string layout = work.path + "/layout";
  std::vector<std::string> words{"skopeo", "copy", "--quiet", "--insecure-policy"};
  // As docker does it: a registry on this machine may speak plain HTTP.
  if (is_on_loopback(normal)) words.push_back("--src-tls-verify=false");
  const std::string keys_file = work.path + "/keys.json";
  if (!keys.empty()) {
    TRY_VOID(rt::write_file(keys_file, keys, 0600));
    words.insert(words.end(), {"--authfile", keys_file});
  }
  words.insert(words.end(), {"docker://" + normal, "oci:" + layout + ":image"});
  const base::Status copied = run(words, work.path, layout, given_up);
  ::unlink(keys_file.c_str());  // the folder becomes the image's
  if (!copied.ok())
    return make_error(Code::kUnavailable,
                      base::format("failed to pull and unpack image {:?}: {}", normal, reason_of(copied.error())));
  auto unpacked = unpack_layout(layout, work.path, given_up);
  if (!unpacked.ok())
    return make_error(Code::kUnavailable,
                      base::format("failed to pull and unpack image {:?}: {}", normal, reason_of(unpacked.error())));
  StoredImage& image = *unpacked;
  image.name = normal;
  image.created = now;
  TRY_VOID(keep(image, work.path));
  return unpacked;
}

void ImageStore::sweep() {
  for (const std::string& name : list_folder(folder_)) {
    if (!name.starts_with("work-")) {
      ::unlink((folder_ + "/" + name + "/keys.json").c_str());  // pulls of earlier versions left it
      continue;
    }
    const pid_t pid = static_cast<pid_t>(std::atoi(name.c_str() + 5));
    if (pid <= 0 || pid == ::getpid() || ::access(base::format("/proc/{}", pid).c_str(), F_OK) != 0)
      remove_tree(folder_ + "/" + name);
  }
}

base::Status ImageStore::remove(const std::string& name) {
  const auto found = find(name);
  if (!found)
    return make_error(Code::kNotFound, base::format("image {:?} is not in the store", normal_image_name(name)));
  TRY_VOID(change_index([&](Json& index) { index.erase(found->name); }));
  for (const StoredImage& other : list())
    if (other.id == found->id) return {};
  remove_tree(folder_ + "/" + folder_of_id(found->id));
  return {};
}

}  // namespace node
