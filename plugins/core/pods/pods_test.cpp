#include <gtest/gtest.h>

#include <algorithm>

#include "backplane/core/meta.hpp"
#include "kind_under_test.hpp"
#include "kinds/kinds.hpp"
#include "pods/qos.hpp"
#include "pods/table.hpp"

namespace backplane::core {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

const testing::KindUnderTest& pods() {
  static const testing::KindUnderTest kind(core_group()->kind("Pod"), *core_schemas(), "");
  return kind;
}

Object new_pod(std::string_view containers = R"([{"name":"c","image":"nginx"}])") {
  return pods().created("{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{\"containers\":" + std::string(containers) + "}}");
}

std::string change_problems(const Object& now, const Object& old) { return pods().change_problems(now, old); }

std::int64_t grace_of(Object pod, std::optional<std::int64_t> asked) {
  RequestContext context;
  DeleteOptions options;
  options.grace_period_seconds = asked;
  EXPECT_TRUE(core_group()->kind("Pod").strategy()->check_graceful_delete(context, pod, options));
  return options.grace_period_seconds.value_or(-1);
}

TEST(Pods, BeginPendingWithAQualityOfService) {
  EXPECT_EQ(to_json(new_pod().at("status")), R"({"phase":"Pending","qosClass":"BestEffort"})");
}

TEST(Pods, ThatWaitForTheirGatesSaySoAndHaveNoNode) {
  const auto made = [](std::string_view rest) {
    return "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]," +
           std::string(rest) + "}}";
  };
  const Object pod = pods().created(made(R"("schedulingGates":[{"name":"a.b/c"}])"));
  const Object& condition = pod.at("status").at("conditions").at(0).get_object();
  EXPECT_EQ(get_string(condition, "type"), "PodScheduled");
  EXPECT_EQ(get_string(condition, "status"), "False");
  EXPECT_EQ(get_string(condition, "reason"), "SchedulingGated");
  EXPECT_EQ(pods().problems(pods().created(made(R"("nodeName":"x","schedulingGates":[{"name":"a.b/c"}])"))),
            "spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared");
}

TEST(Pods, KeepTheAnnotationsThatSayWhatTheyAre) {
  const Object old = new_pod();
  Object now = old;
  Object& annotations = now.at("metadata").get_object()["annotations"].emplace_object();
  annotations["container.apparmor.security.beta.kubernetes.io/c"] = "runtime/default";
  annotations["other"] = "x";
  EXPECT_EQ(change_problems(now, old),
            "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may not add AppArmor annotations");
  EXPECT_EQ(change_problems(old, now),
            "metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: Forbidden: may not remove or update AppArmor "
            "annotations");
}

TEST(Pods, PodLevelResourcesDetermineTheQualityOfService) {
  const auto of = [](std::string_view resources) {
    return qos_class(parse("{\"resources\":" + std::string(resources) +
                           ",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}"));
  };
  EXPECT_EQ(of(R"({"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"2","memory":"1Gi"}})"), "Guaranteed");
  EXPECT_EQ(of(R"({"requests":{"memory":"1Gi"}})"), "Burstable");
  EXPECT_EQ(of("{}"), "BestEffort");
}

TEST(Pods, QualityOfServiceFollowsRequestsAndLimits) {
  const auto of = [](std::string_view resources) {
    const Object pod = new_pod("[{\"name\":\"c\",\"image\":\"i\",\"resources\":" + std::string(resources) + "}]");
    return std::string(qos_class(pod.at("spec").get_object()));
  };
  EXPECT_EQ(of("{}"), "BestEffort");
  EXPECT_EQ(of(R"({"limits":{"cpu":"1","memory":"1Gi"}})"), "Guaranteed");
  EXPECT_EQ(of(R"({"requests":{"cpu":"1"}})"), "Burstable");
}

TEST(Pods, ThatRunNowhereEndAtOnce) {
  Object pod = new_pod();
  EXPECT_EQ(grace_of(pod, std::nullopt), 0);
  pod.at("spec").get_object()["nodeName"] = "node-1";
  EXPECT_EQ(grace_of(pod, std::nullopt), 30);
  EXPECT_EQ(grace_of(pod, 5), 5);
  EXPECT_EQ(grace_of(pod, -3), 1);
  pod.at("status").get_object()["phase"] = "Succeeded";
  EXPECT_EQ(grace_of(pod, std::nullopt), 0);
}

