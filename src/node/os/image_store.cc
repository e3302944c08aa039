// How images come in and where they lie: images/index.json names them, images/ID/{rootfs,config.json} hold them.
#include "node/image_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/format.h"
#include "node/os/command.h"
#include "node/os/pod_folders.h"
#include "rt/files.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr base::Duration kLong = base::minutes(15);

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

base::Result<Json> read_blob(const std::string& layout, std::string_view digest) {
  const std::size_t colon = digest.find(':');
  if (colon == std::string_view::npos)
    return make_error(Code::kInvalid, base::format("digest {:?} is malformed", digest));
  TRY(const std::string text, rt::read_file(layout + "/blobs/" + std::string(digest.substr(0, colon)) + "/" +
                                            std::string(digest.substr(colon + 1))));
  return api::parse_json(text);
}

std::int64_t size_of(const std::string& folder) {
  const auto said = run_command({"du", "-sb", folder}, {.timeout = base::minutes(2)});
  return said.ok() ? std::atoll(said->out.c_str()) : 0;
}

// The last line of what skopeo says is the reason.
std::string reason_of(const base::Error& error) {
  std::string text = error.message;
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

bool is_loopback(const std::string& name) {
  const std::string host = name.substr(0, name.find_first_of(":/"));
  return host == "localhost" || host.starts_with("127.");
}

}  // namespace

std::string normal_image_name(std::string_view name) {
  std::string text(name);
  const std::size_t slash = text.find('/');
  const std::string first = text.substr(0, slash);
  const bool has_host = slash != std::string::npos && (first.find('.') != std::string::npos ||
                                                       first.find(':') != std::string::npos || first == "localhost");
  if (!has_host) text = slash == std::string::npos ? "docker.io/library/" + text : "docker.io/" + text;
  if (text.starts_with("index.docker.io/")) text = "docker.io/" + text.substr(16);
  if (text.starts_with("docker.io/") && text.find('/', 10) == std::string::npos)
    text = "docker.io/library/" + text.substr(10);
  if (text.find('@') != std::string::npos) return text;
  if (text.find(':', text.rfind('/')) == std::string::npos) text += ":latest";
  return text;
}

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
    if (const auto config = api::parse_json(read_text(folder_ + "/" + folder_of_id(image.id) + "/config.json"));
        config.ok())
      image.config = *config;
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
    if (::access(image.root.c_str(), F_OK) == 0) return std::move(image);
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

base::Result<StoredImage> ImageStore::unpack_layout(const std::string& layout, const std::string& work) {
  TRY(const std::string text, rt::read_file(layout + "/index.json"));
  TRY(const Json index, api::parse_json(text));
  if (index["manifests"].empty()) return make_error(Code::kInvalid, "the archive holds no image");
  TRY(const Json manifest, read_blob(layout, index["manifests"].items().front()["digest"].as_string()));
  StoredImage image;
  image.id = manifest["config"]["digest"].str();
  TRY(image.config, read_blob(layout, image.id));
  std::vector<std::string> words{"umoci", "unpack", "--image", layout + ":image", work + "/bundle"};
  if (::geteuid() != 0) words.insert(words.begin() + 2, "--rootless");
  TRY_VOID(must_run(words, {.timeout = kLong, .cancelled = &cancelled_}));
  if (::rename((work + "/bundle/rootfs").c_str(), (work + "/rootfs").c_str()) != 0)
    return make_error(Code::kInternal, "umoci left no root file system");
  remove_tree(work + "/bundle");
  remove_tree(layout);
  image.bytes = size_of(work + "/rootfs");
  return image;
}

base::Result<StoredImage> ImageStore::import_file(const std::string& name, const std::string& file,
                                                  const std::string& now) {
  TRY_VOID(rt::make_folders(folder_, 0755));
  if (::access(file.c_str(), R_OK) != 0) return make_error(Code::kNotFound, base::format("cannot read {}", file));
  const WorkFolder work(folder_);
  TRY_VOID(rt::make_folders(work.path, 0755));
  struct stat facts {};
  ::stat(file.c_str(), &facts);
  std::string kind;
  if (S_ISDIR(facts.st_mode)) {
    kind = ::access((file + "/oci-layout").c_str(), F_OK) == 0 ? "oci" : "";
    if (kind.empty()) return make_error(Code::kInvalid, base::format("{} is a folder, but not an OCI layout", file));
  } else {
    TRY(const CommandResult listed, run_command({"tar", "-tf", file}, {.timeout = kLong, .cancelled = &cancelled_}));
    if (listed.exit_code != 0)
      return make_error(Code::kInvalid, base::format("{} is not a tar archive: {}", file, listed.err));
    const std::string lines = "\n" + listed.out;
    const auto has = [&](const char* entry) {
      return lines.find(base::format("\n{}\n", entry)) != std::string::npos ||
             lines.find(base::format("\n./{}\n", entry)) != std::string::npos;
    };
    kind = has("oci-layout") ? "oci-archive" : has("manifest.json") ? "docker-archive" : "";
  }
  StoredImage image;
  if (kind.empty()) {
    TRY_VOID(rt::make_folders(work.path + "/rootfs", 0755));
    std::vector<std::string> words{"tar", "-xf", file, "-C", work.path + "/rootfs", "--numeric-owner"};
    if (::geteuid() == 0)
      words.push_back("--same-owner");
    else
      words.insert(words.end(), {"--exclude=./dev/*", "--exclude=dev/*"});
    TRY_VOID(must_run(words, {.timeout = kLong, .cancelled = &cancelled_}));
    TRY(const CommandResult sum, run_command({"sha256sum", file}, {.timeout = kLong, .cancelled = &cancelled_}));
    image.id = "sha256:" + sum.out.substr(0, 64);
    image.bytes = size_of(work.path + "/rootfs");
  } else {
    const std::string layout = work.path + "/layout";
    TRY_VOID(must_run({"skopeo", "copy", "--quiet", "--insecure-policy", kind + ":" + file, "oci:" + layout + ":image"},
                      {.timeout = kLong, .cancelled = &cancelled_}));
    TRY(image, unpack_layout(layout, work.path));
  }
  image.name = normal_image_name(name);
  image.imported = true;
  image.created = now;
  TRY_VOID(keep(image, work.path));
  return image;
}

base::Result<StoredImage> ImageStore::pull(const std::string& name, const std::string& now) {
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
  if (is_loopback(normal)) words.push_back("--src-tls-verify=false");
  words.insert(words.end(), {"docker://" + normal, "oci:" + layout + ":image"});
  if (base::Status copied = must_run(words, {.timeout = kLong, .cancelled = &cancelled_}); !copied.ok())
    return make_error(Code::kUnavailable,
                      base::format("failed to pull and unpack image {:?}: {}", normal, reason_of(copied.error())));
  TRY(StoredImage image, unpack_layout(layout, work.path));
  image.name = normal;
  image.created = now;
  TRY_VOID(keep(image, work.path));
  return image;
}

void ImageStore::sweep() {
  for (const std::string& name : list_folder(folder_)) {
    if (!name.starts_with("work-")) continue;
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
