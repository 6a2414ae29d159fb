#include "accounts/account_metrics.hpp"

#include <string>

#include "backplane/core/metrics.hpp"

namespace backplane::authentication {
namespace {

MetricCell* account_cell(const char* name, const char* help) {
  return MetricCell::of(Metric::counter("serviceaccount_" + std::string(name), help, {}), {});
}

}  // namespace

AccountMetrics::AccountMetrics()
    : legacy(account_cell("legacy_tokens_total", "Cumulative legacy service account tokens used")),
      stale(account_cell("stale_tokens_total", "Cumulative stale projected service account tokens used")),
      valid(account_cell("valid_tokens_total", "Cumulative valid projected service account tokens used")),
      legacy_manual(account_cell("legacy_manual_token_uses_total", "Cumulative manually created legacy tokens used")),
      legacy_auto(account_cell("legacy_auto_token_uses_total", "Cumulative auto-generated legacy tokens used")),
      invalidated_legacy(account_cell("invalid_legacy_auto_token_uses_total", "Cumulative invalid auto-generated legacy tokens used")) {}

}  // namespace backplane::authentication
