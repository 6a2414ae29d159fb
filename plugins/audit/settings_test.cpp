// The flags --audit-*.
#include "settings.hpp"

#include <gtest/gtest.h>

#include <map>

namespace backplane::audit {
namespace {

using Flags = std::map<std::string, std::string, std::less<>>;

Result<Settings> read(Flags changed) {
  Flags flags{{"audit-policy-file", "/p"},
              {"audit-log-path", "/l"},
              {"audit-log-mode", "blocking"},
              {"audit-log-format", "json"},
              {"audit-log-version", "audit.k8s.io/v1"},
              {"audit-log-maxage", "366"},
              {"audit-log-maxbackup", "100"},
              {"audit-log-maxsize", "100"},
              {"audit-log-compress", "false"},
              {"audit-log-batch-buffer-size", "10000"},
              {"audit-log-batch-max-size", "1"},
              {"audit-log-truncate-max-event-size", "102400"},
              {"audit-log-truncate-max-batch-size", "10485760"},
              {"audit-webhook-mode", "batch"},
              {"audit-webhook-version", "audit.k8s.io/v1"},
              {"audit-webhook-batch-buffer-size", "10000"},
              {"audit-webhook-batch-max-size", "400"},
              {"audit-webhook-batch-max-wait", "30s"},
              {"audit-webhook-batch-throttle-enable", "true"},
              {"audit-webhook-batch-throttle-qps", "10"},
              {"audit-webhook-batch-throttle-burst", "15"},
              {"audit-webhook-initial-backoff", "10s"},
              {"audit-webhook-batch-initial-backoff", "10s"},
              {"audit-webhook-truncate-max-event-size", "102400"},
              {"audit-webhook-truncate-max-batch-size", "10485760"}};
  for (auto& [name, value] : changed) flags[name] = value;
  return read_settings([&](std::string_view name) -> std::optional<std::string> {
    const auto found = flags.find(name);
    return found == flags.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string error_of(Flags changed) {
  auto settings = read(std::move(changed));
  return settings.ok() ? "" : settings.status().message();
}

TEST(AuditSettings, BackendsAreOnWithTheirFlags) {
  auto settings = read({});
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  EXPECT_EQ(settings->policy_file, "/p");
  ASSERT_TRUE(settings->log.has_value());
  EXPECT_FALSE(settings->webhook.has_value());
  EXPECT_EQ(settings->log->batch.mode, Mode::kBlocking);
  EXPECT_EQ(settings->log->file.max_bytes, 100u << 20);
  auto webhook = read({{"audit-log-path", ""}, {"audit-webhook-config-file", "/k"}});
  ASSERT_TRUE(webhook.ok()) << webhook.status().message();
  EXPECT_FALSE(webhook->log.has_value());
  EXPECT_EQ(webhook->webhook->batch.max_wait, std::chrono::seconds(30));
  EXPECT_EQ(webhook->webhook->batch.qps, 10);
  EXPECT_EQ(webhook->webhook->first_pause, std::chrono::seconds(10));
  auto former = read({{"audit-webhook-config-file", "/k"}, {"audit-webhook-batch-initial-backoff", "3s"}});
  EXPECT_EQ(former->webhook->first_pause, std::chrono::seconds(3));
  auto later = read({{"audit-webhook-config-file", "/k"}, {"audit-webhook-initial-backoff", "2s"}});
  EXPECT_EQ(later->webhook->first_pause, std::chrono::seconds(2));
}

TEST(AuditSettings, InvalidValuesAreErrors) {
  const std::pair<Flags, std::string_view> cases[] = {
      {{{"audit-log-mode", "x"}}, "invalid audit log mode x, allowed modes are \"batch,blocking,blocking-strict\""},
      {{{"audit-log-mode", "batch"}, {"audit-log-batch-buffer-size", "0"}},
       "invalid audit batch log buffer size 0, must be a positive number"},
      {{{"audit-log-mode", "batch"}, {"audit-log-batch-max-size", "-1"}},
       "invalid audit batch log max batch size -1, must be a positive number"},
      {{{"audit-log-mode", "batch"}, {"audit-log-batch-throttle-enable", "true"}},
       "invalid audit batch log throttle QPS 0, must be a positive number"},
      {{{"audit-log-mode", "batch"}, {"audit-log-batch-throttle-enable", "true"}, {"audit-log-batch-throttle-qps", "1"}},
       "invalid audit batch log throttle burst 0, must be a positive number"},
      {{{"audit-log-truncate-max-event-size", "0"}}, "invalid audit truncate log max event size 0, must be a positive number"},
      {{{"audit-log-truncate-max-batch-size", "7"}},
       "invalid audit truncate log max batch size 7, must be greater than max event size (102400)"},
      {{{"audit-log-version", "audit.k8s.io/v1beta1"}}, "invalid group version, allowed versions are [\"audit.k8s.io/v1\"]"},
      {{{"audit-log-version", "a/b/c"}}, "unexpected GroupVersion string: a/b/c"},
      {{{"audit-log-format", "xml"}}, "invalid audit log format xml, allowed formats are \"legacy,json\""},
      {{{"audit-log-maxage", "-1"}}, "--audit-log-maxage -1 can't be a negative number"},
      {{{"audit-log-maxbackup", "-1"}, {"audit-log-maxsize", "-2"}},
       "[--audit-log-maxbackup -1 can't be a negative number, --audit-log-maxsize -2 can't be a negative number]"},
      {{{"audit-webhook-config-file", "/k"}, {"audit-webhook-mode", "no"}},
       "invalid audit webhook mode no, allowed modes are \"batch,blocking,blocking-strict\""},
  };
  for (const auto& [flags, error] : cases) EXPECT_EQ(error_of(flags), error);
}

TEST(AuditSettings, FlagsOfABackendThatIsOffAreNotValidated) {
  EXPECT_EQ(error_of({{"audit-log-path", ""}, {"audit-log-mode", "x"}, {"audit-log-maxage", "-1"}}), "");
  EXPECT_EQ(error_of({{"audit-webhook-mode", "x"}}), "");
  EXPECT_EQ(error_of({{"audit-log-batch-buffer-size", "0"}}), "") << "blocking has no batches";
}

}  // namespace
}  // namespace backplane::audit
