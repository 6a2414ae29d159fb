// Where log lines go, and their form. Streams are those of the process, so servers with the same form share them.
//
// Thread-safety: any thread.
// Lifetime:      streams are never destroyed: threads log until the process ends.
#pragma once

#include <spdlog/sinks/sink.h>

#include "base/log.hpp"

namespace backplane {

// Made by the first call for the form.
spdlog::sinks::sink& log_stream(LogForm form);
// All that have been made.
void flush_log_streams();

}  // namespace backplane
