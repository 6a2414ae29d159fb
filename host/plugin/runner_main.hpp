// The process of a plugin in a runner: `backplane plugin runner FILE NAME VERSION SHOWN`, started by the server.
//
// Thread-safety: main thread.
// Errors:        exit code 1 if the server has not started it; otherwise it ends when the server closes the channel.
#pragma once

#include <string>
#include <vector>

namespace backplane {

// `words`: the file to load, the plugin's name and version, and the file's name for messages. Does not return.
[[noreturn]] void run_runner(const std::vector<std::string>& words);

}  // namespace backplane
