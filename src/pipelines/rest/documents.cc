// Archives are looked through by their headers, and only the one file is unpacked, up to the bound of a document.
#include "pipelines/rest/documents.h"

#include <cstdint>
#include <optional>

#include "api/json/yaml.h"
#include "base/format.h"
#include "base/trim.h"
#include "pipelines/argo/run_workflow.h"
#include "pipelines/ir/pipeline.h"
#include "pipelines/rest/call.h"
#include "rt/http/gzip.h"

namespace pipelines::rest {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kEntriesMax = 1'000, kTarMax = std::size_t{16} << 20;

bool is_document_name(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml") || name.ends_with(".json");
}

base::Error not_one(std::string_view archive, std::size_t found) {
  return make_error(Code::kInvalid,
                    base::format("the {} holds {} YAML or JSON files, and not one pipeline.yaml among them", archive,
                                 found == 0 ? "no" : "several"));
}

// The choice among the files of an archive, as the SDK makes it, too.
struct Choice {
  std::size_t count = 0;
  bool is_sure = false;  // it is called pipeline.yaml

  // Whether this file takes the place of the one before it.
  bool take(std::string_view name) {
    if (!is_document_name(name) || is_sure) return false;
    ++count;
    is_sure = name == "pipeline.yaml";
    return is_sure || count == 1;
  }
  bool is_made() const { return is_sure || count == 1; }
};

// Little-endian numbers; 0 behind the end.
std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i)
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

struct ZipEntry {
  std::uint32_t method = 0, packed = 0, unpacked = 0, at = 0;
};

base::Result<std::string> zip_content(std::string_view zip, const ZipEntry& entry) {
  constexpr std::size_t kHead = 30;
  const base::Error broken = make_error(Code::kInvalid, "the zip is broken");
  if (entry.at > zip.size() || zip.size() - entry.at < kHead || !zip.substr(entry.at).starts_with("PK\x03\x04"))
    return broken;
  const std::size_t begin = entry.at + kHead + number_at(zip, entry.at + 26, 2) + number_at(zip, entry.at + 28, 2);
  if (begin > zip.size() || zip.size() - begin < entry.packed) return broken;
  if (entry.unpacked > kDocumentBytesMax)
    return make_error(Code::kTooLarge, base::format("the file in the zip has {} bytes, and a pipeline has {} at most",
                                                    entry.unpacked, kDocumentBytesMax));
  const std::string_view packed = zip.substr(begin, entry.packed);
  if (entry.method == 0) return std::string(packed);
  if (entry.method == 8) return rt::inflate(packed, kDocumentBytesMax);
  return make_error(Code::kInvalid, base::format("the zip is packed by method {}, which is not known", entry.method));
}

base::Result<std::string> from_zip(std::string_view zip) {
  constexpr std::size_t kEnd = 22, kCommentMax = 65'535, kRow = 46;
  const std::size_t end = zip.rfind("PK\x05\x06");
  if (end == std::string_view::npos || zip.size() - end < kEnd || zip.size() - end > kEnd + kCommentMax)
    return make_error(Code::kInvalid, "the zip has no directory");
  const std::size_t entries = number_at(zip, end + 10, 2);
  if (entries > kEntriesMax)
    return make_error(Code::kInvalid, base::format("the zip holds {} files, and {} are read", entries, kEntriesMax));
  std::size_t at = number_at(zip, end + 16, 4);
  Choice choice;
  ZipEntry chosen;
  for (std::size_t i = 0; i < entries; ++i) {
    if (at > zip.size() || zip.size() - at < kRow || !zip.substr(at).starts_with("PK\x01\x02"))
      return make_error(Code::kInvalid, "the zip's directory is broken");
    const std::size_t name = number_at(zip, at + 28, 2);
    if (zip.size() - at - kRow < name) return make_error(Code::kInvalid, "the zip's directory is broken");
    if (choice.take(zip.substr(at + kRow, name)))
      chosen = {number_at(zip, at + 10, 2), number_at(zip, at + 20, 4), number_at(zip, at + 24, 4),
                number_at(zip, at + 42, 4)};
    at += kRow + name + number_at(zip, at + 30, 2) + number_at(zip, at + 32, 2);
  }
  if (!choice.is_made()) return not_one("zip", choice.count);
  return zip_content(zip, chosen);
}

std::optional<std::size_t> octal(std::string_view text) {
  std::size_t value = 0;
  for (const char c : base::trim(text.substr(0, text.find('\0')))) {
    if (c < '0' || c > '7' || value > kTarMax) return std::nullopt;
    value = value * 8 + static_cast<std::size_t>(c - '0');
  }
  return value;
}

