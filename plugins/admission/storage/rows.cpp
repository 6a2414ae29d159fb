#include "storage/rows.hpp"

#include <array>

#include "storage/claims.hpp"
#include "storage/in_use_protection.hpp"

namespace backplane::admission {
namespace {

constexpr std::array kStorageRows = {
    PluginRow{"DefaultStorageClass", &storage::make_default_storage_class},
    PluginRow{"StorageObjectInUseProtection", &storage::make_in_use_protection},
    PluginRow{"PersistentVolumeClaimResize", &storage::make_claim_resize},
};

}  // namespace

std::span<const PluginRow> storage_plugins() { return kStorageRows; }

}  // namespace backplane::admission