TEST(Pods, RemovedTolerationsHaveOneCause) {
  Object old = new_pod();
  old.at("spec").get_object()["tolerations"] = json::parse(R"([{"key":"a","operator":"Exists"},{"key":"b","operator":"Exists"}])");
  Object now = old;
  now.at("spec").get_object().erase("tolerations");
  EXPECT_EQ(change_problems(now, old), "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds");
}

TEST(Pods, TolerationsMayChangeTheirSecondsAlone) {
  Object old = new_pod();
  old.at("spec").get_object()["tolerations"] =
      json::parse(R"([{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":5},{"key":"b","operator":"Exists"}])");
  const auto with = [&](std::string_view tolerations) {
    Object now = old;
    now.at("spec").get_object()["tolerations"] = json::parse(json::string_view(tolerations.data(), tolerations.size()));
    return change_problems(now, old);
  };
  EXPECT_EQ(with(R"([{"key":"b","operator":"Exists"},{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":6}])"), "");
  EXPECT_NE(with(R"([{"key":"b","operator":"Exists"},{"key":"a","operator":"Exists","tolerationSeconds":5}])"), "");
}

TEST(Pods, AreSelectedByTheOldNameOfTheirNode) {
  const auto fields = core_group()->kind("Pod").strategy()->facts().selectable;
  const auto host = std::find_if(fields.begin(), fields.end(), [](const SelectableField& field) { return field.label == "spec.host"; });
  ASSERT_NE(host, fields.end());
  EXPECT_EQ(host->path, "spec.nodeName");
}

TEST(Pods, AreWarnedOfWhenNewOnly) {
  Object pod = new_pod();
  pod.at("metadata").get_object()["name"] = "a.b";
  EXPECT_EQ(core_group()->kind("Pod").strategy()->warnings(pod, nullptr).size(), 1u);
  EXPECT_EQ(core_group()->kind("Pod").strategy()->warnings(pod, &pod).size(), 0u);
}

