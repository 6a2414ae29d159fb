#include "duration_metrics.hpp"

#include <gtest/gtest.h>

#include "backplane/core/metric_registry.hpp"
#include "backplane/core/metrics.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/request.hpp"
#include "backplane/rest/update_info.hpp"
#include "backplane/types/base64.hpp"
#include "keys_for_test.hpp"
#include "turn_executor.hpp"

namespace backplane::certificates {
namespace {

constexpr std::int64_t kHour = 3600;

std::string certificate(std::int64_t seconds) {
  constexpr std::int64_t kNow = 1'700'000'000;
  return testing::pem("CERTIFICATE", testing::certificate_der(testing::ec_key(), {false, kNow, kNow + seconds}));
}

class DurationMetrics : public ::testing::Test {
 protected:
  // "requested honored" of the signer.
  static std::string counts(const std::string& signer) {
    std::string out;
    for (const char* name : {"requested", "honored"}) {
      double value = 0;
      for (const auto& metric : Metric::all()) {
        if (metric.name != "apiserver_certificates_registry_csr_" + std::string(name) + "_duration_total") continue;
        const auto found = metric.series.find({signer});
        if (found != metric.series.end()) value = found->second.value;
      }
      out += (out.empty() ? "" : " ") + std::to_string(static_cast<int>(value));
    }
    return out;
  }

  // Values of this test alone.
  const ServerIdentity identity;
  const MetricRegistry registry{identity.slot()};
  const ServerScope scope{identity.slot()};
};

TEST_F(DurationMetrics, SignersOfKubernetesAreNamedAndOthersAreNot) {
  count_issued({"kubernetes.io/kubelet-serving", kHour}, certificate(kHour));
  count_issued({"kubernetes.io.e.com/s", kHour}, certificate(kHour));
  count_issued({"e.com/s", kHour}, certificate(kHour));
  EXPECT_EQ(counts("kubernetes.io/kubelet-serving"), "1 1");
  EXPECT_EQ(counts("other"), "2 2");
}

TEST_F(DurationMetrics, ADurationIsHonoredWithinFiveMinutesAndATwentieth) {
  const std::pair<std::int64_t, bool> rows[] = {{1000, true}, {651, true}, {650, false}, {1349, true}, {1350, false}};
  int requested = 0, honored = 0;
  for (const auto& [got, is_honored] : rows) {
    count_issued({"e.com/s", 1000}, certificate(got));
    ++requested;
    if (is_honored) ++honored;
    EXPECT_EQ(counts("other"), std::to_string(requested) + " " + std::to_string(honored)) << got;
  }
}

TEST_F(DurationMetrics, TheFirstCertificateCounts) {
  count_issued({"e.com/s", kHour}, certificate(kHour) + certificate(10 * kHour));
  EXPECT_EQ(counts("other"), "1 1");
  count_issued({"e.com/s", kHour}, certificate(10 * kHour) + certificate(kHour));
  EXPECT_EQ(counts("other"), "2 1");
}

TEST_F(DurationMetrics, WhatCannotBeParsedIsNotHonored) {
  count_issued({"e.com/s", kHour}, "junk");
  count_issued({"e.com/s", kHour}, certificate(kHour) + testing::pem("CERTIFICATE", "junk"));
  EXPECT_EQ(counts("other"), "2 0");
  count_issued({"e.com/s", kHour}, "");
  EXPECT_EQ(counts("other"), "2 0") << "no certificate was issued";
}

TEST_F(DurationMetrics, ARequestIsCountedUntilItHasACertificate) {
  const auto of = [](const char* text) { return RequestedDuration::of(json::parse(text).get_object()); };
  const auto requested = of(R"({"spec":{"signerName":"e.com/s","expirationSeconds":3600},"status":{}})");
  ASSERT_TRUE(requested);
  EXPECT_EQ(requested->signer, "e.com/s");
  EXPECT_EQ(requested->seconds, kHour);
  EXPECT_FALSE(of(R"({"spec":{"signerName":"e.com/s"}})"));
  EXPECT_FALSE(of(R"({"spec":{"signerName":"e.com/s","expirationSeconds":3600},"status":{"certificate":"eA=="}})"));
}

// ---- the subresource

// Stores the object of a write.
class FakeStatus final : public SubresourceStorage {
 public:
  bool admits_writes() const noexcept override { return true; }
  GroupVersionKind kind() const override { return {"certificates.k8s.io", "v1", "CertificateSigningRequest"}; }
  const Schema* schema() const override { return nullptr; }
  bool namespaced() const override { return false; }
  const TableConvertor* subresource_table() const noexcept override { return nullptr; }
  Task<Result<ObjectRef>> get(RequestContext&, std::string, GetOptions) override { co_return Status(Reason::kNotFound, "none"); }
  Task<Result<UpdateResult>> update(RequestContext& context, std::string, UpdatedObjectInfo& info, WriteOptions, bool) override {
    auto updated = co_await info.updated_object(context, &stored);
    if (!updated.ok()) co_return std::move(updated).status();
    if (refuses) co_return Status(Reason::kConflict, "no");
    auto entry = std::make_shared<ObjectEntry>();
    entry->set_json(SharedBytes(to_json(Value(*updated))));
    UpdateResult result;
    result.object = std::move(entry);
    co_return result;
  }

  Object stored = json::parse(R"({"spec":{"signerName":"kubernetes.io/s","expirationSeconds":3600},"status":{}})").get_object();
  bool refuses = false;
};

class Issue final : public UpdatedObjectInfo {
 public:
  explicit Issue(std::string certificate) : certificate_(std::move(certificate)) {}
  Task<Result<Object>> updated_object(RequestContext& context, const Object* existing) override {
    Object object(*existing, context.arena());
    object["status"].emplace_object()["certificate"] = to_base64(certificate_);
    co_return object;
  }

 private:
  const std::string certificate_;
};

class CountedStatusTest : public DurationMetrics {
 protected:
  void issue(bool dry_run = false) { spawn_detached(executor, update(*counted, certificate(kHour), dry_run)); }
  static Task<void> update(SubresourceStorage& status, std::string certificate, bool dry_run) {
    RequestContext context;
    Issue info(std::move(certificate));
    WriteOptions options;
    options.dry_run = dry_run;
    auto updated = co_await status.update(context, "a", info, std::move(options), false);
    (void)updated;
  }

  test::TurnExecutor executor;
  const std::shared_ptr<FakeStatus> status = std::make_shared<FakeStatus>();
  const std::shared_ptr<SubresourceStorage> counted = make_counted_status(status);
};

TEST_F(CountedStatusTest, AnIssuedCertificateIsCountedOnce) {
  issue();
  executor.run_until_idle();
  EXPECT_EQ(counts("kubernetes.io/s"), "1 1");
  status->stored["status"].emplace_object()["certificate"] = "eA==";
  issue();
  executor.run_until_idle();
  EXPECT_EQ(counts("kubernetes.io/s"), "1 1");
}

TEST_F(CountedStatusTest, DryRunsAndRefusedUpdatesAreNotCounted) {
  issue(true);
  executor.run_until_idle();
  status->refuses = true;
  issue();
  executor.run_until_idle();
  EXPECT_EQ(counts("kubernetes.io/s"), "0 0");
}

}  // namespace
}  // namespace backplane::certificates
