#include "connections/clients.hpp"

#include <algorithm>
#include <cstdlib>

#include "connections/throttle.hpp"

namespace backplane::core {
namespace {

// Returns --max-connection-bytes-per-sec; 0: no limit.
std::int64_t stream_rate(const Host& host) { return std::atoll(host.flag("max-connection-bytes-per-sec").value_or("0").c_str()); }

}  // namespace

Result<std::shared_ptr<HttpClient>> Clients::of(const std::string& server) {
  const std::lock_guard lock(mutex_);
  if (const auto found = known_.find(server); found != known_.end()) {
    found->second.used = ++uses_;
    return found->second.client;
  }
  ClientConfig config = like_;
  config.server = server;
  auto made = host_.make_client(std::move(config));
  if (!made.ok()) return made;
  *made = throttled(std::move(*made), stream_rate(host_));
  if (known_.size() >= kMost) {
    known_.erase(
        std::min_element(known_.begin(), known_.end(), [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
  }
  known_.emplace(server, Known{*made, ++uses_});
  return made;
}

}  // namespace backplane::core
