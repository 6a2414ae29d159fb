// Preconditions of routing for a plugin's registrations, checked when they are registered.
//
// Thread-safety: functions of their arguments.
// Errors:        kBadRequest that names the problem. too_late() is the kServiceUnavailable of a registration after provision().
#pragma once

#include <string>

#include <backplane/host.hpp>
#include "backplane/points/paths.hpp"
#include "backplane/rest/api_group.hpp"

namespace backplane {

Status too_late(const std::string& kind);
Status no_object(const char* kind);
Status check_path(const PathRoute& route);
Status check_group(const APIGroupInfo& info);
Status check_published(const PublishedResource& resource);
Status check_forwarded(const ForwardedVersion& version);

}  // namespace backplane
