#include "backplane/workload/volume_sources.hpp"

#include <gtest/gtest.h>

#include "backplane/types/schema.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::workload {
namespace {

// Returns the errors of a pod's volume with this source: those of the schema's rules, and those of validate_volume_source().
std::string problems_of(std::string_view source) {
  const std::string text =
      "{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"imagePullPolicy\":\"Always\",\"terminationMessagePolicy\":"
      "\"File\"}],\"volumes\":[{\"name\":\"v\"," +
      std::string(source) + "}]}";
  const Object spec = json::parse(json::string_view(text.data(), text.size())).get_object();
  FieldErrors errors;
  const Schema* volume = core_schemas()->find("io.k8s.api.core.v1.Volume");
  volume->check(spec.at("volumes").at(0).get_object(), nullptr, ObjectPart::kWhole, "spec.volumes[0]", errors);
  validate_pod_spec(spec, "spec", "", {}, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

std::string of_persistent_volume(std::string_view spec) {
  const Object source = json::parse(json::string_view(spec.data(), spec.size())).get_object();
  FieldErrors errors;
  core_schemas()->find("io.k8s.api.core.v1.PersistentVolumeSource")->check(source, nullptr, ObjectPart::kWhole, "spec", errors);
  validate_volume_source(source, "spec", "pv", errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

constexpr char kVolume[] = "spec.volumes[0].";

TEST(VolumeSources, HaveWhatTheyCannotDoWithout) {
  const std::pair<const char*, const char*> rows[] = {
      {R"("azureFile":{"shareName":"s"})", "azureFile.secretName: Required value"},
      {R"("cephfs":{"monitors":[]})", "cephfs.monitors: Required value"},
      {R"("cinder":{})", "cinder.volumeID: Required value"},
      {R"("flexVolume":{})", "flexVolume.driver: Required value"},
      {R"("gcePersistentDisk":{})", "persistentDisk.pdName: Required value"},
      {R"("gitRepo":{})", "gitRepo.repository: Required value"},
      {R"("glusterfs":{"endpoints":"e"})", "glusterfs.path: Required value"},
      {R"("photonPersistentDisk":{})", "photonPersistentDisk.pdID: Required value"},
      {R"("portworxVolume":{})", "portworxVolume.volumeID: Required value"},
      {R"("scaleIO":{"gateway":"g","system":"s"})", "scaleIO.volumeName: Required value"},
      {R"("vsphereVolume":{})", "vsphereVolume.volumePath: Required value"},
      {R"("rbd":{"monitors":["m"]})", "rbd.image: Required value"},
  };
  for (const auto& [source, problem] : rows) EXPECT_EQ(problems_of(source), std::string(kVolume) + problem);
}

TEST(VolumeSources, OfISCSIHaveNamesOfOneOfThreeForms) {
  const auto with = [](std::string_view name) {
    return problems_of("\"iscsi\":{\"targetPortal\":\"1.2.3.4\",\"lun\":0,\"iqn\":\"" + std::string(name) + "\"}");
  };
  EXPECT_EQ(with("iqn.2001-04.com.example:storage.disk1"), "");
  EXPECT_EQ(with("eui.0123456789ABCDEF"), "");
  EXPECT_EQ(with("naa.0123456789abcdef0123456789abcdef"), "");
  EXPECT_EQ(with("x"), std::string(kVolume) + "iscsi.iqn: Invalid value: \"x\": must be valid format starting with iqn, eui, or naa");
  for (const char* name : {"iqn.x", "iqn.2001-04.com.example", "iqn.2001-04.com.example:a b", "eui.0123", "naa.0123456789abcdef"}) {
    EXPECT_EQ(with(name), std::string(kVolume) + "iscsi.iqn: Invalid value: \"" + name + "\": must be valid format");
  }
  EXPECT_EQ(of_persistent_volume(R"({"iscsi":{"targetPortal":"1.2.3.4","iqn":"x"}})"),
            "spec.iscsi.iqn: Invalid value: \"x\": must be valid format");
}

TEST(VolumeSources, OfFibreChannelAreTargetsOrDisks) {
  EXPECT_EQ(problems_of(R"("fc":{"wwids":["a"]})"), "");
  EXPECT_EQ(problems_of(R"("fc":{"targetWWNs":["a"],"lun":0})"), "");
  EXPECT_EQ(problems_of(R"("fc":{})"),
            std::string(kVolume) + "fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both");
  EXPECT_EQ(problems_of(R"("fc":{"targetWWNs":["a"],"wwids":["b"],"lun":1})"),
            std::string(kVolume) + "fc.targetWWNs: Invalid value: [\"a\"]: targetWWNs and wwids can not be specified simultaneously");
  EXPECT_EQ(problems_of(R"("fc":{"targetWWNs":["a"]})"),
            std::string(kVolume) + "fc.lun: Required value: lun is required if targetWWNs is specified");
  EXPECT_EQ(problems_of(R"("fc":{"targetWWNs":["a"],"lun":256})"),
            std::string(kVolume) + "fc.lun: Invalid value: 256: must be between 0 and 255, inclusive");
}

TEST(VolumeSources, NoFileLeavesItsVolumeNorHasTheNameOfTheWriter) {
  const std::string field = R"(","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}]})";
  const auto downward = [&](const std::string& path) { return problems_of(R"("downwardAPI":{"items":[{"path":")" + path + field); };
  EXPECT_EQ(downward("a/..b"), "");
  EXPECT_EQ(downward("../a"), std::string(kVolume) + "downwardAPI.path: Invalid value: \"../a\": must not contain '..'");
  EXPECT_EQ(downward("..a"), std::string(kVolume) + "downwardAPI.path: Invalid value: \"..a\": must not start with '..'");
  EXPECT_EQ(problems_of(R"("configMap":{"name":"c","items":[{"key":"k","path":"..data"}]})"),
            std::string(kVolume) + "configMap.items[0].path: Invalid value: \"..data\": must not start with '..'");
  const auto token = [](const std::string& path) {
    return problems_of(R"("projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3600,"path":")" + path + R"("}}]})");
  };
  EXPECT_EQ(token("a"), "");
  EXPECT_EQ(token("/a"), std::string(kVolume) + "projected.path: Invalid value: \"/a\": must be a relative path");
  EXPECT_EQ(token("a/../b"), std::string(kVolume) + "projected.path: Invalid value: \"a/../b\": must not contain '..'");
  EXPECT_EQ(token("..a"), std::string(kVolume) + "projected.path: Invalid value: \"..a\": must not start with '..'");
}

TEST(VolumeSources, OfOtherKindsFollowTheirOwnRules) {
  EXPECT_EQ(problems_of(R"("quobyte":{"registry":"a:1,[::1]:2","volume":"v"})"), "");
  EXPECT_EQ(
      problems_of(R"("quobyte":{"registry":"a","volume":"v"})"),
      std::string(kVolume) + "quobyte.registry: Invalid value: \"a\": must be a host:port pair or multiple pairs separated by commas");
  EXPECT_EQ(problems_of(R"("flocker":{"datasetName":"a/b"})"),
            std::string(kVolume) + "flocker.datasetName: Invalid value: \"a/b\": must not contain '/'");
  EXPECT_EQ(problems_of(R"("flexVolume":{"driver":"a/b","options":{"a.K8s.io/x":"y","k8s.io.example/x":"y"}})"),
            std::string(kVolume) +
                "flexVolume.options[a.K8s.io/x]: Invalid value: \"a.K8s.io/x\": kubernetes.io and k8s.io namespaces are reserved");
  EXPECT_EQ(problems_of(R"("azureDisk":{"diskName":"a","diskURI":"b","kind":"Managed"})"),
            std::string(kVolume) +
                "azureDisk.diskURI: Unsupported value: \"b\": supported values: "
                "\"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}\"");
  EXPECT_EQ(problems_of(R"("gitRepo":{"repository":"r","directory":"../a"})"),
            std::string(kVolume) + "gitRepo.directory: Invalid value: \"../a\": must not contain '..'");
  EXPECT_EQ(of_persistent_volume(R"({"glusterfs":{"endpoints":"e","path":"p","endpointsNamespace":""}})"),
            "spec.glusterfs.endpointsNamespace: Invalid value: \"\": if the endpointnamespace is set, it must be a valid namespace name");
  EXPECT_EQ(problems_of(R"("csi":{"driver":"d","nodePublishSecretRef":{}})"),
            std::string(kVolume) + "csi.nodePublishSecretRef.name: Required value");
  EXPECT_EQ(of_persistent_volume(R"({"storageos":{"volumeName":"v","secretRef":{"name":"s"}}})"),
            "spec.storageos.secretRef.namespace: Required value");
}

}  // namespace
}  // namespace backplane::workload
