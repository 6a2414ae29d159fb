// The authorizers and the plugin that bench/plugin_calls.cpp calls, in another source so that the compiler inlines no call.
#pragma once

#include <memory>

#include "backplane/points/authorization.hpp"
#include "backplane/stable/plugin.h"

namespace bench {

// decide_now() of the first and authorize() of the second have no opinion, and do nothing else.
std::shared_ptr<backplane::Authorizer> quick_authorizer();
std::shared_ptr<backplane::Authorizer> waiting_authorizer();
// A plugin of the stable tier with the authorizer `decide`.
const bp_plugin& stable_plugin();
int32_t decide(void* self, const bp_access* access, bp_output* reason, bp_error* error);

}  // namespace bench
