// The authorizers and the plugin that bench/plugin_calls.cpp calls.  They are in a source file of their own, so that the compiler cannot
// inline the calls.
#pragma once

#include <memory>

#include "backplane/points/authorization.hpp"
#include "backplane/stable/plugin.h"

namespace bench {

// decide_now() of the first authorizer and authorize() of the second do nothing but return "no opinion".
std::shared_ptr<backplane::Authorizer> quick_authorizer();
std::shared_ptr<backplane::Authorizer> waiting_authorizer();
// A plugin of the stable tier with the authorizer `decide`.
const bp_plugin& stable_plugin();
int32_t decide(void* self, const bp_access* access, bp_output* reason, bp_error* error);

}  // namespace bench
