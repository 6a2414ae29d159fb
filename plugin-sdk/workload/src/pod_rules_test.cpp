// Rules of pod specs that involve several fields: claims, mounts, restarts, security.
#include <gtest/gtest.h>

#include "backplane/types/schema.hpp"
#include "backplane/workload/host_sysctls.hpp"
#include "backplane/workload/pod_defaults.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::workload {
namespace {

std::string problems_of(const std::string& pod_spec) {
  const Schema& type = *core_schemas()->find("io.k8s.api.core.v1.PodSpec");
  Value spec = json::parse(pod_spec);
  EXPECT_TRUE(type.normalize(spec, nullptr).ok());
  type.apply_defaults(spec);
  apply_pod_spec_defaults(spec.get_object());
  FieldErrors errors;
  type.check(spec.get_object(), nullptr, ObjectPart::kWhole, "spec", errors);
  validate_pod_spec(spec.get_object(), "spec", "p", {}, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

// Returns the errors of a pod whose only container has `members`, and whose spec has `spec_members`.
std::string in_container(const std::string& members, const std::string& spec_members = "") {
  return problems_of(R"({"containers":[{"name":"c","image":"i",)" + members + "}]" + (spec_members.empty() ? "" : ",") + spec_members +
                     "}");
}
std::string in_spec(const std::string& members) { return problems_of(R"({"containers":[{"name":"c","image":"i"}],)" + members + "}"); }

// Regression: the probes of an init container that is not a sidecar were validated, although such a container may have none.
TEST(PodRules, WhatAnInitContainerMayNotHaveIsNotLookedInto) {
  EXPECT_EQ(in_spec(R"("initContainers":[{"name":"n","image":"i","livenessProbe":{}}])"),
            "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always");
  EXPECT_EQ(in_spec(R"("initContainers":[{"name":"n","image":"i","restartPolicy":"Always","livenessProbe":{}}])"),
            "spec.initContainers[0].livenessProbe: Required value: must specify a handler type");
}

TEST(PodRules, VariablesInFilesAreThoseOfAnEmptyDirectory) {
  const auto of = [](const std::string& volume) {
    return in_container(R"("env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"//x","key":"A"}}}])", volume);
  };
  const std::string place = "spec.containers[0].env[0].valueFrom.fileKeyRef.";
  EXPECT_EQ(of(R"("volumes":[{"name":"v","emptyDir":{}}])"), "");
  EXPECT_EQ(of(""), place + R"(volumeName: Not found: "v")");
  EXPECT_EQ(of(R"("volumes":[{"name":"v","secret":{"secretName":"s"}}])"),
            place + R"(volumeName: Invalid value: "v": referenced volume must be of type emptyDir)");
  EXPECT_EQ(in_container(R"("env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"","key":"="}}}])",
                         R"("volumes":[{"name":"v","emptyDir":{}}])")
                .substr(0, 70),
            "[" + (place + "path: Required value, ").substr(0, 69));
}

TEST(PodRules, HugePagesAreWhole) {
  const auto of = [](const std::string& name, const std::string& amount) {
    return in_container(R"("resources":{"limits":{"memory":"1Gi",")" + name + R"(":")" + amount + R"("}})");
  };
  for (const char* good : {"0", "2Mi", "4Mi", "1Gi", "4194304"}) EXPECT_EQ(of("hugepages-2Mi", good), "") << good;
  EXPECT_EQ(of("hugepages-2Mi", "3Mi"),
            "spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive "
            "integer multiple of hugepages-2Mi");
  for (const char* odd : {"hugepages-0", "hugepages--2Mi", "hugepages-x", "hugepages-500m"}) EXPECT_NE(of(odd, "2Mi"), "") << odd;
}

TEST(PodRules, OneSourceAnItemOfAProjectedVolume) {
  EXPECT_EQ(in_spec(R"("volumes":[{"name":"v","projected":{"sources":[{"secret":{"name":"a"},"configMap":{"name":"b"}}]}}])"),
            "spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source");
}

