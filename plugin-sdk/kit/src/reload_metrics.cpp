#include "backplane/kit/reload_metrics.hpp"

#include <chrono>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

std::string metric_name(const ReloadMetricTexts& texts, std::string_view rest) { return std::string(texts.prefix).append(rest); }

}  // namespace

ReloadMetrics::ReloadMetrics(const ReloadMetricTexts& texts, std::string server_hash)
    : total_(Metric::counter(metric_name(texts, "_automatic_reloads_total"), texts.total, {"status", "apiserver_id_hash"})),
      last_time_(
          Metric::gauge(metric_name(texts, "_automatic_reload_last_timestamp_seconds"), texts.last_time, {"status", "apiserver_id_hash"})),
      info_(Metric::gauge(metric_name(texts, "_last_config_info"), texts.info, {"apiserver_id_hash", "hash"})),
      server_hash_(std::move(server_hash)) {}

void ReloadMetrics::in_effect(std::string hash) {
  if (!config_hash_.empty() && config_hash_ != hash) info_.forget({server_hash_, config_hash_});
  config_hash_ = std::move(hash);
  info_.set({server_hash_, config_hash_}, 1);
}

void ReloadMetrics::reloaded(bool success) {
  const std::string_view status = success ? "success" : "failure";
  total_.add({status, server_hash_});
  last_time_.set({status, server_hash_}, std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
