// `volcano install`: this program under a prefix, with links, completion, man pages, and a unit that runs it.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include "base/flags.h"
#include "base/format.h"
#include "main/host/base/version.h"
#include "main/host/flags/systemd_unit.h"
#include "main/programs/programs.h"
#include "rt/files/files.h"

namespace volcano_main {
namespace {

namespace fs = std::filesystem;

// Programs for people, which have a man page each: its name, and what prints its help.
constexpr std::array kPages = {std::pair{"volcano", "help"},           std::pair{"volcano-up", "help up"},
                               std::pair{"volcano-user", "help user"}, std::pair{"volcano-image", "help image"},
                               std::pair{"vcctl", "vcctl help"},       std::pair{"vsub", "vsub --help"},
                               std::pair{"vjobs", "vjobs --help"},     std::pair{"vqueues", "vqueues --help"},
                               std::pair{"vcancel", "vcancel --help"}, std::pair{"vsuspend", "vsuspend --help"},
                               std::pair{"vresume", "vresume --help"}};

struct Places {
  std::string root;    // a package's own tree; empty: this machine
  std::string prefix;  // absolute
  std::string path_of(std::string_view path) const { return base::format("{}{}/{}", root, prefix, path); }
};

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The output of this program with these words.
base::Result<std::string> output_of(const std::string& words) {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen((quoted(self) + " " + words).c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> part{};
  while (pipe)
    if (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe.get()); got > 0)
      text.append(part.data(), got);
    else
      break;
  if (text.empty()) return base::make_error(base::Code::kInternal, base::format("volcano {} prints nothing", words));
  return text;
}

// Help as it is printed, which roff must not read as its own words.
std::string man_page(const std::string& name, const std::string& help) {
  std::string page = base::format(
      ".TH {} 1 \"\" \"volcano {}\"\n.SH NAME\n{} \\- batch scheduling\n.SH DESCRIPTION\n.nf\n", name, kVersion, name);
  bool begins = true;
  for (const char c : help) {
    if (begins && (c == '.' || c == '\'')) page += "\\&";
    page += c == '\\' ? std::string("\\e") : c == '-' ? std::string("\\-") : std::string(1, c);
    begins = c == '\n';
  }
  return page + ".fi\n";
}

base::Status put(const std::string& path, const std::string& text, mode_t mode = 0644) {
  TRY_VOID(rt::make_folders(path.substr(0, path.rfind('/')), 0755));
  return rt::write_file(path, text, mode);
}

base::Status put_programs(const Places& places) {
  TRY_VOID(rt::make_folders(places.path_of("bin"), 0755));
  const std::string program = places.path_of("bin/volcano"), fresh = program + ".new";
  std::error_code error;
  fs::copy_file("/proc/self/exe", fresh, fs::copy_options::overwrite_existing, error);
  if (!error) fs::permissions(fresh, fs::perms(0755), error);
  if (!error) fs::rename(fresh, program, error);  // one that runs goes on
  for (const std::string& name : program_names()) {
    if (error) break;
    const std::string link = places.path_of(base::format("bin/{}", name));
    fs::remove(link, error);
    if (!error) fs::create_symlink("volcano", link, error);
  }
  if (error) return base::make_error(base::Code::kUnavailable, base::format("{}: {}", program, error.message()));
  return {};
}

base::Status put_texts(const Places& places) {
  for (const auto& [name, words] : kPages) {
    TRY(const std::string help, output_of(words));
    TRY_VOID(put(places.path_of(base::format("share/man/man1/{}.1", name)), man_page(name, help)));
  }
  TRY(const std::string bash, output_of("vcctl completion bash"));
  for (const char* name : {"vcctl", "vsub", "vjobs", "vqueues", "vcancel", "vsuspend", "vresume"})
    TRY_VOID(put(places.path_of(base::format("share/bash-completion/completions/{}", name)), bash));
  TRY(const std::string zsh, output_of("vcctl completion zsh"));
  TRY_VOID(put(places.path_of("share/zsh/site-functions/_vcctl"), zsh));
  const std::string unit = systemd_unit({.program = places.prefix + "/bin/volcano",
                                         .arguments = {"--data=/var/lib/volcano", "--leave-pods"},
                                         .folder = "/"});
  return put(places.path_of("lib/systemd/system/volcano.service"), unit);
}

}  // namespace

int run_install(const Arguments& arguments) {
  Places places{.prefix = "/usr/local"};
  const std::vector<base::Flag> flags{
      {"prefix", &places.prefix, "the folder that gets bin, lib and share"},
      {"root", &places.root, "a folder that stands for / while a package is made"},
  };
  const auto words = base::parse_flags(flags, arguments);
  if (base::asks_for_help(arguments)) {
    std::cout << "usage: volcano install [--prefix /usr/local]\n\nflags:\n" << base::flags_help(flags);
    return 0;
  }
  base::Status done = words.ok() ? base::Status() : words.error();
  if (done.ok() && !words->rest.empty())
    done = base::make_error(base::Code::kInvalid, base::format("unexpected argument {:?}", words->rest.front()));
  if (done.ok()) {
    std::error_code error;
    places.prefix = fs::absolute(places.prefix, error).lexically_normal().string();
    while (places.prefix.ends_with('/')) places.prefix.pop_back();
    done = put_programs(places);
  }
  if (done.ok()) done = put_texts(places);
  if (!done.ok()) {
    std::cerr << "volcano install: " << done.error().message << "\n";
    return 1;
  }
  std::cout << base::format(
      "installed into {0}{1}: volcano and its links in bin, man pages and completion in share\n"
      "a service that keeps its data in /var/lib/volcano:\n"
      "  systemctl daemon-reload && systemctl enable --now volcano\n",
      places.root, places.prefix);
  return 0;
}

}  // namespace volcano_main