// Regression: a pod that an older server had stored could not be updated, not even to remove a finalizer.
TEST(PodRules, WhatAStoredPodHasItKeeps) {
  for (const char* members :
       {R"("hostNetwork":true,"hostUsers":false)", R"("overhead":{"hugepages-2Mi":"3Mi","memory":"1Gi"})",
        R"("initContainers":[{"name":"n","image":"i","resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}])",
        R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule","matchLabelKeys":["a"],
                                 "labelSelector":{"matchLabels":{"a":"x"},"matchExpressions":[{"key":"a","operator":"In","values":["x"]}]}}])"}) {
    EXPECT_NE(in_spec(members), "") << members;
    Value spec = json::parse(R"({"containers":[{"name":"c","image":"i"}],)" + std::string(members) + "}");
    core_schemas()->find("io.k8s.api.core.v1.PodSpec")->apply_defaults(spec);
    apply_pod_spec_defaults(spec.get_object());
    FieldErrors errors;
    validate_pod_spec(spec.get_object(), "spec", "p", PodValidationOptions().for_update_of(spec.get_object()), errors);
    EXPECT_TRUE(errors.empty()) << errors.aggregate_message();
  }
}

// Regression: the sums of the containers' resources were not checked.
TEST(PodAmounts, AreWhatItsContainersHaveTogether) {
  const std::string two = R"("containers":[{"name":"a","image":"i","resources":{"requests":{"cpu":"1"}}},
      {"name":"b","image":"i","resources":{"requests":{"cpu":"500m"},"limits":{"hugepages-2Mi":"4Mi","cpu":"2"}}}],)";
  const auto with = [&](const std::string& resources, const std::string& init = "[]") {
    return problems_of("{" + two + R"("initContainers":)" + init + R"(,"resources":)" + resources + "}");
  };
  EXPECT_EQ(with(R"({"requests":{"cpu":"1500m"}})"), "");
  EXPECT_EQ(with(R"({"requests":{"cpu":"1"}})"),
            R"(spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 1500m)");
  EXPECT_EQ(
      with(R"({"limits":{"cpu":"2","hugepages-2Mi":"2Mi"}})"),
      R"([spec.resources.limits[hugepages-2Mi]: Invalid value: "2Mi": must be greater than or equal to aggregate container limits of 4Mi, )"
      R"(spec.resources.containers[1][hugepages-2Mi].limits: Invalid value: "4Mi": must be less than or equal to pod limits of 2Mi])");
  // A sidecar runs alongside the containers, and alongside the init containers after it.
  const std::string stays = R"({"name":"s","image":"i","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}})";
  const std::string ends = R"({"name":"e","image":"i","resources":{"requests":{"cpu":"3"}}})";
  EXPECT_EQ(with(R"({"requests":{"cpu":"2500m"}})", "[" + stays + "]"), "");
  EXPECT_TRUE(with(R"({"requests":{"cpu":"2500m"}})", "[" + ends + "," + stays + "]").ends_with("container requests of 3"));
  EXPECT_TRUE(with(R"({"requests":{"cpu":"2500m"}})", "[" + stays + "," + ends + "]").ends_with("container requests of 4"));
}

TEST(PodAmounts, FollowFromThoseOfTheContainers) {
  const auto defaulted = [](const std::string& resources) {
    Value pod = json::parse(R"({"spec":{"resources":)" + resources + R"(,"containers":[
        {"name":"a","image":"i","resources":{"requests":{"cpu":"1"},"limits":{"hugepages-2Mi":"4Mi"}}},
        {"name":"b","image":"i","resources":{"requests":{"cpu":"500m","example.com/x":"1"}}}]}})");
    apply_pod_only_defaults(pod.get_object());
    return to_json(pod.at("spec").at("resources").get_object());
  };
  EXPECT_EQ(defaulted("{}"), "{}");
  EXPECT_EQ(defaulted(R"({"requests":{"memory":"1Gi"}})"),
            R"({"requests":{"memory":"1Gi","cpu":"1500m","hugepages-2Mi":"4Mi"},"limits":{"hugepages-2Mi":"4Mi"}})");
  EXPECT_EQ(
      defaulted(R"({"limits":{"cpu":"2","memory":"1Gi"}})"),
      R"({"limits":{"cpu":"2","memory":"1Gi","hugepages-2Mi":"4Mi"},"requests":{"cpu":"1500m","memory":"1Gi","hugepages-2Mi":"4Mi"}})");
}

