// Runs the tests of every storage backend with the example backend of the guide.
#include "simple_store.hpp"
#include "storage/storage_conformance.hpp"

namespace backplane {
namespace {

INSTANTIATE_TEST_SUITE_P(SimpleStore, StorageConformance,
                         testing::Values(BackendMaker{"SimpleStore", [](const std::string&) { return open_simple_store(); }}), maker_name);

}  // namespace
}  // namespace backplane
