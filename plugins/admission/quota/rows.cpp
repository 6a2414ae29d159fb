#include "quota/rows.hpp"

#include <array>

#include "quota/resource_quota.hpp"

namespace backplane::admission {
namespace {

constexpr std::array kQuotaRows = {
    PluginRow{"ResourceQuota", &make_resource_quota},
};

}  // namespace

std::span<const PluginRow> quota_plugins() { return kQuotaRows; }

}  // namespace backplane::admission
