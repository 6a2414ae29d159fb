// rest_client_…: the calls that this server makes to other servers, and to itself.
//
// Thread-safety: one CallMetrics belongs to one call.
// Lifetime:      a value.
// Errors:        none. The first 100 hosts have their own series; further ones share the host "other", because every node may be one.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace backplane {

// The host of calls to this server.
inline constexpr std::string_view kLoopbackHost = "localhost";

class CallMetrics {
 public:
  // Begins the call.
  CallMetrics(std::string_view method, std::string_view host);
  void sent(std::size_t bytes) const;
  // The response head has arrived, or never will.
  void answered(int code) const;
  void failed() const;

 private:
  void end(std::string_view code) const;

  std::string method_, host_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace backplane
