// Logs, every few seconds, how far the caches have been loaded at startup. Logs nothing if the caches are loaded within the first period.
//
// Thread-safety: report_loading() from one thread; reports run on the executor.
// Lifetime:      the objects that `look` and `also` use outlive the executor's work.
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

// Reports until LoadState::waiting is empty. `also` receives the text of each report, for the service manager; it may be empty.
void report_loading(Executor& executor, std::function<LoadState()> look, std::function<void(const std::string&)> also,
                    std::chrono::milliseconds period = kLoadReportPeriod);

}  // namespace backplane
