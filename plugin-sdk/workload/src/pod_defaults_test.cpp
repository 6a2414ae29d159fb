#include "backplane/workload/pod_defaults.hpp"

#include <gtest/gtest.h>

#include "backplane/types/names.hpp"
#include "backplane/types/schema.hpp"
#include "backplane/workload/image_name.hpp"
#include "backplane/workload/pod_validation.hpp"
#include "backplane/workload/resources.hpp"
#include "backplane/workload/workload.hpp"

namespace backplane::workload {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

const Schema& schema_of_specs() { return *core_schemas()->find("io.k8s.api.core.v1.PodSpec"); }

Object defaulted(std::string_view pod_spec) {
  Value spec = parse(pod_spec);
  EXPECT_TRUE(schema_of_specs().normalize(spec, nullptr).ok());
  schema_of_specs().apply_defaults(spec);
  apply_pod_spec_defaults(spec.get_object());
  return spec.get_object();
}

std::string problems_of(std::string_view pod_spec, const PodValidationOptions& options = {}) {
  const Object spec = defaulted(pod_spec);
  FieldErrors errors;
  schema_of_specs().check(spec, nullptr, ObjectPart::kWhole, "spec", errors);
  validate_pod_spec(spec, "spec", "p", options, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(PodDefaults, FillWhatTheClientLeftOpen) {
  Object spec = defaulted(R"({"containers":[{"name":"c","image":"nginx"}]})");
  const Object& container = spec.at("containers").get_array()[0].get_object();
  EXPECT_EQ(get_string(container, "imagePullPolicy"), "Always");
  EXPECT_EQ(get_string(container, "terminationMessagePath"), "/dev/termination-log");
  EXPECT_EQ(get_string(spec, "restartPolicy"), "Always");
  EXPECT_EQ(get_int(spec, "terminationGracePeriodSeconds"), 30);
  EXPECT_NE(get_object(spec, "securityContext"), nullptr);
  const std::string once = to_json(spec);
  apply_pod_spec_defaults(spec);
  EXPECT_EQ(to_json(spec), once) << "applying twice changes nothing";
}

TEST(PodDefaults, PullPolicyFollowsTheTag) {
  for (const auto& [image, policy] : {std::pair{"nginx", "Always"},
                                      {"nginx:latest", "Always"},
                                      {"nginx:1.25", "IfNotPresent"},
                                      {"host:5000/nginx", "Always"},
                                      {"nginx@sha256:aa", "IfNotPresent"}}) {
    Object spec = parse(std::string(R"({"containers":[{"name":"c","image":")") + image + "\"}]}");
    apply_pod_spec_defaults(spec);
    EXPECT_EQ(get_string(spec.at("containers").get_array()[0].get_object(), "imagePullPolicy"), policy) << image;
  }
}

TEST(PodDefaults, MalformedImagesHaveNoTag) {
  const std::string digest(64, 'a');
  for (const auto& [image, tag] : {std::pair<std::string, std::optional<std::string>>{"nginx", "latest"},
                                   {"localhost/a/b:1", "1"},
                                   {"host:5000/a__b/c-d.e", "latest"},
                                   {"[::1]:5000/a", "latest"},
                                   {"UPPER/a", "latest"},
                                   {"nginx:latest@sha256:" + digest, "latest"},
                                   {"nginx@sha256:" + digest, ""},
                                   {"a/" + std::string(253, 'x'), "latest"},
                                   {std::string(248, 'x'), std::nullopt},
                                   {"", std::nullopt},
                                   {"Bad Value!", std::nullopt},
                                   {"Nginx", std::nullopt},
                                   {"a..b", std::nullopt},
                                   {"a___b", std::nullopt},
                                   {"nginx:", std::nullopt},
                                   {"nginx:.x", std::nullopt},
                                   {"nginx@sha256:aa", std::nullopt},
                                   {digest, std::nullopt}}) {
    EXPECT_EQ(image_tag(image), tag) << image;
  }
}

TEST(PodDefaults, NoPodIsGivenANegativeGracePeriod) {
  Object pod = parse(R"({"spec":{"terminationGracePeriodSeconds":-1}})");
  apply_pod_only_defaults(pod);
  EXPECT_EQ(get_int_path(pod, "spec.terminationGracePeriodSeconds"), 1);
}

TEST(PodDefaults, AnnotationsOfInitContainersAreDropped) {
  Object pod = parse(R"({"metadata":{"annotations":{"pod.beta.kubernetes.io/init-containers":"x"}},"spec":{}})");
  apply_pod_only_defaults(pod);
  EXPECT_EQ(to_json(*find_path(pod, "metadata")), "{}");
  Object pod_template = parse(R"({"metadata":{"annotations":{"pod.alpha.kubernetes.io/init-container-statuses":"x","a":"b"}},"spec":{}})");
  apply_pod_template_defaults(pod_template);
  EXPECT_EQ(to_json(*find_path(pod_template, "metadata")), R"({"annotations":{"a":"b"}})");
}

TEST(PodDefaults, EmptySourcesComeBackAsNull) {
  Object deployment = parse(R"({"spec":{"template":{"spec":{"volumes":[{"projected":{"sources":[]}},{"projected":{"sources":[{}]}}]}}}})");
  canonicalize_template(deployment);
  EXPECT_EQ(to_json(*find_path(deployment, "spec.template.spec.volumes")),
            R"([{"projected":{"sources":null}},{"projected":{"sources":[{}]}}])");
}

TEST(PodDefaults, RequestsComeFromLimitsInPodsOnly) {
  Object pod =
      parse(R"({"spec":{"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"},"requests":{"memory":"1Mi"}}}]}})");
  apply_pod_only_defaults(pod);
  const Object& resources = pod.at("spec").get_object().at("containers").get_array()[0].get_object().at("resources").get_object();
  EXPECT_EQ(to_json(resources.at("requests")), R"({"memory":"1Mi","cpu":"1"})");
}

TEST(PodDefaults, OverheadIsRoundedUpToThousandths) {
  EXPECT_EQ(get_string_path(defaulted(R"({"overhead":{"cpu":"0.0001"}})"), "overhead.cpu"), "1m");
}

TEST(PodDefaults, VolumesWithoutSourceAreEmptyDirs) {
  const Object spec = defaulted(R"({"volumes":[{"name":"v"},{"name":"c","configMap":{"name":"x"}}]})");
  EXPECT_EQ(to_json(spec.at("volumes")), R"([{"name":"v","emptyDir":{}},{"name":"c","configMap":{"name":"x","defaultMode":420}}])");
}

TEST(PodRules, ContainersAreRequired) {
  EXPECT_EQ(problems_of("{}"), "spec.containers: Required value");
  EXPECT_EQ(problems_of(R"({"containers":[{}]})"), "[spec.containers[0].name: Required value, spec.containers[0].image: Required value]");
  EXPECT_EQ(problems_of(R"({"containers":[{"name":"c","image":"i"}]})"), "");
}

TEST(PodRules, ErrorsOfTolerationsAreReportedForTheirOperator) {
  const auto with = [](std::string_view toleration) {
    return problems_of(R"({"containers":[{"name":"c","image":"i"}],"tolerations":[)" + std::string(toleration) + "]}");
  };
  EXPECT_EQ(with(R"({"operator":"Exists"})"), "");
  EXPECT_EQ(with(R"({"key":"a","value":"b","effect":"NoExecute","tolerationSeconds":0})"), "");
  EXPECT_EQ(with(R"({"effect":"NoSchedule"})"),
            "spec.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all "
            "values and all keys\"");
  EXPECT_EQ(with(R"({"key":"a","tolerationSeconds":0})"),
            "spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set");
  EXPECT_EQ(with(R"({"key":"a","operator":"Exists","value":"b"})"),
            "spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'");
  EXPECT_EQ(with(R"({"key":"a","operator":"Lt","value":"b"})"),
            "spec.tolerations[0].operator: Unsupported value: \"Lt\": supported values: \"Equal\", \"Exists\", \"Lt\", \"Gt\"")
      << "resources that need a gate are mentioned only if one of them is set";
  EXPECT_EQ(with(R"({"key":"a","operator":"lt"})"),
            "spec.tolerations[0].operator: Unsupported value: \"lt\": supported values: \"Equal\", \"Exists\"");
  EXPECT_TRUE(with(R"({"key":"a","value":"a b"})").starts_with("spec.tolerations[0].operator: Invalid value: \"a b\": a valid label"));
}

TEST(PodRules, SingleFieldsAreLookedAtByTheSchema) {
  const auto with = [](std::string_view rest) {
    return problems_of(R"({"containers":[{"name":"c","image":"i"}],)" + std::string(rest) + "}");
  };
  EXPECT_EQ(with(R"("os":{"name":"plan9"})"), R"(spec.os: Unsupported value: "plan9": supported values: "linux", "windows")");
  EXPECT_TRUE(
      with(R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","namespaces":["A"]}]}})")
          .starts_with("spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespace: Invalid value: \"A\""));
  EXPECT_EQ(with(R"("volumes":[{"name":"v","projected":{"sources":[{"serviceAccountToken":{"path":"t","expirationSeconds":5}}]}}],)"
                 R"("serviceAccountName":"a")"),
            "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 5: may not specify a duration less "
            "than 10 minutes");
  EXPECT_EQ(problems_of(R"({"volumes":[{"name":"v"}],"containers":[{"name":"c","image":"i","volumeMounts":[)"
                        R"({"name":"v","mountPath":"/v","subPath":"a","subPathExpr":"b"}]}]})"),
            "spec.containers[0].volumeMounts[0].subPathExpr: Invalid value: \"b\": subPathExpr and subPath are mutually exclusive");
}

TEST(PodRules, EphemeralContainersSayNothingOfServing) {
  const auto with = [](std::string_view field) {
    return problems_of(
        R"({"containers":[{"name":"c","image":"i"}],"volumes":[{"name":"v"}],"ephemeralContainers":[{"name":"e","image":"i",)" +
        std::string(field) + "}]}");
  };
  EXPECT_EQ(with(R"("tty":true)"), "");
  for (const char* field : {R"("ports":[{"containerPort":80}])", R"("resources":{"limits":{"cpu":"1"}})", R"("livenessProbe":{})",
                            R"("readinessProbe":{})", R"("startupProbe":{})", R"("lifecycle":{})"}) {
    const std::string name = std::string(field).substr(1, std::string(field).find('"', 1) - 1);
    EXPECT_EQ(with(field), "spec.ephemeralContainers[0]." + name + ": Forbidden: cannot be set for an Ephemeral Container");
  }
  EXPECT_EQ(with(R"("volumeMounts":[{"name":"v","mountPath":"/v","subPath":"a"},{"name":"v","mountPath":"/w","subPathExpr":"b"}])"),
            "[spec.ephemeralContainers[0].volumeMounts[0].subPath: Forbidden: cannot be set for an Ephemeral Container, "
            "spec.ephemeralContainers[0].volumeMounts[1].subPathExpr: Forbidden: cannot be set for an Ephemeral Container]");
  EXPECT_EQ(with(R"("targetContainerName":"x")"), "spec.ephemeralContainers[0].targetContainerName: Not found: \"x\"");
}

TEST(PodRules, InitContainersRunOnceUnlessTheyAlwaysRestart) {
  EXPECT_EQ(problems_of(R"({"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"i","image":"i","lifecycle":{}}]})"),
            "spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always");
  EXPECT_EQ(problems_of(R"({"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"i","image":"i","startupProbe":{},
                            "lifecycle":{"preStop":{"exec":{}}}}]})"),
            "[spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always, "
            "spec.initContainers[0].startupProbe: Forbidden: may not be set for init containers without restartPolicy=Always]");
  EXPECT_EQ(problems_of(R"({"containers":[{"name":"c","image":"i"}],"initContainers":[{"name":"c","image":"i","restartPolicy":"Always",
                            "lifecycle":{}}]})"),
            "spec.initContainers[0].name: Duplicate value: \"c\"");
}