// The errors of an update of /status with these members. `spec`: members of the pod's spec in addition to its containers.
std::string status_problems(std::string_view now, std::string_view before = "{}", std::string_view spec = "{}") {
  Object old = new_pod();
  for (const auto& member : parse(spec)) old.at("spec").get_object()[member.key()] = member.value();
  for (const auto& member : parse(before)) old.at("status").get_object()[member.key()] = member.value();
  Object object = old;
  object["status"] = parse(now);
  RequestContext context;
  FieldErrors errors;
  core_group()->kind("Pod").status_strategy(core_group()->kind("Pod").strategy())->prepare_for_update(context, object, old);
  core_schemas()->find("io.k8s.api.core.v1.Pod")->check(object, &old, ObjectPart::kStatus, "", errors);
  core_group()->kind("Pod").status_strategy(core_group()->kind("Pod").strategy())->validate_update(context, object, old, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(PodStatus, HoldsOneAddressOfEachFamily) {
  EXPECT_EQ(status_problems(R"({"podIPs":[{"ip":"10.0.0.1"},{"ip":"::1"}]})"), "");
  EXPECT_EQ(status_problems(R"({"podIPs":[{"ip":"x"}]})"),
            "status.podIPs[0]: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  EXPECT_EQ(status_problems(R"({"podIPs":[{"ip":"x"}]})", R"({"podIPs":[{"ip":"x"}]})"), "") << "bad ones may stay";
  EXPECT_EQ(
      status_problems(R"({"podIPs":[{"ip":"1.1.1.1"},{"ip":"2.2.2.2"}]})"),
      "status.podIPs: Invalid value: [{\"IP\":\"1.1.1.1\"},{\"IP\":\"2.2.2.2\"}]: may specify no more than one IP for each IP family");
  EXPECT_EQ(status_problems(R"({"hostIP":"1.1.1.2","hostIPs":[{"ip":"1.1.1.1"}]})"),
            "status.hostIPs[0].ip: Invalid value: \"1.1.1.1\": must be equal to `hostIP`");
}

TEST(PodStatus, ConditionsHaveQualifiedTypes) {
  EXPECT_EQ(status_problems(R"({"conditions":[{"type":"Ready"},{"type":"e.com/x"}]})"), "");
  EXPECT_TRUE(
      status_problems(R"({"conditions":[{"type":"a b"}]})").starts_with("status.conditions[0].Type: Invalid value: \"a b\": name part"));
  EXPECT_EQ(status_problems(R"({"conditions":[{"type":"Ready","observedGeneration":-1}]})"),
            "status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer");
  EXPECT_EQ(status_problems(R"({"observedGeneration":-2})"),
            "status.observedGeneration: Invalid value: -2: must be a non-negative integer");
}

TEST(PodStatus, NodesAreNominatedForPodsWithoutOne) {
  EXPECT_EQ(status_problems(R"({"nominatedNodeName":"n"})"), "");
  EXPECT_EQ(status_problems(R"({"nominatedNodeName":"n"})", "{}", R"({"nodeName":"m"})"),
            "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node");
  EXPECT_EQ(status_problems(R"({"nominatedNodeName":"A B"})", R"({"nominatedNodeName":"A B"})", R"({"nodeName":"m"})"), "") << "unchanged";
}

TEST(PodStatus, WhatHasEndedStaysUnlessItIsRestarted) {
  const std::string ended = R"({"containerStatuses":[{"name":"c","state":{"terminated":{"exitCode":1}}}]})";
  const std::string running = R"({"containerStatuses":[{"name":"c","state":{"running":{}}}]})";
  const std::string refused = "status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state";
  EXPECT_EQ(status_problems(running, ended), "");
  EXPECT_EQ(status_problems(running, ended, R"({"restartPolicy":"OnFailure"})"), "");
  EXPECT_EQ(status_problems(running, ended, R"({"restartPolicy":"Never"})"), refused);
  EXPECT_EQ(status_problems(running, ended, R"({"restartPolicy":"Never","containers":[{"name":"c","restartPolicy":"OnFailure"}]})"), "");
  EXPECT_EQ(
      status_problems(running, ended, R"({"restartPolicy":"Never","containers":[{"name":"c","restartPolicy":"Never","restartPolicyRules":
                            [{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}]}]})"),
      "");
}

TEST(PodStatus, GenerationsAreNotTakenAway) {
  Object old = new_pod();
  old.at("status").get_object()["observedGeneration"] = 4;
  Object now = old;
  now.at("status").get_object().erase("observedGeneration");
  RequestContext context;
  core_group()->kind("Pod").status_strategy(core_group()->kind("Pod").strategy())->prepare_for_update(context, now, old);
  EXPECT_EQ(get_int_path(now, "status.observedGeneration"), 4);
}

TEST(Pods, OnlyAFewFieldsMayChange) {
  const Object old = new_pod();
  Object now = old;
  now.at("spec").get_object()["activeDeadlineSeconds"] = 50;
  now.at("spec").get_object().at("containers").get_array()[0].get_object()["image"] = "nginx:2";
  EXPECT_EQ(change_problems(now, old), "");
  now.at("spec").get_object()["hostname"] = "x";
  EXPECT_TRUE(change_problems(now, old).starts_with("spec: Forbidden: pod updates may not change fields other than"));
  Object later = old;
  later.at("spec").get_object()["activeDeadlineSeconds"] = 60;
  Object before = old;
  before.at("spec").get_object()["activeDeadlineSeconds"] = 50;
  EXPECT_EQ(change_problems(later, before), "spec.activeDeadlineSeconds: Invalid value: 60: must be less than or equal to previous value");
}

// Regression: the message did not contain the forbidden difference.
TEST(Pods, ARefusedChangeIsShown) {
  const Object old = new_pod();
  Object now = old;
  now.at("spec").get_object()["hostname"] = "x";
  const std::string text = change_problems(now, old);
  EXPECT_NE(text.find("\n- \"Hostname\": \"\",\n+ \"Hostname\": \"x\",\n  \"Subdomain\": \"\",\n"), std::string::npos) << text;
}

Object gated(std::string_view spec) {
  Object pod = new_pod();
  for (const auto& member : parse(spec)) pod.at("spec").get_object()[member.key()] = member.value();
  return pod;
}

