// Reports, every few seconds, how far the caches have been loaded at startup. A startup that takes less is not reported.
//
// Thread-safety: report_loading() from one thread; reports run on the executor.
// Lifetime:      what `look` uses outlives the executor's work.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "app/tracked_caches.hpp"
#include "backplane/core/task.hpp"

namespace backplane {

struct LoadState {
  std::size_t objects = 0, bytes = 0;
  std::vector<std::string> waiting;  // prefixes that are not loaded yet
};
LoadState load_state(const TrackedCaches& caches);

inline constexpr std::chrono::milliseconds kLoadReportPeriod{5000};

// Until nothing is waiting. `also`: receives each report, for the service manager; may be empty.
void report_loading(Executor& executor, std::function<LoadState()> look, std::function<void(const std::string&)> also,
                    std::chrono::milliseconds period = kLoadReportPeriod);

}  // namespace backplane
