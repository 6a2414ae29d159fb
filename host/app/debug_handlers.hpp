// Handlers of /debug/, with authorization on the secure port and without it on the debug socket.
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

// Lets only /debug/ through to `chain`: the unprotected socket must not serve the API.
std::shared_ptr<HttpHandler> make_debug_only_handler(HttpHandler& chain, const Activities& activities);

// 0–1 info, 2 details, 3–5 debug, 6 and more trace.
void set_verbosity(int level);
// The log level of a verbosity (-v).
std::string log_level(int verbosity);

}  // namespace backplane