TEST(PodClaims, AreNamedOnceAndMadeOfOneThing) {
  EXPECT_EQ(in_spec(R"("resourceClaims":[{"name":"a","resourceClaimName":"x"}])"), "");
  EXPECT_EQ(in_spec(R"("resourceClaims":[{"resourceClaimName":"x"}])"), "spec.resourceClaims[0].name: Required value");
  EXPECT_EQ(in_spec(R"("resourceClaims":[{"name":"a","resourceClaimName":"x"},{"name":"a","resourceClaimName":"x"}])"),
            "spec.resourceClaims[1].name: Duplicate value: \"a\"");
  const std::string both = in_spec(R"("resourceClaims":[{"name":"a","resourceClaimName":"x","resourceClaimTemplateName":"y"}])");
  EXPECT_TRUE(both.ends_with("at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")) << both;
  const std::string none = in_spec(R"("resourceClaims":[{"name":"a"}])");
  EXPECT_TRUE(none.ends_with("must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")) << none;
}

TEST(PodClaims, AreUsedByTheirNames) {
  const std::string claims = R"("resourceClaims":[{"name":"a","resourceClaimName":"x"}])";
  EXPECT_EQ(in_container(R"("resources":{"claims":[{"name":"a"}]})", claims), "");
  EXPECT_EQ(in_container(R"("resources":{"claims":[{"name":"b"}]})", claims),
            "spec.containers[0].resources.claims[0]: Not found: \"b\": must be one of the names in pod.spec.resourceClaims: a");
  EXPECT_EQ(in_container(R"("resources":{"claims":[{"name":"b"}]})"),
            "spec.containers[0].resources.claims[0]: Not found: \"b\": must be one of the names in pod.spec.resourceClaims which is empty");
  EXPECT_EQ(in_container(R"("resources":{"claims":[{"name":"a","request":"r"},{"name":"a"}]})", claims),
            "spec.containers[0].resources.claims[1]: Duplicate value: \"a\"");
}

// Regression: the check compared all pairs of claims, and each error contained all names, so such a pod blocked its event loop for a
// minute.
TEST(PodResources, ManyClaimsAreLookedUp) {
  constexpr int kMany = 50'000;
  std::string claims, known, unknown;
  for (int i = 0; i < kMany; ++i) {
    const std::string comma = i == 0 ? "" : ",", number = std::to_string(i);
    claims += comma + R"({"resourceClaimName":"x","name":"k)" + number + "\"}";
    known += comma + R"({"name":"k)" + number + "\"}";
    unknown += comma + R"({"name":"u)" + number + "\"}";
  }
  claims = "\"resourceClaims\":[" + claims + "]";
  EXPECT_EQ(in_container("\"resources\":{\"claims\":[" + known + "]}", claims), "");
  EXPECT_NE(in_container("\"resources\":{\"claims\":[" + unknown + "]}", claims), "");
}

// Regression: the search for the volume of each mount was linear.
TEST(PodMounts, ManyDevicesAreLookedUp) {
  constexpr int kMany = 30'000;
  std::string volumes, devices;
  for (int i = 0; i < kMany; ++i) {
    const std::string comma = i == 0 ? "" : ",", number = std::to_string(i);
    volumes += comma + R"({"persistentVolumeClaim":{"claimName":"c"},"name":"v)" + number + "\"}";
    devices += comma + R"({"name":"v)" + number + R"(","devicePath":"/d)" + number + "\"}";
  }
  EXPECT_EQ(in_container("\"volumeDevices\":[" + devices + "]", "\"volumes\":[" + volumes + "]"), "");
}

