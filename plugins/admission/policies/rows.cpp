#include "policies/rows.hpp"

#include <array>

#include "policies/mutating.hpp"
#include "policies/validating.hpp"

namespace backplane::admission {
namespace {

constexpr std::array kPolicyRows = {
    PluginRow{"MutatingAdmissionPolicy", &policies::make_mutating_policies},
    PluginRow{"ValidatingAdmissionPolicy", &policies::make_validating_policies},
};

}  // namespace

std::span<const PluginRow> policy_plugins() { return kPolicyRows; }

}  // namespace backplane::admission
