// Looking for files by the names that the driver's parts have.
#include "node/devices/driver_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdlib>

#include "base/format.h"
#include "node/os/command.h"
#include "rt/files/files.h"

namespace node {

namespace {

constexpr const char* kNvml = "libnvidia-ml.so.1";
constexpr const char* kLibraryFolders[] = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib",
    "/lib/x86_64-linux-gnu",     "/lib/aarch64-linux-gnu",     "/lib64",     "/usr/local/nvidia/lib64",
    "/usr/lib/wsl/lib",          "/run/opengl-driver/lib"};
// The libraries that compute, management and video need. The driver's version ends the names of those without a number.
constexpr const char* kLibraries[] = {kNvml,
                                      "libcuda.so.1",
                                      "libcudadebugger.so.1",
                                      "libnvidia-allocator.so.1",
                                      "libnvidia-cfg.so.1",
                                      "libnvidia-encode.so.1",
                                      "libnvidia-nvvm.so.4",
                                      "libnvidia-opencl.so.1",
                                      "libnvidia-opticalflow.so.1",
                                      "libnvidia-ptxjitcompiler.so.1",
                                      "libnvcuvid.so.1",
                                      "libnvidia-compiler.so.",
                                      "libnvidia-fatbinaryloader.so.",
                                      "libnvidia-gpucomp.so.",
                                      "libnvidia-pkcs11.so.",
                                      "libnvidia-pkcs11-openssl3.so.",
                                      "libnvidia-tileiras.so."};
// A script in /usr/bin may call the driver's program if the driver has a folder of its own.
constexpr const char* kProgramFolders[] = {"/usr/local/nvidia/bin", "/usr/bin", "/usr/sbin", "/usr/lib/wsl/lib",
                                           "/run/current-system/sw/bin"};
constexpr const char* kPrograms[] = {"nvidia-smi", "nvidia-debugdump", "nvidia-cuda-mps-control",
                                     "nvidia-cuda-mps-server"};
constexpr const char* kCommonNodes[] = {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools",
                                        "/dev/nvidia-modeset"};
constexpr const char* kInside = "/usr/local/nvidia";

std::string below(const std::string& root, const std::string& path) { return root == "/" ? path : root + path; }

bool is_file(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
}

// The dynamic linker's own list has paths as words that end with a NUL.
std::string in_linker_cache(const std::string& name) {
  const auto cache = rt::read_file("/etc/ld.so.cache");
  if (!cache.ok()) return {};
  const std::string wanted = "/" + name + std::string(1, '\0');
  for (std::size_t at = cache->find(wanted); at != std::string::npos; at = cache->find(wanted, at + 1)) {
    const std::size_t before = cache->rfind('\0', at);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    const std::string path = cache->substr(begin, at + wanted.size() - 1 - begin);
    if (path.starts_with('/') && is_file(path)) return path;
  }
  return {};
}

std::string real_file(const std::string& path) {
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) == nullptr || !is_file(real) ? std::string() : std::string(real);
}

bool is_device(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISCHR(facts.st_mode);
}

}  // namespace

std::string find_nvml(const std::string& driver_root) {
  for (const char* folder : kLibraryFolders)
    if (const std::string path = below(driver_root, std::string(folder) + "/" + kNvml); is_file(path)) return path;
  return driver_root == "/" ? in_linker_cache(kNvml) : std::string();
}

int mig_minor(std::string_view minors, int gpu_minor, int gpu_instance, int compute_instance) {
  const std::string wanted = compute_instance < 0
                                 ? base::format("gpu{}/gi{}/access ", gpu_minor, gpu_instance)
                                 : base::format("gpu{}/gi{}/ci{}/access ", gpu_minor, gpu_instance, compute_instance);
  while (!minors.empty()) {
    std::string_view line = minors.substr(0, minors.find('\n'));
    minors.remove_prefix(std::min(minors.size(), line.size() + 1));
    if (!line.starts_with(wanted)) continue;
    line.remove_prefix(wanted.size());
    int number = -1;
    std::from_chars(line.data(), line.data() + line.size(), number);
    return number < 0 || number > 1 << 20 ? -1 : number;
  }
  return -1;
}

DeviceGrant driver_grant(const std::string& driver_root, const std::string& driver, const std::vector<GpuUse>& uses) {
  DeviceGrant grant;
  // The node of unified memory is made when it is first asked for.
  if (driver_root == "/" && !is_device("/dev/nvidia-uvm") && !find_program("nvidia-modprobe").empty())
    (void)run_command({find_program("nvidia-modprobe"), "-c", "0", "-u"}, {.timeout = base::seconds(20)});
  const auto add_node = [&](const std::string& path) {
    if (is_device(below(driver_root, path))) grant.nodes.push_back({below(driver_root, path), path, "rw"});
  };
  for (const GpuUse& use : uses) {
    add_node(base::format("/dev/nvidia{}", use.gpu.minor));
    if (use.instance == nullptr) continue;
    const auto minors = rt::read_file("/proc/driver/nvidia-caps/mig-minors");
    const std::string text = minors.ok() ? *minors : std::string();
    for (const int compute : {-1, use.instance->compute_instance})
      if (const int minor = mig_minor(text, use.gpu.minor, use.instance->gpu_instance, compute); minor >= 0)
        add_node(base::format("/dev/nvidia-caps/nvidia-cap{}", minor));
  }
  for (const char* path : kCommonNodes) add_node(path);
  const auto add_file = [&](const std::string& path, const std::string& folder, const std::string& name) {
    if (path.empty()) return false;
    grant.mounts.push_back({path, base::format("{}/{}/{}", kInside, folder, name), true});
    return true;
  };
  bool libraries = false, programs = false;
  for (std::string name : kLibraries) {
    if (name.ends_with('.')) name += driver;
    std::string path;
    for (const char* folder : kLibraryFolders)
      if (path.empty()) path = real_file(below(driver_root, std::string(folder) + "/" + name));
    if (path.empty() && driver_root == "/") path = real_file(in_linker_cache(name));
    libraries |= add_file(path, "lib64", name);
  }
  for (const char* name : kPrograms) {
    std::string path;
    for (const char* folder : kProgramFolders)
      if (path.empty()) path = real_file(below(driver_root, std::string(folder) + "/" + name));
    programs |= add_file(path, "bin", name);
  }
  if (libraries) grant.library_folders.push_back(std::string(kInside) + "/lib64");
  if (programs) grant.program_folders.push_back(std::string(kInside) + "/bin");
  grant.unlimited_memlock = true;
  return grant;
}

}  // namespace node
