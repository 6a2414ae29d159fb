#include "base/posted_work.hpp"

#include "backplane/core/log_limit.hpp"
#include "base/caught.hpp"
#include "base/log.hpp"

namespace backplane {

void log_thrown_by_posted_work(const std::string& executor) noexcept {
  static LogLimit limit;
  const Caught thrown = caught();
  const auto suppressed = limit.admit();
  if (!suppressed) return;
  base_log().error("a function posted to an executor threw executor={} suppressed={} error={:?}{}", executor, *suppressed, thrown.what,
                   thrown.stack);
}

}  // namespace backplane