TEST(PodResources, HoldThoseOfTheContainers) {
  EXPECT_EQ(in_spec(R"("resources":{"requests":{"storage":"1"}})"),
            "spec.resources.requests[storage]: Unsupported value: \"storage\": supported values: \"cpu\", \"hugepages-\", \"memory\"");
  EXPECT_EQ(in_container(R"("resources":{"limits":{"cpu":"2"}})", R"("resources":{"limits":{"cpu":"1"}})"),
            "spec.resources.containers[0][cpu].limits: Invalid value: \"2\": must be less than or equal to pod limits of 1");
}

TEST(PodResources, WholeThingsAreCountedWhole) {
  EXPECT_EQ(in_container(R"("resources":{"limits":{"example.com/x":"1500m"}})"),
            "spec.containers[0].resources.limits[example.com/x]: Invalid value: \"1500m\": must be an integer");
  EXPECT_EQ(in_container(R"("resources":{"limits":{"hugepages-2Mi":"2Mi"}})"),
            "spec.containers[0].resources: Forbidden: HugePages require cpu or memory");
}

TEST(PodMounts, AndDevicesDoNotMeet) {
  const std::string volumes = R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"x"}},{"name":"e","emptyDir":{}}])";
  EXPECT_EQ(in_container(R"("volumeDevices":[{"name":"v","devicePath":"/dev/x"}])", volumes), "");
  EXPECT_EQ(in_container(R"("volumeDevices":[{"name":"n","devicePath":"/dev/x"}])", volumes),
            "spec.containers[0].volumeDevices[0].name: Not found: \"n\"");
  EXPECT_EQ(in_container(R"("volumeDevices":[{"name":"e","devicePath":"/dev/x"}])", volumes),
            "spec.containers[0].volumeDevices[0].name: Invalid value: \"e\": can only use volume source type of PersistentVolumeClaim or "
            "Ephemeral for block mode");
  EXPECT_EQ(in_container(R"("volumeDevices":[{"name":"v","devicePath":"/x"}],"volumeMounts":[{"name":"e","mountPath":"/x"}])", volumes),
            "[spec.containers[0].volumeMounts[0].mountPath: Invalid value: \"/x\": must not already exist as a path in volumeDevices, "
            "spec.containers[0].volumeDevices[0].devicePath: Invalid value: \"/x\": must not already exist as a path in volumeMounts]");
}

TEST(PodMounts, VariablesAreReadFromEmptyDirectories) {
  const auto with = [](std::string_view volume) {
    return in_container(R"("env":[{"name":"A","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"p","key":"K"}}}])",
                        R"("volumes":[{"name":")" + std::string(volume) + "}]");
  };
  const std::string place = "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName: ";
  EXPECT_EQ(with(R"(v","emptyDir":{})"), "");
  EXPECT_EQ(with(R"(w","emptyDir":{})"), place + "Not found: \"v\"");
  EXPECT_EQ(with(R"(v","hostPath":{"path":"/x"})"), place + "Invalid value: \"v\": referenced volume must be of type emptyDir");
}

TEST(PodMounts, ErrorsOfModesAreReportedForTheList) {
  const std::string volumes = R"("volumes":[{"name":"v","emptyDir":{}}])";
  const auto with = [&](const std::string& members) {
    return in_container(R"("volumeMounts":[{"name":"v","mountPath":"/v",)" + members + "}]", volumes);
  };
  EXPECT_EQ(with(R"("mountPropagation":"Up")"),
            "spec.containers[0].volumeMounts.mountPropagation: Unsupported value: \"Up\": supported values: \"Bidirectional\", "
            "\"HostToContainer\", \"None\"");
  EXPECT_EQ(with(R"("mountPropagation":"Bidirectional")"),
            "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged "
            "containers");
  EXPECT_EQ(with(R"("recursiveReadOnly":"Enabled")"),
            "spec.containers[0].volumeMounts.recursiveReadOnly: Forbidden: may only be specified when readOnly is true");
}

