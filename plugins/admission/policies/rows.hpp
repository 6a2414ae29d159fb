// The admission plugins MutatingAdmissionPolicy and ValidatingAdmissionPolicy.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

std::span<const PluginRow> policy_plugins();

}  // namespace backplane::admission
