// Maintains the ConfigMap kube-system/kube-apiserver-legacy-service-account-token-tracking. It contains the date since which the use of
// service account tokens without expiry is recorded.
//
// Thread-safety: as MaintainedConfigMap.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "maintained_config_map.hpp"

namespace backplane::authentication {

// Returns true for a date like "2024-02-29" without a time.
bool is_date(std::string_view text);

class LegacyTokenTracking final : public MaintainedConfigMap {
 public:
  explicit LegacyTokenTracking(Host& host);

 protected:
  // Creates the ConfigMap at most once in half an hour, because other servers may remove it each time.
  Result<std::optional<Object>> wanted(const Object* data) override;
  void made() override { next_ = std::chrono::steady_clock::now() + kPause; }

 private:
  static constexpr std::chrono::minutes kPause{30};
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace backplane::authentication
