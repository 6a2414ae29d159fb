// The flags --audit-*, read and validated.
//
// Thread-safety: pure functions.
// Errors:        kBadRequest worded as upstream's; one error contains all problems.
// Source:        k8s.io/apiserver/pkg/server/options/audit.go.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "log_file.hpp"

namespace backplane::audit {

enum class Mode : unsigned char { kBatch, kBlocking, kBlockingStrict };

struct BatchSettings {
  Mode mode = Mode::kBatch;
  std::size_t buffer_size = 10'000;
  std::size_t max_events = 1;
  std::chrono::nanoseconds max_wait{};
  bool throttle = false;
  double qps = 0;
  int burst = 0;
};

struct TruncateSettings {
  bool enabled = false;
  std::size_t max_event_bytes = 102'400;
};

struct LogSettings {
  LogFileOptions file;
  bool legacy = false;
  BatchSettings batch;
  TruncateSettings truncate;
};

struct WebhookSettings {
  std::string kubeconfig;
  std::chrono::nanoseconds first_pause{};
  BatchSettings batch;
  TruncateSettings truncate;
};

struct Settings {
  std::string policy_file;                 // empty: no events
  std::optional<LogSettings> log;          // --audit-log-path
  std::optional<WebhookSettings> webhook;  // --audit-webhook-config-file
};

// `flag`: the text of a flag by its name; nullopt: not set.
using FlagText = std::function<std::optional<std::string>(std::string_view name)>;
Result<Settings> read_settings(const FlagText& flag);

}  // namespace backplane::audit
