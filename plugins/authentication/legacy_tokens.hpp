// kube-system/kube-apiserver-legacy-service-account-token-tracking: since when the use of service account tokens that never expire is
// being noted.
//
// Thread-safety: as MaintainedConfigMap.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "maintained_config_map.hpp"

namespace backplane::authentication {

// "2024-02-29", and nothing beside it.
bool is_date(std::string_view text);

class LegacyTokenTracking final : public MaintainedConfigMap {
 public:
  explicit LegacyTokenTracking(Host& host);

 protected:
  // It is made at most every half hour: servers of another mind, who remove it, would have a quarrel of it.
  Result<std::optional<Object>> wanted(const Object* data) override;
  void made() override { next_ = std::chrono::steady_clock::now() + kPause; }

 private:
  static constexpr std::chrono::minutes kPause{30};
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace backplane::authentication
