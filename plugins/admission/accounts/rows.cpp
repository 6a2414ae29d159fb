#include "accounts/rows.hpp"

#include <array>

#include "accounts/service_account.hpp"

namespace backplane::admission {
namespace {

constexpr std::array kAccountRows = {PluginRow{"ServiceAccount", &accounts::make_service_account}};

}  // namespace

std::span<const PluginRow> account_plugins() { return kAccountRows; }

}  // namespace backplane::admission