TEST(PodRestarts, RulesSayWhenAndWhat) {
  const auto with = [](const std::string& rule) { return in_container(R"("restartPolicy":"Never","restartPolicyRules":[)" + rule + "]"); };
  EXPECT_EQ(with(R"({"action":"Restart","exitCodes":{"operator":"In","values":[1]}})"), "");
  EXPECT_EQ(with(R"({"action":"Stop","exitCodes":{"operator":"Is"}})"),
            "[spec.containers[0].restartPolicyRules[0].action: Unsupported value: \"Stop\": supported values: \"Restart\", "
            "\"RestartAllContainers\", spec.containers[0].restartPolicyRules[0].exitCodes.operator: Unsupported value: \"Is\": supported "
            "values: \"In\", \"NotIn\"]");
  EXPECT_EQ(with(R"({"action":"Restart"})"), "spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified");
  EXPECT_EQ(in_container(R"("restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In"}}])"),
            "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used");
}

TEST(PodRestarts, SleepsEndWithinTheGracePeriod) {
  EXPECT_EQ(in_container(R"("lifecycle":{"preStop":{"sleep":{"seconds":30}}})"), "");
  EXPECT_EQ(in_container(R"("lifecycle":{"preStop":{"sleep":{"seconds":31}}})"),
            "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than "
            "terminationGracePeriodSeconds (30)");
}

TEST(PodSecurity, ProfilesOfTheNodeAreNamed) {
  EXPECT_EQ(in_spec(R"("securityContext":{"seccompProfile":{"type":"Localhost"}})"),
            "spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost");
  EXPECT_EQ(in_spec(R"("securityContext":{"appArmorProfile":{"type":"Localhost","localhostProfile":" x"}})"),
            "spec.securityContext.appArmorProfile.localhostProfile: Invalid value: \" x\": must not be padded with whitespace");
  EXPECT_EQ(in_container(R"("securityContext":{"procMount":"Unmasked"})"),
            "spec.containers[0].securityContext.procMount: Invalid value: \"Unmasked\": `hostUsers` must be false to use `Unmasked`");
}

TEST(PodSecurity, WindowsUsersAreOfADomain) {
  const auto with = [](std::string_view name) {
    return in_container(R"("securityContext":{"windowsOptions":{"runAsUserName":")" + std::string(name) + "\"}}");
  };
  const auto expected_error = [](std::string_view name, std::string_view what) {
    return "spec.containers[0].securityContext.windowsOptions.runAsUserName: Invalid value: \"" + std::string(name) + "\": runAsUserName" +
           std::string(what);
  };
  for (const std::string_view good : {"u", "ContainerUser", R"(NT AUTHORITY\\SYSTEM)", R"(a.example.com\\u)", "a.b"})
    EXPECT_EQ(with(good), "") << good;
  EXPECT_EQ(with(""), expected_error("", " cannot be an empty string"));
  EXPECT_EQ(with(R"(a\\b\\c)"), expected_error(R"(a\\b\\c)", " cannot contain more than one backslash"));
  EXPECT_EQ(with(R"(.a_b\\u)"), expected_error(R"(.a_b\\u)", "'s Domain doesn't match the NetBios nor the DNS format"));
  EXPECT_EQ(with(R"(a\\)"), expected_error(R"(a\\)", "'s User cannot be empty"));
  EXPECT_EQ(with(". ."), expected_error(". .", "'s User cannot contain only periods or spaces"));
  EXPECT_EQ(with("a@b"), expected_error("a@b", R"('s User cannot contain the following characters: "/\:;|=,+*?<>@[])"));
  EXPECT_EQ(in_container(R"("securityContext":{"windowsOptions":{"gmsaCredentialSpec":""}})"),
            "spec.containers[0].securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: \"\": gmsaCredentialSpec cannot be an "
            "empty string");
}

