// The plugin `audit`: the policy of --audit-policy-file, and the backends of --audit-log-* and --audit-webhook-*.
#include "backplane/plugin.hpp"

#include "backplane/host.hpp"
#include "log_sink.hpp"
#include "policy_file.hpp"
#include "webhook_sink.hpp"

namespace backplane::audit {
namespace {

class AuditPlugin final : public Plugin {
 public:
  Status provision(Host& host) override {
    auto settings = read_settings([&host](std::string_view name) { return host.flag(name); });
    if (!settings.ok()) return std::move(settings).status();
    std::shared_ptr<const CompiledPolicy> policy;
    if (!settings->policy_file.empty()) {
      auto loaded = load_policy(settings->policy_file);
      if (!loaded.ok()) return bad_request("loading audit policy file: " + loaded.status().message());
      if (!loaded->problems.empty()) {
        host.logger().warn("Audit policy contains errors, falling back to lenient decoding: strict decoding error: " + loaded->problems);
      }
      policy = std::move(loaded->policy);
    }
    if (settings->log) {
      if (Status status = add_log(host, *settings->log, policy); !status.ok()) return status;
    }
    return settings->webhook ? add_webhook(host, *settings->webhook, policy) : Status();
  }

 private:
  using PolicyRef = std::shared_ptr<const CompiledPolicy>;

  static void warn_unused(Host& host, const std::string& backend) {
    host.logger().info("No audit policy file provided, no events will be recorded for " + backend + " backend");
  }

  static Status add_log(Host& host, const LogSettings& settings, const PolicyRef& policy) {
    if (Status status = LogFile::ensure(settings.file); !status.ok()) return status;
    if (policy == nullptr) {
      warn_unused(host, "log");
      return {};
    }
    return host.register_audit(
        {policy, std::make_shared<LogSink>(settings, host.executor("log"), host.executor("rotation"), host.logger())});
  }

  static Status add_webhook(Host& host, const WebhookSettings& settings, const PolicyRef& policy) {
    if (policy == nullptr) {
      warn_unused(host, "webhook");
      return {};
    }
    auto poster = WebhookPoster::make(host, settings.kubeconfig, settings.first_pause);
    if (!poster.ok()) return bad_request("initializing audit webhook: " + poster.status().message());
    Executor& executor = host.executor("webhook");
    const auto sink = std::make_shared<WebhookSink>(settings, std::move(*poster), executor, host.logger());
    return host.register_audit({policy, sink});
  }
};

}  // namespace
}  // namespace backplane::audit

BACKPLANE_PLUGIN(backplane::audit::AuditPlugin)
