// --enable-logs-handler: GET /logs/ serves the log files of the machine (/var/log). The response for a folder is a page of links, the
// response for a file is the file. Access is subject to authorization of the path. Symbolic links are followed, because only the owner of
// /var/log can create them.
//
// Thread-safety: any number of requests at once; files are read on the blocking executor.
// Lifetime:      independent of the server.
// Errors:        404 for a path that does not exist, is neither a file nor a folder, or has more than 255 bytes.
//                403 for a file that may not be read.
//                400 for "..".
//                405 for methods other than GET and HEAD.
#pragma once

#include <memory>
#include <string>

#include "backplane/points/http.hpp"

namespace backplane {

// Returns the handler of /logs and of all paths below it.
std::shared_ptr<HttpHandler> make_logs_handler(std::string folder = "/var/log");

}  // namespace backplane
