// Files and Events of records that cannot be read.
#include "main/host/data/quarantine.h"

#include "api/kinds.h"
#include "base/format.h"
#include "base/log.h"
#include "base/utf8.h"
#include "rt/files/files.h"
#include "rt/tls/tls.h"

namespace volcano_main {
namespace {

using api::Json;

constexpr std::size_t kNameBytesMax = 120;

// A file name that says what it is, and differs for different contents.
std::string file_name(const store::Broken& record) {
  std::string name;
  for (const char c : record.what.substr(0, kNameBytesMax)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    name += plain ? c : '_';
  }
  return name + "-" + rt::sha256_hex(record.key + record.bytes).substr(0, 12);
}

std::string escaped(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    if (c >= 0x20 && c < 0x7f && c != '\\') {
      out += c;
    } else {
      out += "\\x";
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
    }
  }
  return out;
}

}  // namespace

base::Result<std::vector<std::string>> set_aside_broken(store::Store& store, const std::string& folder,
                                                        base::Time now) {
  std::vector<std::string> lines;
  if (store.broken().empty()) return lines;
  TRY_VOID(rt::make_folders(folder, 0700));
  for (const store::Broken& record : store.broken()) {
    const std::string path = folder + "/" + file_name(record);
    const std::string what = base::to_utf8(record.what);
    TRY_VOID(rt::write_file(path + ".bytes", record.bytes, 0600));
    TRY_VOID(rt::write_file(path + ".txt",
                            base::format("what: {}\nwhy: {}\nset aside: {}\nkey: {}\n", what, record.why,
                                         base::format_rfc3339(now), escaped(record.key)),
                            0600));
    lines.push_back(base::format("{} cannot be read ({}); set aside as {}.bytes", what, record.why, path));
  }
  TRY_VOID(store.remove_broken());
  return lines;
}

void record_broken(apiserver::Api& api, const std::vector<store::Broken>& broken, const std::string& folder) {
  const api::KindInfo* events = api::find_kind(api::resources::kEvents);
  for (const store::Broken& record : broken) {
    // Only the log tells of strangers' kinds: what they are called is not known here.
    if (record.resource >= api::all_kinds().size()) continue;
    const api::KindInfo& kind = api::all_kinds()[record.resource];
    const std::string now = base::format_rfc3339(api.env().now());
    const std::string ns = record.ns.empty() ? "default" : base::to_utf8(record.ns);
    apiserver::Request request;
    request.verb = apiserver::Verb::kCreate;
    request.kind = events;
    request.resource = static_cast<std::uint32_t>(events - api::all_kinds().data());
    request.ns = ns;
    request.default_manager = "kube-apiserver";
    request.user = {"system:apiserver", {"system:masters"}};
    request.body = Json::object(
        {{"metadata", Json::object({{"generateName", "quarantined."}, {"namespace", ns}})},
         {"involvedObject", Json::object({{"apiVersion", kind.resource.api_version()},
                                          {"kind", kind.kind},
                                          {"namespace", ns},
                                          {"name", base::to_utf8(record.name)}})},
         {"type", "Warning"},
         {"reason", "Quarantined"},
         {"message", base::format("the stored object could not be read ({}); its bytes are in {}", record.why, folder)},
         {"source", Json::object({{"component", "kube-apiserver"}})},
         {"firstTimestamp", now},
         {"lastTimestamp", now},
         {"count", 1}});
    api.call(std::move(request), [what = record.what](base::Result<apiserver::Answer> answer) {
      if (!answer.ok())
        base::log_error("apiserver",
                        base::format("the event of the quarantined {} was refused: {}", what, answer.error().message));
    });
  }
}

}  // namespace volcano_main