TEST(PodSecurity, SchedulingGatesAreNamedOnce) {
  EXPECT_EQ(in_spec(R"("schedulingGates":[{"name":"a"},{"name":"example.com/a"}])"), "");
  EXPECT_EQ(in_spec(R"("schedulingGates":[{"name":"a"},{"name":"a"}])"), "spec.schedulingGates[1]: Duplicate value: \"a\"");
  EXPECT_TRUE(
      in_spec(R"("schedulingGates":[{"name":"A b"}])").starts_with("spec.schedulingGates[0]: Invalid value: \"A b\": name part must"));
}

TEST(PodSecurity, EachSystemHasItsOwn) {
  EXPECT_EQ(in_spec(R"("os":{"name":"windows"},"hostPID":true)"), "spec.hostPID: Forbidden: cannot be set for a windows pod");
  EXPECT_EQ(in_spec(R"("os":{"name":"linux"},"securityContext":{"windowsOptions":{}})"),
            "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod");
}

TEST(PodSecurity, HostnamesDoNotComeFromTwoPlaces) {
  EXPECT_EQ(in_spec(R"("hostnameOverride":"h")"), "");
  EXPECT_EQ(in_spec(R"("hostnameOverride":"h","hostNetwork":true)"),
            "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true");
}

TEST(PodRules, AmountsAreReportedInWholeUnits) {
  const auto with = [](const std::string& reference) {
    return in_container(R"("env":[{"name":"A","valueFrom":{"resourceFieldRef":)" + reference + "}}]");
  };
  EXPECT_EQ(with(R"({"resource":"limits.cpu","divisor":"1m"})"), "");
  EXPECT_EQ(with(R"({"resource":"limits.cpu","divisor":"7"})"),
            "spec.containers[0].env[0].valueFrom.resourceFieldRef.divisor: Invalid value: \"limits.cpu\": only divisor's values 1m and 1 "
            "are supported with the cpu resource");
}

TEST(PodRules, SettingsOfTheHostAreTheHosts) {
  const auto with = [](std::string_view sharing, std::string_view name) {
    const std::string text =
        "{\"" + std::string(sharing) + "\":true,\"securityContext\":{\"sysctls\":[{\"name\":\"" + std::string(name) + "\"}]}}";
    FieldErrors errors;
    validate_host_sysctls(json::parse(json::string_view(text.data(), text.size())).get_object(), "spec", errors);
    return errors.empty() ? "" : errors.aggregate_message();
  };
  EXPECT_EQ(with("hostNetwork", "kernel.msgmax"), "");
  EXPECT_EQ(with("hostNetwork", "net/ipv4/x"),
            "spec.securityContext.sysctls[0].name: Invalid value: \"net/ipv4/x\": may not be specified when 'hostNetwork' is true");
  EXPECT_EQ(with("hostIPC", "fs.mqueue.x"),
            "spec.securityContext.sysctls[0].name: Invalid value: \"fs.mqueue.x\": may not be specified when 'hostIPC' is true");
}

TEST(PodRules, NamesAreLookedUpInFewPlaces) {
  const auto with = [](const std::string& config) { return in_spec("\"dnsConfig\":" + config); };
  EXPECT_EQ(with(R"({"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]})"),
            "spec.dnsConfig.nameservers: Invalid value: [\"1.1.1.1\",\"1.1.1.2\",\"1.1.1.3\",\"1.1.1.4\"]: must not have more than 3 "
            "nameservers");
  std::string searches;
  for (int i = 0; i < 33; ++i) searches += (i == 0 ? "\"a" : ",\"a") + std::to_string(i) + "\"";
  EXPECT_TRUE(with("{\"searches\":[" + searches + "]}").ends_with("must not have more than 32 search paths"));
}

TEST(PodTemplates, HaveNoEphemeralContainers) {
  Value pod_template =
      json::parse(R"({"spec":{"containers":[{"name":"c","image":"i"}],"ephemeralContainers":[{"name":"e","image":"i"}]}})");
  FieldErrors errors;
  validate_pod_template(pod_template.get_object(), "template", {}, errors);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.aggregate_message(), "template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template");
}

}  // namespace
}  // namespace backplane::workload
