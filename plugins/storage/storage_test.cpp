#include <gtest/gtest.h>

#include "kind_under_test.hpp"
#include "kinds.hpp"

namespace backplane::storage {
namespace {

using kit::KindRow;

KindRow row_of(std::string_view kind) { return storage_group()->kind(kind); }
const SchemaSet& schemas() {
  static const auto sets = storage_schemas();
  return *sets->front();
}
testing::KindUnderTest kind(std::string_view name) { return testing::KindUnderTest(row_of(name), schemas(), "storage.k8s.io"); }
Object made(std::string_view name, std::string_view rest) {
  return kind(name).created(R"({"metadata":{"name":"a","namespace":"n"},)" + std::string(rest) + "}");
}

TEST(CsiDrivers, CountTheirGenerationsFromTheFirstChangeOn) {
  const Object old = made("CSIDriver", R"("spec":{})");
  EXPECT_EQ(get_int_path(old, "metadata.generation"), std::nullopt);
  Object now = old;
  now.at("spec").get_object()["podInfoOnMount"] = true;
  RequestContext context;
  const auto strategy = row_of("CSIDriver").strategy();
  strategy->prepare_for_update(context, now, old);
  EXPECT_EQ(get_int_path(now, "metadata.generation"), 1);
  Object same = now;
  strategy->prepare_for_update(context, same, now);
  EXPECT_EQ(get_int_path(same, "metadata.generation"), 1);
}

TEST(CsiDrivers, WarnOfTokensAmongTheAttributes) {
  const auto warnings = [](const Object& now, const Object* old) { return row_of("CSIDriver").strategy()->warnings(now, old).size(); };
  const Object driver = made("CSIDriver", R"("spec":{"tokenRequests":[{"audience":"a"}]})");
  EXPECT_EQ(warnings(driver, nullptr), 1U);
  EXPECT_EQ(warnings(driver, &driver), 0U);
  EXPECT_EQ(warnings(made("CSIDriver", R"("spec":{"tokenRequests":[{"audience":"a"}],"serviceAccountTokenInSecrets":false})"), nullptr),
            0U);
}

TEST(CsiDrivers, AskForEachAudienceOnce) {
  const auto problems = [](std::string_view rest) { return kind("CSIDriver").problems(made("CSIDriver", rest)); };
  EXPECT_EQ(problems(R"("spec":{"tokenRequests":[{"audience":""},{"audience":""}]})"),
            R"(spec.tokenRequests[1].audience: Duplicate value: "")");
  EXPECT_EQ(
      problems(R"("spec":{"serviceAccountTokenInSecrets":true})"),
      "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified");
  EXPECT_EQ(problems(R"("spec":{"tokenRequests":[{"audience":"a","expirationSeconds":4294967297}]})"),
            "spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds");
}

TEST(CsiNodes, KeepWhatIsKnownOfADriver) {
  const Object old = made("CSINode", R"("spec":{"drivers":[{"name":"d","nodeID":"n","topologyKeys":["zone"],"allocatable":{"count":1}}]})");
  Object now = made("CSINode", R"("spec":{"drivers":[{"name":"d","nodeID":"n","topologyKeys":["zone"],"allocatable":{"count":2}}]})");
  EXPECT_EQ(kind("CSINode").change_problems(now, old), "");
  now = made("CSINode", R"("spec":{"drivers":[{"name":"d","nodeID":"m","topologyKeys":null}]})");
  EXPECT_EQ(kind("CSINode").change_problems(now, old),
            R"(spec.drivers: Invalid value: {"Name":"d","NodeID":"m","TopologyKeys":null,"Allocatable":null}: field is immutable)");
}

TEST(StorageClasses, SayEachTopologyOnce) {
  const auto problems = [](std::string_view terms) {
    return kind("StorageClass").problems(made("StorageClass", R"("provisioner":"P","allowedTopologies":)" + std::string(terms)));
  };
  EXPECT_EQ(
      problems(R"([{"matchLabelExpressions":[{"key":"z","values":["a","b"]}]},{"matchLabelExpressions":[{"key":"z","values":["a"]}]}])"),
      "");
  EXPECT_EQ(
      problems(
          R"([{"matchLabelExpressions":[{"key":"z","values":["a","b"]}]},{"matchLabelExpressions":[{"key":"z","values":["b","a"]}]}])"),
      R"(allowedTopologies[1].matchLabelExpressions: Duplicate value: "")");
  EXPECT_EQ(problems("[{}]"), R"(allowedTopologies[0].matchLabelExpressions: Duplicate value: "")");
}

TEST(VolumeAttachments, HoldOneVolume) {
  const auto problems = [](std::string_view source) {
    return kind("VolumeAttachment")
        .problems(made("VolumeAttachment", R"("spec":{"attacher":"a","nodeName":"n","source":)" + std::string(source) + "}"));
  };
  EXPECT_EQ(problems(R"({"persistentVolumeName":"pv"})"), "");
  EXPECT_EQ(problems("{}"), "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName");
  EXPECT_EQ(problems(R"({"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],"csi":{"driver":"d","volumeHandle":"h"}}})"), "");
  EXPECT_EQ(problems(R"({"inlineVolumeSpec":{"capacity":{"storage":"-1"},"nfs":{}},"persistentVolumeName":"pv"})"),
            "spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName");
  EXPECT_EQ(
      problems(R"({"inlineVolumeSpec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1"},"persistentVolumeReclaimPolicy":"Delete",
                     "hostPath":{"path":"/x"}}})"),
      "[spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the context of inline volumes, "
      "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes, "
      "spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes]");
}

}  // namespace
}  // namespace backplane::storage
