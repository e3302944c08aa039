// `volcano image import|list|remove`: the images that pods on this machine can use.
#include <ctime>
#include <filesystem>
#include <iostream>

#include "base/flags.h"
#include "base/format.h"
#include "base/time.h"
#include "main/host/data/data_folder.h"
#include "main/programs/programs.h"
#include "node/machine/image_store.h"

namespace volcano_main {
namespace {

int usage(const std::vector<base::Flag>& flags, int code) {
  (code == 0 ? std::cout : std::cerr)
      << "usage: volcano image import [flags] NAME FILE   a tar of a root file system, or a docker or OCI archive\n"
         "       volcano image list [flags]\n"
         "       volcano image remove [flags] NAME\n\nflags:\n"
      << base::flags_help(flags);
  return code;
}

int failed(const base::Error& error) {
  std::cerr << "volcano image: " << error.message << "\n";
  return 1;
}

std::string short_id(const std::string& id) {
  return id.substr(id.find(':') == std::string::npos ? 0 : id.find(':') + 1, 12);
}

void print_list(const node::ImageStore& store) {
  std::cout << base::format("{:<64} {:<14} {:>10}  {}\n", "NAME", "ID", "SIZE", "CREATED");
  for (const node::StoredImage& image : store.list())
    std::cout << base::format("{:<64} {:<14} {:>7} MB  {}\n", image.name, short_id(image.id),
                              (image.bytes + 999'999) / 1'000'000, image.created);
}

}  // namespace

int run_image(const Arguments& arguments) {
  std::string data;
  int gib = static_cast<int>(node::kImageBytesMax >> 30);
  const std::vector<base::Flag> flags{
      {"data", &data, "the folder that volcano up uses (default ~/.local/share/volcano)"},
      {"image-gib", &gib, "the most that the unpacked image may take on disk"},
  };
  if (base::asks_for_help(arguments)) return usage(flags, 0);
  const auto words = base::parse_flags(flags, arguments);
  if (!words.ok()) return failed(words.error());
  const std::vector<std::string>& rest = words->rest;
  if (data.empty()) data = default_data_folder();
  if (gib < 1 || gib > 1 << 20)
    return failed(base::make_error(base::Code::kInvalid, base::format("--image-gib: {} is not a size", gib)));
  std::error_code error;  // where this was started may be gone
  data = std::filesystem::absolute(data, error).string();
  const std::string file = error || rest.size() != 3 ? "" : std::filesystem::absolute(rest[2], error).string();
  if (error)
    return failed(base::make_error(base::Code::kUnavailable, "the current folder cannot be named: " + error.message()));
  node::ImageStore store(data + "/node/images", std::int64_t{gib} << 30);
  const std::string word = rest.empty() ? "" : rest.front();
  const bool changes = (word == "import" && rest.size() == 3) || (word == "remove" && rest.size() == 2);
  if (changes) {
    const auto corrected = open_data_folder(data);
    if (!corrected.ok()) return failed(corrected.error());
    if (!corrected->empty()) std::cerr << "volcano image: " << *corrected << "\n";
  }
  if (word == "import" && rest.size() == 3) {
    const std::string now = base::format_rfc3339({std::time(nullptr) * 1'000'000'000});
    const auto image = store.import_file(rest[1], file, now);
    if (!image.ok()) return failed(image.error());
    std::cout << base::format("imported {} ({}, {} MB)\n", image->name, short_id(image->id),
                              (image->bytes + 999'999) / 1'000'000);
    return 0;
  }
  if (word == "list" && rest.size() == 1) {
    print_list(store);
    return 0;
  }
  if (word == "remove" && rest.size() == 2) {
    const base::Status removed = store.remove(rest[1]);
    return removed.ok() ? 0 : failed(removed.error());
  }
  return usage(flags, 2);
}

}  // namespace volcano_main