base::Result<std::string> from_tar(std::string_view tar) {
  constexpr std::size_t kBlock = 512;
  Choice choice;
  std::string_view chosen;
  for (std::size_t at = 0, entries = 0; tar.size() - at >= kBlock && tar[at] != '\0'; ++entries) {
    const std::string_view head = tar.substr(at, kBlock);
    const auto size = octal(head.substr(124, 12));
    if (!size || entries >= kEntriesMax || *size > tar.size() - at - kBlock)
      return make_error(Code::kInvalid, "the tar.gz is broken, or has too many files");
    const std::string_view name = head.substr(0, 100);
    const bool is_file = head[156] == '0' || head[156] == '\0';
    if (is_file && choice.take(name.substr(0, name.find('\0')))) chosen = tar.substr(at + kBlock, *size);
    const std::size_t step = kBlock + (*size + kBlock - 1) / kBlock * kBlock;
    if (step > tar.size() - at) break;
    at += step;
  }
  if (!choice.is_made()) return not_one("tar.gz", choice.count);
  return std::string(chosen);
}

bool is_tar(std::string_view bytes) { return bytes.size() > 262 && bytes.substr(257, 5) == "ustar"; }

}  // namespace

Json Documents::shown() const {
  if (platform.is_null()) return pipeline;
  return Json::object({{"pipeline_spec", pipeline}, {"platform_spec", platform}});
}

base::Result<std::string> unpacked(std::string_view file) {
  for (const std::string_view begin : {"PK\x03\x04", "PK\x05\x06"})  // the second one is of an empty zip
    if (file.starts_with(begin)) return from_zip(file);
  if (!rt::is_gzip(file)) return std::string(file);
  auto inner = rt::gunzip(file, kTarMax);
  if (!inner.ok()) return make_error(Code::kInvalid, "the tar.gz cannot be unpacked: " + inner.error().message);
  return is_tar(*inner) ? from_tar(*inner) : std::move(inner);
}

base::Status check_documents(const Documents& documents) {
  if (argo::is_workflow(documents.pipeline)) return argo::check_document(documents.pipeline);
  if (!documents.pipeline.is_object())
    return make_error(Code::kInvalid, "the pipeline is not an object, but " + documents.pipeline.dump().substr(0, 60));
  if (const std::string_view kind = documents.pipeline["kind"].as_string(); !kind.empty())
    return make_error(Code::kInvalid,
                      base::format("a {} is not a pipeline: {}", kind,
                                   kind == "CronWorkflow" || kind.ends_with("WorkflowTemplate")
                                       ? "what it makes is a Workflow, which may be uploaded, and run at "
                                         "times by a recurring run"
                                       : "a compiled pipeline or a Workflow of Argo is one"));
  if (documents.pipeline["implementation"].is_object() && !documents.pipeline.has("root"))
    return make_error(Code::kInvalid,
                      "this is the file of a component, and not a compiled pipeline: load it with the SDK "
                      "(kfp.components.load_component_from_file), and compile it");
  auto read = read_pipeline(documents.pipeline, documents.platform);
  return read.ok() ? base::Status() : base::Status(read.take_error());
}

base::Result<Documents> read_documents(std::string_view file) {
  TRY(const std::string text, unpacked(file));
  if (text.size() > kDocumentBytesMax)
    return make_error(Code::kTooLarge,
                      base::format("the pipeline has {} bytes, and {} are the most", text.size(), kDocumentBytesMax));
  auto parsed = api::parse_yaml_documents(text, {.letters_are_texts = true});  // parameters are called x and y
  if (!parsed.ok()) return make_error(Code::kInvalid, "the pipeline is not YAML: " + parsed.error().message);
  if (parsed->empty()) return make_error(Code::kInvalid, "the pipeline is empty");
  Documents documents{std::move((*parsed)[0].value)};
  for (std::size_t i = 1; i < parsed->size(); ++i) {
    const Json& more = (*parsed)[i].value;
    if (!more.is_object())
      return make_error(Code::kInvalid, base::format("the document in line {} is not an object", (*parsed)[i].line));
    for (const Json::Member& one : more.members()) documents.platform.set(one.name(), one.value);
  }
  TRY_VOID(check_documents(documents));
  return documents;
}

base::Result<Documents> documents_of(const Json& given) {
  Documents documents{given};
  if (const Json& inner = member(given, "pipeline_spec"); inner.is_object())
    documents = {inner, member(given, "platform_spec")};
  TRY_VOID(check_documents(documents));
  return documents;
}

}  // namespace pipelines::rest
