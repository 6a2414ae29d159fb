#include <gtest/gtest.h>

#include "kind_under_test.hpp"
#include "kinds.hpp"

namespace backplane::batch {
namespace {

using kit::KindRow;

KindRow row_of(std::string_view kind) { return batch_group()->kind(kind); }
testing::KindUnderTest kind(std::string_view name) { return testing::KindUnderTest(row_of(name), *batch_schemas(), "batch"); }

constexpr std::string_view kTemplate = R"("template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})";

Object job(std::string_view spec_start, std::string_view pods = kTemplate) {
  return kind("Job").created(R"({"metadata":{"name":"j","namespace":"n","uid":"u1"},"spec":{)" + std::string(spec_start) +
                             std::string(pods) + "}}");
}
std::string problems(std::string_view spec_start) { return kind("Job").problems(job(spec_start)); }

Object with(Object object, std::string_view path, std::string_view json_text) {
  Object* holder = &object;
  for (std::size_t dot; (dot = path.find('.')) != std::string_view::npos; path.remove_prefix(dot + 1)) {
    holder = &ensure_object(*holder, path.substr(0, dot));
  }
  (*holder)[path] = json::parse(json_text);
  return object;
}

TEST(Jobs, HaveTheirDefaults) {
  const Object made = job("");
  EXPECT_EQ(kind("Job").problems(made), "");
  EXPECT_EQ(get_int_path(made, "spec.completions"), 1);
  EXPECT_EQ(get_int_path(made, "spec.parallelism"), 1);
  EXPECT_EQ(get_int_path(made, "spec.backoffLimit"), 6);
  EXPECT_EQ(get_string_path(made, "spec.completionMode"), "NonIndexed");
  EXPECT_EQ(get_string_path(made, "spec.podReplacementPolicy"), "TerminatingOrFailed");
  EXPECT_EQ(find_path(job(R"("parallelism":3,)"), "spec.completions"), nullptr);
  const Object indexed = job(R"("completionMode":"Indexed","completions":2,"backoffLimitPerIndex":1,)");
  EXPECT_EQ(get_int_path(indexed, "spec.backoffLimit"), 2147483647);
}

TEST(Jobs, GetASelectorAndLabelsOfTheirOwn) {
  const Object made = job("");
  EXPECT_EQ(to_json(*find_path(made, "spec.selector")), R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u1"}})");
  const Value* labels = find_path(made, "spec.template.metadata.labels");
  ASSERT_NE(labels, nullptr);
  EXPECT_EQ(labels->get_object().size(), 4u);
  EXPECT_EQ(get_string(labels->get_object(), "job-name"), "j");
  EXPECT_EQ(find_path(made, "metadata.labels"), nullptr) << "the server's own labels are not held to rules twice";
  Object stored = made;
  kind("Job").strategy().canonicalize(stored);
  EXPECT_EQ(*find_path(stored, "metadata.labels"), *labels) << "a job without labels has those of its pods";
  const Object named = with(made, "spec.template.metadata.labels", R"({"job-name":"other"})");
  EXPECT_NE(kind("Job").problems(named).find("spec.template.metadata.labels[controller-uid]: Required value: must be 'u1'"),
            std::string::npos);
  EXPECT_NE(
      kind("Job").problems(named).find(R"(spec.template.metadata.labels[job-name]: Invalid value: {"job-name":"other"}: must be 'j')"),
      std::string::npos);
}

TEST(Jobs, HaveTheirPodsLabelsUnlessTheyBringTheirOwn) {
  constexpr std::string_view pods =
      R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})";
  EXPECT_EQ(find_path(job("", pods), "metadata.labels")->get_object().size(), 5u);
  Object labelled = kind("Job").created(R"({"metadata":{"name":"j","uid":"u1","labels":{"a":"b"}},"spec":{)" + std::string(pods) + "}}");
  kind("Job").strategy().canonicalize(labelled);
  EXPECT_EQ(to_json(*find_path(labelled, "metadata.labels")), R"({"a":"b"})");
}