TEST(Pods, EphemeralContainersStayAsTheyAre) {
  const auto pod = [](std::string_view image) {
    return gated(R"({"ephemeralContainers":[{"name":"dbg","image":")" + std::string(image) +
                 R"(","terminationMessagePolicy":"File",)"
                 R"("imagePullPolicy":"Always"}]})");
  };
  RequestContext context;
  FieldErrors errors;
  pod_ephemeral_containers_strategy()->validate_update(context, pod("b"), pod("a"), errors);
  EXPECT_TRUE(errors.aggregate_message().starts_with(
      "spec.ephemeralContainers: Forbidden: existing ephemeral containers \"dbg\" may not be changed\n@@ -1,6 +1,6 @@\n {\n  \"Name\": "
      "\"dbg\",\n- \"Image\": \"a\",\n+ \"Image\": \"b\",\n"))
      << errors.aggregate_message();
}

TEST(Pods, SchedulingGatesAreOnlyTakenAway) {
  const Object both = gated(R"({"schedulingGates":[{"name":"a"},{"name":"b"}]})");
  EXPECT_EQ(change_problems(gated(R"({"schedulingGates":[{"name":"b"}]})"), both), "");
  EXPECT_EQ(change_problems(new_pod(), both), "");
  EXPECT_EQ(change_problems(gated(R"({"schedulingGates":[{"name":"a"},{"name":"c"}]})"), both),
            "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'");
}

TEST(Pods, WhereAGatedPodMayRunCanBeNarrowed) {
  const auto pod = [](std::string_view gates, std::string_view selector, std::string_view terms) {
    return gated(R"({"schedulingGates":)" + std::string(gates) + R"(,"nodeSelector":)" + std::string(selector) +
                 R"(,"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":)" +
                 std::string(terms) + "}}}}");
  };
  constexpr std::string_view kGate = R"([{"name":"a"}])";
  constexpr std::string_view kOne = R"([{"matchExpressions":[{"key":"k","operator":"Exists"}]}])";
  constexpr std::string_view kMore = R"([{"matchExpressions":[{"key":"k","operator":"Exists"},{"key":"l","operator":"Exists"}]}])";
  constexpr std::string_view kOther = R"([{"matchExpressions":[{"key":"l","operator":"Exists"}]}])";
  const Object old = pod(kGate, R"({"a":"1"})", kOne);
  EXPECT_EQ(change_problems(pod(kGate, R"({"a":"1","b":"2"})", kMore), old), "");
  EXPECT_EQ(change_problems(pod(kGate, R"({"a":"2"})", kOne), old),
            "spec.nodeSelector: Invalid value: {\"a\":\"2\"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)");
  EXPECT_EQ(change_problems(pod(kGate, R"({"a":"1"})", kOther), old),
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]: Invalid value: "
            "{\"MatchExpressions\":[{\"Key\":\"l\",\"Operator\":\"Exists\",\"Values\":null}],\"MatchFields\":null}: only additions are "
            "allowed (no mutations or deletions)");
  const Object free = pod("[]", R"({"a":"1"})", kOne);
  EXPECT_TRUE(change_problems(pod("[]", R"({"a":"1","b":"2"})", kOne), free).starts_with("spec: Forbidden: pod updates may not change"));
}

TEST(Pods, ContainersAreNotAddedLater) {
  const Object old = new_pod();
  const Object now = new_pod(R"([{"name":"c","image":"nginx"},{"name":"d","image":"nginx"}])");
  EXPECT_EQ(change_problems(now, old), "spec.containers: Forbidden: pod updates may not add or remove containers");
}

std::string problems_of(std::string_view spec) { return pods().problems(gated(spec)); }

TEST(Pods, NamesThatTheNodeTakesAreChecked) {
  EXPECT_EQ(problems_of(R"({"securityContext":{"sysctls":[{"name":"net.ipv4.ip_local-port"},{"name":"net/ipv4/x"}]}})"), "");
  for (const char* name : {"Net.x", "a..b", ".a", "a/", "-a", "a b"}) {
    const std::string spec = R"({"securityContext":{"sysctls":[{"name":")" + std::string(name) + R"("}]}})";
    EXPECT_TRUE(
        problems_of(spec).ends_with("must have at most 253 characters and match regex "
                                    "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"))
        << name;
  }
  EXPECT_TRUE(problems_of(R"({"runtimeClassName":""})").starts_with("spec.runtimeClassName: Invalid value: \"\": a lowercase RFC 1123"));
  EXPECT_EQ(problems_of(R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule",)"
                        R"("matchLabelKeys":["a"]}]})"),
            "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not set");
}

