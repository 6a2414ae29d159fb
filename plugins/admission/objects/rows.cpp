#include "objects/rows.hpp"

#include <array>

#include "objects/always.hpp"

namespace backplane::admission {
namespace {

constexpr std::array kRows = {
    PluginRow{"AlwaysAdmit", &make_always_admit},
    PluginRow{"AlwaysDeny", &make_always_deny},
};

}  // namespace

std::span<const PluginRow> object_plugins() { return kRows; }

}  // namespace backplane::admission
