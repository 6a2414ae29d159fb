// --enable-logs-handler: GET /logs/ shows the log files of the machine (/var/log), folders as a page of links, files as they are.  Access
// is subject to authorization of the path; symbolic links are followed, because only the owner of /var/log can create them.
//
// Thread-safety: any number of requests at once; files are read on the blocking executor.
// Lifetime:      independent of the server.
// Errors:        404 for a path that does not exist, is neither a file nor a folder, or has a name of more than 255 bytes; 403 for a file
// that may not be read; 400 for "..".
#pragma once

#include <memory>
#include <string>

#include "backplane/points/http.hpp"

namespace backplane {

// For "/logs" and everything below it.
std::shared_ptr<HttpHandler> make_logs_handler(std::string folder = "/var/log");

}  // namespace backplane
