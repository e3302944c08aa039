// A folder of keys with changed files: what comes out is an error, or keys with which a server speaks TLS.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "main/host/keys/credentials.h"
#include "rt/http/server/http_server.h"
#include "targets.h"

namespace fuzz {

namespace {

namespace fs = std::filesystem;

constexpr base::Time kNow{1'800'000'000'000'000'000};
constexpr const char* kFiles[] = {"ca.crt", "ca.key", "server.crt", "server.key", "admin.crt", "admin.key", "token"};

const volcano_main::ServerNames& names() {
  static const volcano_main::ServerNames all{{"host"}, {"127.0.0.1", "fe80::1"}};
  return all;
}

// A sound folder and a second one of other keys, made once; removed when the process ends.
struct Folders {
  fs::path root;

  Folders() {
    std::string name = (fs::temp_directory_path() / "volcano-fuzz-keys.XXXXXX").string();
    promise(::mkdtemp(name.data()) != nullptr, "there is a temporary folder");
    root = name;
    for (const char* one : {"good", "other"})
      promise(volcano_main::load_or_make_credentials((root / one).string(), kNow, names(),
                                                     volcano_main::Occasion::kFirstStart)
                  .ok(),
              "keys can be made");
  }
  ~Folders() {
    std::error_code ignored;
    fs::remove_all(root, ignored);
  }
};

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write(const fs::path& path, std::string_view text) { std::ofstream(path, std::ios::binary) << text; }

// One change: which file, how, and with what.
void change(const Folders& folders, const fs::path& work, char which, char how, std::string_view with) {
  const std::string file = kFiles[static_cast<unsigned char>(which) % std::size(kFiles)];
  const fs::path path = work / file;
  std::string text = read(path);
  const std::size_t at = text.empty() || with.empty() ? 0 : static_cast<unsigned char>(with[0]) * 7 % text.size();
  switch (how) {
    case 'r': fs::remove(path); return;
    case 'o': text = read(folders.root / "other" / file); break;
    case 'c': text.resize(at); break;
    case 'i': text.insert(at, with); break;
    case 's': text.replace(at, with.size(), with); break;
    case 'x': text = read(work / kFiles[at % std::size(kFiles)]); break;
    default: text = with;
  }
  write(path, text);
}

}  // namespace

// Lines "<file><how><text>"; a line that begins with "+" lets years pass.
void keys(std::string_view input) {
  static const Folders folders;
  const fs::path work = folders.root / "work";
  fs::remove_all(work);
  fs::copy(folders.root / "good", work);
  base::Time now = kNow;
  for (int lines = 0; !input.empty() && lines < 4; ++lines) {
    const std::string_view line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(input.size(), line.size() + 1));
    if (line.starts_with('+'))
      now = now + base::hours(24 * 365 * static_cast<std::int64_t>(std::min<std::size_t>(line.size(), 30)));
    else if (line.size() >= 2)
      change(folders, work, line[0], line[1], line.substr(2));
  }
  const auto made =
      volcano_main::load_or_make_credentials(work.string(), now, names(), volcano_main::Occasion::kFirstStart);
  if (!made.ok()) return promise(!made.error().message.empty(), "an error says why");
  promise(!made->token.empty(), "a token is not empty");
  for (const rt::KeyPair& pair : {made->server, made->admin}) {
    promise(rt::check_pair(pair).ok(), "certificate and key belong together");
    promise(rt::check_signed_by(pair.certificate_pem, made->ca_pem).ok(), "the CA has signed");
    const auto facts = rt::certificate_facts(pair.certificate_pem);
    promise(facts.ok() && facts->not_before <= now && now < facts->not_after, "a certificate counts now");
  }
  rt::ServerOptions options;
  options.tls = rt::ServerKeys{made->server.certificate_pem, made->server.key_pem, made->ca_pem};
  promise(rt::listen_http(std::move(options), [](const rt::HttpRequest&, const auto&) {}).ok(), "the server has TLS");
}

}  // namespace fuzz