TEST(Jobs, MayBringTheirSelector) {
  const Object made =
      job(R"("manualSelector":true,"selector":{"matchLabels":{"a":"b"}},)",
          R"("template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}})");
  EXPECT_EQ(kind("Job").problems(made), "");
  EXPECT_EQ(to_json(*find_path(made, "metadata.labels")), R"({"a":"b"})");
  EXPECT_EQ(
      problems(R"("manualSelector":true,)"),
      "[spec.selector: Required value, spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`]");
}

TEST(Jobs, IndexedOnesHaveBounds) {
  EXPECT_EQ(problems(R"("completionMode":"Indexed","parallelism":1,)"),
            "spec.completions: Required value: when completion mode is Indexed");
  EXPECT_EQ(problems(R"("completionMode":"Indexed","completions":200000,"parallelism":20000,"backoffLimitPerIndex":1,)"),
            "[spec.maxFailedIndexes: Required value: must be specified when completions is above 100000, "
            "spec.parallelism: Invalid value: 20000: must be less than or equal to 10000 when completions are above 100000 and used with "
            "backoff limit per index]");
  EXPECT_EQ(problems(R"("completionMode":"Indexed","completions":2,"parallelism":100001,)"),
            "spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed");
  EXPECT_EQ(problems(R"("backoffLimitPerIndex":1,)"), "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode");
}

// kube-apiserver's handler crashes for this object.
TEST(Jobs, SuccessPoliciesWithoutCompletionsAreRefused) {
  EXPECT_NE(problems(R"("completionMode":"Indexed","parallelism":1,"successPolicy":{"rules":[{"succeededIndexes":"0"}]},)")
                .find("spec.completions: Required value: when completion mode is Indexed"),
            std::string::npos);
}

TEST(Jobs, FailurePoliciesAreHeldToTheirRules) {
  const auto rule = [](std::string_view words) { return problems(R"("podFailurePolicy":{"rules":[)" + std::string(words) + "]},"); };
  EXPECT_EQ(rule(R"({"action":"Count","onPodConditions":[{"type":"Ready"}]})"), "");
  EXPECT_EQ(rule(R"({"action":"Count"})"),
            "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required");
  EXPECT_EQ(rule(R"({"action":"FailIndex","onPodConditions":[{"type":"Ready"}]})"),
            "spec.podFailurePolicy.rules[0].action: Invalid value: \"FailIndex\": requires the backoffLimitPerIndex to be set");
  EXPECT_EQ(rule(R"({"action":"Count","onExitCodes":{"operator":"In","values":[2,0,2]}})"),
            "[spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator, "
            "spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 2, "
            "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0,2]: must be ordered]");
}

TEST(Jobs, HaveAManagerWithADomain) {
  EXPECT_EQ(problems(R"("managedBy":"example.com/x",)"), "");
  EXPECT_EQ(problems(R"("managedBy":"x",)"),
            R"(spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as "acme.io/foo"))");
  EXPECT_EQ(problems(R"("managedBy":"a.b/ ",)"),
            R"(spec.managedBy: Invalid value: " ": Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+'))");
}

