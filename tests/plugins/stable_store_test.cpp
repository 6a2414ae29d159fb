// Runs the tests of every storage backend with docs/examples/stable-store, a plugin in C: built from the current source, and as the
// archived binary of the first release with this interface (bp_storage_table).
#include <dlfcn.h>

#include "backplane/stable/storage.h"
#include "stable/table_storage.hpp"
#include "stable/tables.hpp"
#include "storage/storage_conformance.hpp"

namespace backplane {
namespace {

using Entry = const bp_plugin* (*)(bp_error*);

bp_storage_backend g_registered;

int32_t keep(bp_context*, const bp_storage_backend* backend, bp_error*) {
  g_registered = *backend;
  return 0;
}

// Returns the server's bp_storage_table with another add(), which stores the backend for the test.
const void* find_table(bp_context*, bp_str, uint32_t) {
  static const bp_storage_table kTable = [] {
    bp_storage_table table = stable::storage_table();
    table.add = keep;
    return table;
  }();
  return &kTable;
}

// Loads a plugin and never unloads it.
Result<stable::StorageProvider> load(const char* file) {
  static const bp_host kHost = [] {
    bp_host host{};
    host.struct_size = sizeof(host);
    host.table = find_table;
    host.log = [](bp_context*, int32_t, bp_str) {};
    return host;
  }();
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return internal_error(dlerror());
  const auto entry = reinterpret_cast<Entry>(dlsym(library, BP_STABLE_ENTRY));
  if (entry == nullptr) return internal_error(dlerror());
  bp_error error{};
  const bp_plugin* const plugin = entry(&error);
  if (plugin == nullptr || plugin->provision(plugin->self, &kHost, &error) != 0) return internal_error(error.message);
  return stable::StorageProvider(g_registered);
}

Result<std::unique_ptr<StorageBackend>> open_from(const Result<stable::StorageProvider>& provider, const std::string& directory) {
  if (!provider.ok()) return provider.status();
  StorageBackendConfig config;
  config.data_dir = directory;
  return stable::open_table_storage(*provider, config);
}

Result<std::unique_ptr<StorageBackend>> open_stable_store(const std::string& directory) {
  static const auto provider = load(STABLE_STORE);
  return open_from(provider, directory);
}

INSTANTIATE_TEST_SUITE_P(StableStore, StorageConformance, testing::Values(BackendMaker{"StableStore", open_stable_store}), maker_name);

#ifdef __x86_64__
Result<std::unique_ptr<StorageBackend>> open_archived_store(const std::string& directory) {
  static const auto provider = load(ARCHIVED_STORE);
  return open_from(provider, directory);
}

INSTANTIATE_TEST_SUITE_P(ArchivedStore, StorageConformance, testing::Values(BackendMaker{"ArchivedStore", open_archived_store}),
                         maker_name);
#endif

// A backend that uses the C++ wrapper of the same interface.
TEST(CppStore, ReadsWritesWatchesAndThrows) {
  OpenStore store({"OneKey", [](const std::string&) -> Result<std::unique_ptr<StorageBackend>> {
                     const auto provider = load(ONE_KEY_STORE);
                     if (!provider.ok()) return provider.status();
                     return stable::open_table_storage(*provider, {});
                   }});
  auto events = store->watch("/", 1);
  ASSERT_TRUE(events.ok());
  ASSERT_TRUE(store->can_raise_revision());
  EXPECT_TRUE(store.run(store->raise_revision(10)).ok());
  EXPECT_EQ(store.put("/k", "v"), 11);
  EXPECT_EQ(store.get("/k"), "v");
  EXPECT_EQ(store.get("/k", 11), "v");
  TxnRequest stale;
  stale.compares.push_back({"/k", 7});
  stale.puts.push_back({"/k", SharedBytes(std::string("w")), 0});
  const auto refused = store.commit(std::move(stale));
  EXPECT_FALSE(refused.committed);
  EXPECT_EQ(refused.found.at(0).mod_revision, 11);
  RangeRequest future;
  future.start = "/k";
  future.revision = 99;
  EXPECT_EQ(store.run(store->range(future)).status().reason(), Reason::kBadRequest);
  EXPECT_EQ(store.run(store->grant_lease(std::chrono::seconds(1))).status().message(), "no leases");
  EXPECT_EQ(store.next(**events, 1), "+/k=v");
  EXPECT_EQ(store->size_bytes(), 7);
  EXPECT_EQ(store->stored_form(), "protobuf");
}

}  // namespace
}  // namespace backplane