TEST(PodRules, MountsNameVolumes) {
  EXPECT_EQ(problems_of(R"({"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"v","mountPath":"/v"}]}]})"),
            "spec.containers[0].volumeMounts[0].name: Not found: \"v\"");
}

TEST(PodRules, ProbesNeedOneHandler) {
  EXPECT_EQ(problems_of(R"({"containers":[{"name":"c","image":"i","livenessProbe":{}}]})"),
            "spec.containers[0].livenessProbe: Required value: must specify a handler type");
}

TEST(PodRules, RequestsStayBelowLimits) {
  EXPECT_EQ(problems_of(R"({"containers":[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"},"requests":{"cpu":"2"}}}]})"),
            "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1");
}

TEST(PodRules, SpreadConstraintsAreRepeatedByTheEarlierOnes) {
  const std::string zone = R"({"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"})";
  const std::string host = R"({"maxSkew":1,"topologyKey":"host","whenUnsatisfiable":"DoNotSchedule"})";
  const std::string text =
      problems_of(R"({"containers":[{"name":"c","image":"i"}],"topologySpreadConstraints":[)" + zone + "," + host + "," + zone + "]}");
  EXPECT_EQ(text, "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{zone, DoNotSchedule}\"");
}

TEST(Workloads, TemplatesCarryTheSelectorsLabels) {
  const Object spec = parse(R"({"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"y"}}}})");
  FieldErrors errors;
  validate_workload_template(spec, {}, errors);
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors.list()[0].field, "spec.template.metadata.labels");
  EXPECT_EQ(errors.list()[0].text, "Invalid value: {\"app\":\"y\"}: `selector` does not match template `labels`");
}

TEST(PodRules, PrivilegedContainersNeedTheFlag) {
  constexpr std::string_view kPod = R"({"containers":[{"name":"c","image":"i","securityContext":{"privileged":true}}]})";
  EXPECT_EQ(problems_of(kPod), "spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy");
  PodValidationOptions options;
  options.allow_privileged = true;
  EXPECT_EQ(problems_of(kPod, options), "");
  EXPECT_NE(problems_of(kPod), "") << "what one caller allows is nothing to another";
}

}  // namespace
}  // namespace backplane::workload
