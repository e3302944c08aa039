// vcctl and the programs named after Slurm's: the command trees of cli/, over HTTP(S), for a person at a terminal.
#include "cli/vcctl.h"

#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>

#include "base/format.h"
#include "base/number.h"
#include "cli/notebooks/notebook.h"
#include "cli/pipelines/pipeline.h"
#include "cli/slurm.h"
#include "cli/text/terminal_text.h"
#include "main/host/base/connection.h"
#include "main/host/base/page_link.h"
#include "main/host/base/server_get.h"
#include "main/host/base/version.h"
#include "main/host/base/waiting_api.h"
#include "main/pipelines/pipeline_proxy.h"
#include "main/programs/programs.h"
#include "rt/env.h"
#include "rt/files/bounded_files.h"
#include "rt/files/files.h"
#include "rt/http/client/http_client.h"
#include "rt/http/url.h"

namespace volcano_main {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{64} << 20;

// The body of what is at an http:// or https:// URL.
base::Result<std::string> fetch(const std::string& url) {
  TRY(const rt::ServerUrl from, rt::parse_server_url(url));
  rt::ClientOptions options{.host = from.host, .port = from.port, .tls = from.tls};
  options.timeout = base::seconds(10);
  const auto env = rt::make_real_env("fetch");
  TRY(const std::unique_ptr<rt::HttpClient> client, env->http_client(options));
  std::promise<base::Result<rt::HttpResponse>> answer;
  env->loop().post([&] {
    client->send({.method = "GET", .target = from.target()},
                 [&](base::Result<rt::HttpResponse> response) { answer.set_value(std::move(response)); });
  });
  TRY(rt::HttpResponse response, answer.get_future().get());
  env->stop();
  if (response.status != 200)
    return base::make_error(base::Code::kUnavailable,
                            base::format("{} answered {}: {}", url, response.status, response.body));
  return std::move(response.body);
}

std::string environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

std::string first_line_of(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

cli::Person person() {
  cli::Person of{.boot_id = first_line_of("/proc/sys/kernel/random/boot_id"), .uid = getuid(), .gid = getgid()};
  if (const passwd* entry = getpwuid(getuid())) of.user = entry->pw_name, of.home = entry->pw_dir;
  std::error_code error;
  of.folder = std::filesystem::current_path(error).string();
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
  groups.resize(static_cast<std::size_t>(std::max(getgroups(static_cast<int>(groups.size()), groups.data()), 0)));
  of.groups.assign(groups.begin(), groups.end());
  return of;
}

// The real ids count: a set-user-id copy of this program gives nobody a folder.
base::Result<std::string> own_folder(const std::string& path, bool writes) {
  const auto refused = [&path](int why) {
    return base::make_error(base::Code::kForbidden, base::format("{}: {}", path, std::strerror(why)));
  };
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  if (!real) return refused(errno);
  struct stat facts {};
  if (stat(real.get(), &facts) != 0) return refused(errno);
  if (!S_ISDIR(facts.st_mode)) return refused(ENOTDIR);
  if (access(real.get(), R_OK | X_OK | (writes ? W_OK : 0)) != 0) return refused(errno);
  return std::string(real.get());
}

// Standard output as a terminal. COLUMNS says how wide a table is, even where there is none.
cli::Terminal terminal() {
  cli::Terminal found{.is_one = isatty(STDOUT_FILENO) == 1};
  if (winsize size{}; ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    found.columns = size.ws_col, found.rows = size.ws_row;
  if (const auto columns = base::parse_number<int>(environment_variable("COLUMNS")); columns && *columns > 0)
    found.columns = *columns, found.is_for_people = true;
  found.is_for_people = found.is_for_people || found.is_one;
  found.has_colours =
      found.is_one && environment_variable("NO_COLOR").empty() && environment_variable("TERM") != "dumb";
  return found;
}

bool show(cli::World& world) {
  const std::string out = std::exchange(world.out, {});
  std::cout << (world.as_it_is ? out : cli::for_terminal(out)) << std::flush;
  std::cerr << cli::for_terminal(std::exchange(world.err, {})) << std::flush;
  return std::cout.good();
}

std::string local_time(base::Time time) {
  const std::time_t seconds = static_cast<std::time_t>(time.ns / 1'000'000'000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z %Z", &parts);
  return text;
}

base::Result<std::string> link_to_page(const std::string& kubeconfig, const std::string& master,
                                       const std::string& path) {
  TRY(const client::ServerAccess access, user_access(kubeconfig, master));
  TRY(PageLink link, page_link(access, "", path));
  return std::move(link.url);
}

base::Status write_file(const std::string& path, const std::string& bytes) {
  if (const std::size_t slash = path.rfind('/'); slash != std::string::npos && slash > 0)
    TRY_VOID(rt::make_folders(path.substr(0, slash), 0755));
  return rt::write_file(path, bytes, 0644);
}

int run_root(const cli::Command& root, const Arguments& arguments) {
  cli::World world{
      .connect = open_waiting_api,
      .page_link = link_to_page,
      .serve_pipelines = serve_pipelines,
      .read_file = [](const std::string& path) { return rt::read_bounded_file(path, kFileBytesMax, base::minutes(5)); },
      .write_file = write_file,
      .open_pipelines = open_pipelines,
      .fetch = fetch,
      .environment_variable = environment_variable,
      .context_namespace = user_namespace,
      .person = person,
      .own_folder = own_folder,
      .local_time = local_time,
      .now = [] { return base::Time{std::time(nullptr) * 1'000'000'000LL}; },
      .show = show,
      .terminal = terminal(),
      .version = kVersion};
  const int status = cli::run_command(root, arguments, world);
  show(world);
  return status;
}

}  // namespace

int run_vcctl(const Arguments& arguments) { return run_root(cli::vcctl_root(), arguments); }

static int run_slurm(std::string_view name, const Arguments& arguments) {
  for (const cli::Command& root : cli::slurm_roots(environment_variable))
    if (root.name == name) return run_root(root, arguments);
  return 2;
}

int run_notebook(const Arguments& arguments) { return run_root(cli::notebook_root(), arguments); }
int run_pipeline(const Arguments& arguments) { return run_root(cli::pipeline_root(), arguments); }
int run_tensorboard(const Arguments& arguments) { return run_root(cli::tensorboard_root(), arguments); }
int run_vsub(const Arguments& arguments) { return run_slurm("vsub", arguments); }
int run_vjobs(const Arguments& arguments) { return run_slurm("vjobs", arguments); }
int run_vqueues(const Arguments& arguments) { return run_slurm("vqueues", arguments); }
int run_vcancel(const Arguments& arguments) { return run_slurm("vcancel", arguments); }
int run_vsuspend(const Arguments& arguments) { return run_slurm("vsuspend", arguments); }
int run_vresume(const Arguments& arguments) { return run_slurm("vresume", arguments); }

}  // namespace volcano_main
