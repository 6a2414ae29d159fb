// The output streams of log lines and their format. The streams belong to the process, and servers with the same format share them.
//
// Thread-safety: any thread.
// Lifetime:      streams are never destroyed: threads log until the process ends.
#pragma once

#include <spdlog/sinks/sink.h>

#include "base/log.hpp"

namespace backplane {

// Made by the first call for the format.
spdlog::sinks::sink& log_stream(LogForm form);
// All that have been made.
void flush_log_streams();

}  // namespace backplane
