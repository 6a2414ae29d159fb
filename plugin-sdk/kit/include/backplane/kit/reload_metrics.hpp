// The metrics of a configuration file that is reloaded while the server runs, with kube-apiserver's names.
//
//   kit::ReloadMetrics metrics({"apiserver_x_config_controller", "[ALPHA] Total …", "[ALPHA] Timestamp …", "[ALPHA] Information …"}, id);
//   metrics.in_effect(kit::content_hash(text));
//
// Thread-safety: one task at a time.
// Lifetime:      the metrics live as long as the process.
// Source:        k8s.io/apiserver/pkg/server/options/{authenticationconfig,authorizationconfig,encryptionconfig}/metrics.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/metrics.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

struct ReloadMetricTexts {
  std::string_view prefix;                  // the prefix of the metrics' names
  std::string_view total, last_time, info;  // help texts
};

class ReloadMetrics {
 public:
  // `server_hash`: content_hash() of server_id(); the value of a label.
  ReloadMetrics(const ReloadMetricTexts& texts, std::string server_hash);

  // Records the file that is in effect. `hash`: content_hash() of the file.
  void in_effect(std::string hash);
  // Counts a reload.
  void reloaded(bool success);

 private:
  Metric& total_;
  Metric& last_time_;
  Metric& info_;
  const std::string server_hash_;
  std::string config_hash_;
};

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
