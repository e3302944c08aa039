// A start on a damaged database. The input is a list of edits of a good one: it opens and serves, or is refused.
#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include "api/kinds.h"
#include "client/fake_env_for_tests.h"
#include "rt/files/files.h"
#include "rt/storage/lmdb_file.h"
#include "store/store.h"
#include "targets.h"

namespace fuzz {
namespace {

constexpr std::size_t kMapBytes = std::size_t{1} << 24;
constexpr std::size_t kEditBytes = 5;  // a 32-bit place, then the byte

std::uint32_t maps_resource() {
  return static_cast<std::uint32_t>(api::find_kind(api::resources::kConfigMaps) - api::all_kinds().data());
}

api::Json map_named(const std::string& name, std::size_t bytes) {
  return api::Json::object({{"metadata", api::Json::object({{"namespace", "n"}, {"name", name}})},
                            {"data", api::Json::object({{"v", std::string(bytes, 'x')}})}});
}

// The folder of this process, and the file of a good database.
struct Ground {
  std::string folder;
  std::string good;

  Ground() {
    char name[] = "/tmp/volcano-fuzz-database-XXXXXX";
    folder = mkdtemp(name);
    client::testing::FakeEnv env;
    {
      const auto kv = *rt::open_lmdb(folder, kMapBytes);
      const auto store = *store::Store::open(env, *kv, {.history_events_max = 20});
      for (int i = 0; i < 60; ++i) {
        store->put(maps_resource(), map_named("m" + std::to_string(i % 25), i % 10 == 0 ? 9000 : 50), nullptr);
        env.settle();
      }
    }
    good = *rt::read_file(folder + "/data.mdb");
  }
  ~Ground() { [[maybe_unused]] const auto gone = rt::remove_tree(folder); }
};

std::string edited(std::string bytes, std::string_view edits) {
  for (; edits.size() >= kEditBytes; edits.remove_prefix(kEditBytes)) {
    std::uint32_t at;
    std::memcpy(&at, edits.data(), sizeof at);
    // The highest places cut the file.
    if (at >= 0xFFFF0000u)
      bytes.resize(std::min(bytes.size(), std::size_t{at & 0xFFFF} * 64));
    else if (!bytes.empty())
      bytes[at % bytes.size()] = edits[kEditBytes - 1];
  }
  return bytes;
}

}  // namespace

void database(std::string_view input) {
  static const Ground ground;
  const std::string file = ground.folder + "/data.mdb";
  std::filesystem::remove(ground.folder + "/lock.mdb");
  promise(rt::write_file(file, edited(ground.good, input), 0600).ok(), "the file is written");
  std::size_t seen = 0;
  for (const rt::LmdbState state : {rt::LmdbState::kNewest, rt::LmdbState::kPrevious})
    promise(rt::check_lmdb_file(
                file, state, [&](std::string_view key, std::string_view value) { seen += key.size() + value.size(); })
                .ok(),
            "any file can be looked through");
  const auto kv = rt::open_lmdb(ground.folder, kMapBytes);
  if (!kv.ok()) return;
  client::testing::FakeEnv env;
  auto opened = store::Store::open(env, **kv);
  promise(opened.ok(), "the store opens what the database opens", opened.ok() ? "" : opened.error().message);
  store::Store& store = **opened;
  promise(store.remove_broken().ok(), "broken records are set aside");
  store.for_each(maps_resource(), "", "", store::View::kDurable, [&](const store::ObjectPtr& object) {
    seen += object->json().dump().size();
    return true;
  });
  bool kept = false;
  store.put(maps_resource(), map_named("new", 5000), [&](base::Result<store::ObjectPtr> put) { kept = put.ok(); });
  env.settle();
  promise(kept && seen > 0, "a write is taken afterwards");
}

}  // namespace fuzz
