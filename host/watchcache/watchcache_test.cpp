#include "storage/memory_storage.hpp"
#include "watchcache/cache_conformance.hpp"

namespace backplane {
namespace {

BackendMaker memory() {
  return {"Memory", [](const std::string&) -> Result<std::unique_ptr<StorageBackend>> { return make_memory_storage(); }};
}

INSTANTIATE_TEST_SUITE_P(Memory, CacheConformance, testing::Values(memory()), maker_name);

}  // namespace
}  // namespace backplane
