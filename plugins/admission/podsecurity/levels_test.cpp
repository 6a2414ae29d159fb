#include "podsecurity/levels.hpp"

#include <gtest/gtest.h>

#include "podsecurity/configuration.hpp"

namespace backplane::admission::podsecurity {
namespace {

constexpr LevelVersion kPrivilegedLatest{};

LevelVersion level_version(Level level, std::int64_t minor = PolicyVersion::kLatest) { return {level, PolicyVersion{minor}}; }

struct PolicyCase {
  const char* name;
  Labels labels;
  LevelVersion enforce, audit, warn;
  const char* errors = "";
};

const PolicyCase kPolicyCases[] = {
    {"nothing", {}, kPrivilegedLatest, kPrivilegedLatest, kPrivilegedLatest},
    {"warn follows a stricter enforce",
     {{"pod-security.kubernetes.io/enforce", "baseline"}},
     level_version(Level::kBaseline),
     kPrivilegedLatest,
     level_version(Level::kBaseline)},
    {"and its version",
     {{"pod-security.kubernetes.io/enforce", "baseline"}, {"pod-security.kubernetes.io/enforce-version", "v1.22"}},
     level_version(Level::kBaseline, 22),
     kPrivilegedLatest,
     level_version(Level::kBaseline, 22)},
    {"but not against a version of its own",
     {{"pod-security.kubernetes.io/enforce", "baseline"},
      {"pod-security.kubernetes.io/enforce-version", "v1.22"},
      {"pod-security.kubernetes.io/warn-version", "v1.23"}},
     level_version(Level::kBaseline, 22),
     kPrivilegedLatest,
     level_version(Level::kBaseline, 23)},
    {"an explicit warn stays",
     {{"pod-security.kubernetes.io/enforce", "baseline"}, {"pod-security.kubernetes.io/warn", "privileged"}},
     level_version(Level::kBaseline),
     kPrivilegedLatest,
     kPrivilegedLatest},
    {"what is invalid enforces all, and neither audits nor warns",
     {{"pod-security.kubernetes.io/audit", "foo"},
      {"pod-security.kubernetes.io/enforce", "foo"},
      {"pod-security.kubernetes.io/warn", "foo"}},
     level_version(Level::kRestricted),
     kPrivilegedLatest,
     kPrivilegedLatest,
     "[metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: \"foo\": must be one of privileged, baseline, restricted, "
     "metadata.labels[pod-security.kubernetes.io/audit]: Invalid value: \"foo\": must be one of privileged, baseline, restricted, "
     "metadata.labels[pod-security.kubernetes.io/warn]: Invalid value: \"foo\": must be one of privileged, baseline, restricted]"},
    {"an invalid version is the latest",
     {{"pod-security.kubernetes.io/enforce", "baseline"}, {"pod-security.kubernetes.io/enforce-version", "v9"}},
     level_version(Level::kBaseline),
     kPrivilegedLatest,
     level_version(Level::kBaseline),
     "metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: \"v9\": must be \"latest\" or \"v1.x\""},
};

TEST(PodSecurityPolicy, IsThatOfTheLabels) {
  for (const PolicyCase& each : kPolicyCases) {
    FieldErrors errors;
    const Policy policy = policy_of(each.labels, Policy(), errors);
    EXPECT_EQ(policy.enforce.text(), each.enforce.text()) << each.name;
    EXPECT_EQ(policy.audit.text(), each.audit.text()) << each.name;
    EXPECT_EQ(policy.warn.text(), each.warn.text()) << each.name;
    EXPECT_EQ(errors.empty() ? "" : errors.aggregate_message(), each.errors) << each.name;
  }
}

TEST(PodSecurityVersions, AreLatestOrOfMajorOne) {
  for (const char* valid : {"latest", "v1.0", "v1.1", "v1.20", "v1.10000"}) {
    ASSERT_TRUE(parse_version(valid)) << valid;
    EXPECT_EQ(parse_version(valid)->text(), valid);
  }
  for (const char* invalid : {"", "foo", "v.1.1", "v1.1.1", "v2.1", "1.1", "v1.01", "v1.-1", "v1.", "v1.99999999999999999999", "latest "}) {
    EXPECT_FALSE(parse_version(invalid)) << invalid;
  }
}

constexpr std::string_view kHead = "apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n";

std::string problem(std::string_view text) {
  const auto parsed = parse_configuration(text);
  return parsed.ok() ? "" : parsed.status().message();
}

TEST(PodSecurityConfiguration, HasDefaultsAndExemptions) {
  EXPECT_TRUE(parse_configuration("")->defaults.fully_privileged());
  for (const char* version : {"v1", "v1beta1", "v1alpha1"}) {
    const auto parsed = parse_configuration("apiVersion: pod-security.admission.config.k8s.io/" + std::string(version) +
                                            "\nkind: PodSecurityConfiguration\ndefaults: {enforce: baseline, enforce-version: v1.9}\n"
                                            "exemptions: {usernames: [a], namespaces: [b], runtimeClasses: [c]}\n");
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(parsed->defaults.enforce.text(), "baseline:v1.9");
    EXPECT_EQ(parsed->defaults.audit.text(), "privileged:latest");
    EXPECT_TRUE(parsed->exempts_user("a") && !parsed->exempts_user(""));
    EXPECT_TRUE(parsed->exempts_namespace("b") && !parsed->exempts_namespace("a"));
    EXPECT_TRUE(parsed->exempts_runtime_class(json::parse(R"({"runtimeClassName":"c"})").get_object()));
  }
}

TEST(PodSecurityConfiguration, IsRefusedWithUpstreamsErrors) {
  const std::string head(kHead);
  EXPECT_EQ(
      problem(head + "defaults: {enforce: baslein, warn-version: v2}"),
      "PodSecurity configuration error: [enforce: must be one of privileged, baseline, restricted, warn-version: must be \"latest\" or "
      "\"v1.x\"]");
  EXPECT_EQ(problem(head + "exemptions: {usernames: [a, a, '']}"),
            "PodSecurity invalid: [exemptions.usernames[1]: Duplicate value: \"a\", exemptions.usernames[2]: Invalid value: \"\": username "
            "must not be empty]");
  EXPECT_NE(problem(head + "exemptions: {namespaces: [A]}").find("exemptions.namespaces[0]: Invalid value: \"A\""), std::string::npos);
  EXPECT_NE(problem(head + "unknown: 1").find("unknown field \"unknown\""), std::string::npos);
  EXPECT_NE(problem("{apiVersion: pod-security.admission.config.k8s.io/v2, kind: PodSecurityConfiguration}"), "");
  EXPECT_NE(problem("{apiVersion: pod-security.admission.config.k8s.io/v1, kind: Other}"), "");
}

}  // namespace
}  // namespace backplane::admission::podsecurity
