// Telling systemd that the service is up (Type=notify).
//
// Thread-safety: start-up, one thread: it changes the environment.
#pragma once

#include "backplane/core/status.hpp"

namespace backplane {

// Sends `state` to $NOTIFY_SOCKET and unsets it, so that no child inherits it.  Success when there is no such socket.
Status sd_notify(const std::string& state);

}  // namespace backplane
