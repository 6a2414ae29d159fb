// The output streams of log lines: one for each format. Servers with the same format share a stream.
//
// Thread-safety: any thread.
// Lifetime:      streams are never destroyed: threads log until the process ends.
#pragma once

#include <spdlog/sinks/sink.h>

#include "base/log.hpp"

namespace backplane {

// The stream for the format; the first call makes it.
spdlog::sinks::sink& log_stream(LogForm form);
// Flushes all streams that have been made.
void flush_log_streams();

}  // namespace backplane