TEST(Jobs, KeepTheirTemplateUnlessTheyAreSuspended) {
  const auto change = [](const Object& old, std::string_view path, std::string_view value) {
    return kind("Job").change_problems(with(old, path, value), old);
  };
  const Object running = job("");
  EXPECT_TRUE(
      change(running, "spec.template.spec.nodeSelector", R"({"a":"b"})").starts_with(R"(spec.template: Invalid value: {"labels":)"));
  const Object suspended = job(R"("suspend":true,)");
  EXPECT_EQ(change(suspended, "spec.template.spec.nodeSelector", R"({"a":"b"})"), "");
  EXPECT_EQ(change(suspended, "spec.template.spec.affinity", R"({"nodeAffinity":{}})"), "");
  EXPECT_TRUE(
      change(suspended, "spec.template.spec.affinity", R"({"podAffinity":{}})").starts_with("spec.template.spec: Invalid value: {"));
  EXPECT_EQ(change(suspended, "spec.template.spec.containers",
                   R"([{"name":"c","image":"i","resources":{"limits":{"cpu":"2"}},"terminationMessagePath":"/dev/termination-log",)"
                   R"("terminationMessagePolicy":"File","imagePullPolicy":"Always"}])"),
            "");
  const Object busy = with(suspended, "status", R"({"active":1})");
  EXPECT_NE(change(busy, "spec.template.spec.nodeSelector", R"({"a":"b"})"), "");
  EXPECT_EQ(change(running, "spec.completions", "2"), "spec.completions: Invalid value: 2: field is immutable");
  const Object ruled = with(job(R"("podFailurePolicy":{"rules":[]},)"), "spec.podFailurePolicy", R"({"rules":null})");
  EXPECT_EQ(change(ruled, "spec.podFailurePolicy", R"({"rules":[]})"), "") << "no rules are stored as none";
  const Object indexed = job(R"("completionMode":"Indexed","completions":2,"parallelism":2,)");
  EXPECT_EQ(change(indexed, "spec.completions", "3"),
            "spec.completions: Invalid value: 3: can only be modified in tandem with spec.parallelism");
}

TEST(Jobs, GatesSayWhatMayChangeOfSuspendedOnes) {
  const auto change = [](JobGates gates, const Object& old, std::string_view path, std::string_view value) {
    FieldErrors errors;
    check_job_change(with(old, path, value), old, gates, errors);
    return errors.empty() ? "" : errors.aggregate_message().substr(0, 14);
  };
  constexpr std::string_view kSelector = "spec.template.spec.nodeSelector", kContainers = "spec.template.spec.containers";
  const std::string more = R"([{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}])";
  const Object fresh = with(job(R"("suspend":true,)"), kContainers, R"([{"name":"c","image":"i"}])");
  const Object paused =
      with(fresh, "status", R"({"startTime":"2020-01-01T00:00:00Z","conditions":[{"type":"Suspended","status":"True"}]})");
  const JobGates off{.resources = false, .scheduling = false};
  EXPECT_EQ(change({}, paused, kSelector, R"({"a":"b"})"), "");
  EXPECT_EQ(change({}, paused, kContainers, more), "");
  EXPECT_EQ(change(off, fresh, kSelector, R"({"a":"b"})"), "") << "it has never run";
  EXPECT_EQ(change(off, paused, kSelector, R"({"a":"b"})"), "spec.template:");
  EXPECT_EQ(change(off, fresh, kContainers, more), "spec.template:");
  EXPECT_EQ(change({.resources = true, .scheduling = false}, paused, kSelector, R"({"a":"b"})"), "spec.template.");
}