TEST(Pods, FilesOfAProjectedVolumeDoNotCollide) {
  EXPECT_EQ(problems_of(R"({"volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"s","items":[{"key":"a","path":"p"}]}},)"
                        R"({"downwardAPI":{"items":[{"path":"p","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}]}}]}}]})"),
            "spec.volumes[0].projected: Invalid value: \"p\": conflicting duplicate paths");
}

TEST(PodTable, ShowsWhatAPodIsDoing) {
  Object pod = new_pod();
  EXPECT_EQ(
      to_json(core_group()->kind("Pod").strategy()->table_convertor().cells(pod, 0, {})),
      R"(["p","0/1","Pending","0","\u003cunknown\u003e","\u003cnone\u003e","\u003cnone\u003e","\u003cnone\u003e","\u003cnone\u003e"])");
  pod["status"] = json::parse(
      R"({"phase":"Running","podIPs":[{"ip":"10.1.1.1"}],"containerStatuses":[{"name":"c","ready":true,"restartCount":2,"state":{"running":{}},"lastState":{}}]})");
  const Array cells = core_group()->kind("Pod").strategy()->table_convertor().cells(pod, 0, {});
  EXPECT_EQ(cells[1], "1/1");
  EXPECT_EQ(cells[2], "Running");
  EXPECT_EQ(cells[3], "2");
  EXPECT_EQ(cells[5], "10.1.1.1");
  ObjectMeta(pod).set("deletionTimestamp", "2024-01-01T00:00:00Z");
  EXPECT_EQ(core_group()->kind("Pod").strategy()->table_convertor().cells(pod, 0, {})[2], "Terminating");
}

TEST(PodTable, MarksTheRowsOfPodsThatAreDone) {
  Object pod = new_pod();
  EXPECT_TRUE(core_group()->kind("Pod").strategy()->table_convertor().conditions(pod, {}).empty());
  pod["status"] = json::parse(R"({"phase":"Failed"})");
  EXPECT_EQ(to_json(core_group()->kind("Pod").strategy()->table_convertor().conditions(pod, {})),
            R"([{"type":"Completed","status":"True","reason":"Failed","message":"The pod failed."}])");
  pod["status"] = json::parse(R"({"phase":"Succeeded"})");
  EXPECT_EQ(get_string(core_group()->kind("Pod").strategy()->table_convertor().conditions(pod, {})[0].get_object(), "reason"), "Succeeded");
}

TEST(Namespaces, AreHeldUntilTheirFinalizersAreGone) {
  const testing::KindUnderTest kind(core_group()->kind("Namespace"), *core_schemas(), "");
  Object ns = kind.created(R"({"metadata":{"name":"n"}})");
  RequestContext context;
  const auto strategy = core_group()->kind("Namespace").strategy();
  EXPECT_EQ(
      to_json(ns),
      R"({"metadata":{"name":"n","labels":{"kubernetes.io/metadata.name":"n"}},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
  EXPECT_TRUE(strategy->held_by_other_finalizers(ns));
  strategy->mark_deleting(ns);
  EXPECT_EQ(get_string_path(ns, "status.phase"), "Terminating");
  Object wish = parse(R"({"metadata":{"name":"n"},"spec":{}})");
  strategy->apply_defaults(wish);
  strategy->prepare_for_update(context, wish, ns);
  EXPECT_TRUE(strategy->held_by_other_finalizers(wish)) << "only /finalize lets go";
  Object released = parse(R"({"metadata":{"name":"n"},"spec":{"finalizers":[]}})");
  const auto finalize = namespace_finalize_strategy();
  finalize->apply_defaults(released);
  finalize->prepare_for_update(context, released, ns);
  EXPECT_FALSE(finalize->held_by_other_finalizers(released));
  EXPECT_EQ(get_string_path(released, "status.phase"), "Terminating");
}

}  // namespace
}  // namespace backplane::core
