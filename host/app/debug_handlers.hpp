// Handlers of the paths under /debug/. The secure port authorizes their requests; the debug socket does not.
//
// Thread-safety: any number of requests at once.
// Lifetime:      handlers are shared with the route table.
#pragma once

#include <vector>

#include "app/profile_handlers.hpp"
#include "backplane/host.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/paths.hpp"

namespace backplane {

// /debug/flags/v (PUT sets the log verbosity) and /debug/pprof/.
std::vector<PathRoute> debug_routes(const Activities& activities, bool on_socket = false);

// The handler of the debug socket. It serves debug_routes(), and forwards other paths under /debug/ to `chain`. /debug/store and all paths
// outside /debug/ get 404, because the socket does not authenticate its clients.
std::shared_ptr<HttpHandler> make_debug_only_handler(HttpHandler& chain, const Activities& activities);

// Sets the log level for a verbosity: 0 and 1 are info, 2 details, 3 to 5 debug, 6 and more trace.
void set_verbosity(int level);
// The name of the log level of a verbosity (-v).
std::string log_level(int verbosity);

}  // namespace backplane