std::string status_problems(const Object& base, std::string_view now, std::string_view before = "{}") {
  FieldErrors errors;
  RequestContext context;
  const KindRow row = row_of("Job");
  const auto strategy = row.status_strategy(row.strategy());
  strategy->validate_update(context, with(base, "status", now), with(base, "status", before), errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(JobStatus, EndsOnceAndInOrder) {
  const Object plain = job("");
  const std::string done = R"("startTime":"2020-01-01T00:00:00Z","completionTime":"2020-01-01T00:00:01Z",)"
                           R"("conditions":[{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}])";
  EXPECT_EQ(status_problems(plain, "{" + done + "}"), "");
  EXPECT_EQ(status_problems(plain, "{\"active\":1," + done + "}"), "status.active: Invalid value: 1: active>0 is invalid for finished job");
  EXPECT_EQ(status_problems(plain, R"({"conditions":[{"type":"Failed","status":"True"},{"type":"FailureTarget","status":"True"}]})"),
            "status.startTime: Required value: startTime is required for finished job");
  EXPECT_EQ(status_problems(plain, R"({"startTime":"2020-01-01T00:00:00Z","conditions":[{"type":"SuccessCriteriaMet","status":"True"}]})",
                            "{" + done + "}"),
            "status.conditions: Invalid value: cannot disable the terminal Complete=True condition");
}

TEST(JobStatus, UnchangedInvalidMembersAreNotChecked) {
  const Object plain = job("");
  const std::string odd = R"({"ready":3,"active":1})";
  EXPECT_EQ(status_problems(plain, odd), "status.ready: Invalid value: 3: cannot set more ready pods than active");
  EXPECT_EQ(status_problems(plain, odd, odd), "");
  EXPECT_EQ(status_problems(plain, R"({"failed":1})", R"({"failed":2})"),
            "status.failed: Invalid value: 1: cannot decrease the failed counter");
}

TEST(JobStatus, IndexesAreRead) {
  const Object indexed = job(R"("completionMode":"Indexed","completions":4,"parallelism":2,"backoffLimitPerIndex":1,)");
  EXPECT_EQ(status_problems(indexed, R"({"completedIndexes":"0,2","failedIndexes":"1"})"), "");
  EXPECT_EQ(status_problems(indexed, R"({"completedIndexes":"0,2","failedIndexes":"2"})"),
            "status.failedIndexes: Invalid value: \"2\": failedIndexes and completedIndexes overlap at index: 2");
  EXPECT_EQ(status_problems(indexed, R"({"completedIndexes":"9"})"),
            "status.completedIndexes: Invalid value: \"9\": error parsing completedIndexes: too large index: \"9\"");
}

Object cron_job(std::string_view spec_start) {
  return kind("CronJob").created(R"({"metadata":{"name":"c","namespace":"n"},"spec":{)" + std::string(spec_start) +
                                 R"("jobTemplate":{"spec":{)" + std::string(kTemplate) + "}}}}");
}

TEST(CronJobs, HaveDefaultsButTheirJobTemplatesHaveNone) {
  const Object made = cron_job(R"("schedule":"@daily",)");
  EXPECT_EQ(kind("CronJob").problems(made), "");
  EXPECT_EQ(get_string_path(made, "spec.concurrencyPolicy"), "Allow");
  EXPECT_EQ(get_int_path(made, "spec.successfulJobsHistoryLimit"), 3);
  EXPECT_EQ(get_int_path(made, "spec.failedJobsHistoryLimit"), 1);
  EXPECT_EQ(find_path(made, "spec.jobTemplate.spec.completions"), nullptr);
}

TEST(CronJobs, ShowTheTimeZoneAfterTheSchedule) {
  const auto problems_of = [](std::string_view spec) { return kind("CronJob").problems(cron_job(spec)); };
  EXPECT_EQ(problems_of(R"("schedule":"@daily","timeZone":"Europe/Paris",)"), "");
  EXPECT_EQ(problems_of(R"("schedule":"@daily","timeZone":"Nowhere",)"),
            "spec.timeZone: Invalid value: \"Nowhere\": unknown time zone Nowhere");
  EXPECT_EQ(
      problems_of(R"("schedule":"@daily","timeZone":"Local",)"),
      "spec.timeZone: Invalid value: \"Local\": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  EXPECT_EQ(problems_of(R"("schedule":"TZ=UTC @daily",)"),
            "spec.schedule: Invalid value: \"TZ=UTC @daily\": cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  const Object old = cron_job(R"("schedule":"TZ=UTC @daily",)");
  EXPECT_EQ(kind("CronJob").change_problems(old, old), "") << "those that have one keep it";
  EXPECT_EQ(kind("CronJob").strategy().warnings(old, &old).size(), 1u);
}

TEST(CronJobs, HaveShortNamesAndSelectorsOfTheirOwn) {
  Object long_name = cron_job(R"("schedule":"@daily",)");
  long_name = with(long_name, "metadata.name", '"' + std::string(53, 'a') + '"');
  EXPECT_EQ(kind("CronJob").problems(long_name),
            "metadata.name: Invalid value: \"" + std::string(53, 'a') + "\": must be no more than 52 characters");
  EXPECT_EQ(kind("CronJob").change_problems(long_name, long_name), "");
  const Object odd = with(cron_job(R"("schedule":"@daily",)"), "spec.jobTemplate.spec.manualSelector", "true");
  EXPECT_EQ(kind("CronJob").problems(odd),
            R"(spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false")");
}

}  // namespace
}  // namespace backplane::batch
