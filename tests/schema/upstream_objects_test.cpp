// Converts the objects of k8s.io/api's test data, which are in JSON, YAML and protobuf, from each encoding to every other one, and to CBOR
// and back; no byte may change.  `go mod download` stores the test data in the Go module cache; if go is not installed, the test is
// skipped.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "../support/skip.hpp"
#include "all_documents.hpp"
#include "engine/codec.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "k8s.io/api@v0.36.3";

// The folder of the module's test data; empty if it is not available.
fs::path test_data() {
  const std::string command = std::string("cd / && go mod download -json ") + kModule + " 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  for (int letter = fgetc(pipe); letter != EOF; letter = fgetc(pipe)) text.push_back(static_cast<char>(letter));
  if (pclose(pipe) != 0) return {};
  boost::system::error_code error;
  const Value found = json::parse(text, error);
  if (error || !found.is_object()) return {};
  const fs::path folder = fs::path(std::string(get_string(found.get_object(), "Dir"))) / "testdata";
  return fs::is_directory(folder) ? folder : fs::path();
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// The JSON text without white space between its tokens; nothing else is changed.
std::string compact(std::string_view json) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (!quoted && (json[i] == ' ' || json[i] == '\n')) continue;
    out.push_back(json[i]);
    if (quoted && json[i] == '\\') {
      out.push_back(json[++i]);
    } else if (json[i] == '"') {
      quoted = !quoted;
    }
  }
  return out;
}

// The type of the object in a file. A few kinds of apimachinery are in every group version, or in none, and are looked up by name.
const Schema* type_in(const std::string& file, const Object& object) {
  if (const Schema* type = type_of(object)) return type;
  if (file == "core.v1.WatchEvent") return all_documents().find("io.k8s.apimachinery.pkg.apis.meta.v1.WatchEvent");
  const std::string kind(get_string(object, "kind"));
  if (file == "apidiscovery.k8s.io.v2.APIGroupDiscovery") return all_documents().find("io.k8s.api.apidiscovery.v2." + kind);
  if (file == "apidiscovery.k8s.io.v2beta1.APIGroupDiscovery") return all_documents().find("io.k8s.api.apidiscovery.v2beta1." + kind);
  return kind.ends_with("Options") && get_string(object, "apiVersion") == "v1"
             ? all_documents().find("io.k8s.apimachinery.pkg.apis.meta.v1." + kind)
             : nullptr;
}

Result<std::string> canonical(const Schema& schema, Result<Value> tree) {
  if (!tree.ok()) return std::move(tree.status());
  Status normal = schema.normalize(*tree, nullptr);
  if (!normal.ok()) return normal;
  return to_json(*tree);
}

void expect_text(const Result<std::string>& got, const std::string& wanted, std::string_view what) {
  ASSERT_TRUE(got.ok()) << what << ": " << got.status().message();
  EXPECT_TRUE(*got == wanted) << what << ":\n" << *got << "\nwanted:\n" << wanted;
}

// The expected encoding of the object in a file of an old release. If the current release encodes it differently, upstream has that
// encoding in FILE.after_roundtrip.EXTENSION.
std::string wanted(const std::string& file, const std::string& extension) {
  const std::string after = file + ".after_roundtrip" + extension;
  return content(fs::exists(after) ? after : file + extension);
}

// `file`: the path without the extension.
void expect_round_trip(const Schema& schema, const std::string& file) {
  const std::string json = compact(wanted(file, ".json"));
  expect_text(canonical(schema, parse_json(content(file + ".json"), {}, nullptr)), json, "JSON to JSON");
  expect_text(canonical(schema, parse_yaml(content(file + ".yaml"), {}, nullptr)), json, "YAML to JSON");
  expect_text(protobuf_codec().from_stored(&schema, content(file + ".pb")), json, "protobuf to JSON");
  EXPECT_EQ(to_yaml(json::parse(json)), wanted(file, ".yaml"));
  expect_text(protobuf_codec().to_stored(&schema, json), wanted(file, ".pb"), "JSON to protobuf");
  const auto cbor = cbor_codec().to_stored(&schema, json);
  ASSERT_TRUE(cbor.ok()) << cbor.status().message();
  expect_text(cbor_codec().from_stored(&schema, *cbor), json, "CBOR to JSON");
}

struct Seen {
  std::size_t objects = 0;
  std::set<std::string> without_type;
};

Seen round_trips_in(const fs::path& folder, const std::set<std::string>& passed_over = {}) {
  Seen seen;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".json" || name.find(".after_roundtrip") != std::string::npos) continue;
    const Value tree = json::parse(content(entry.path()));
    const Schema* schema = type_in(name, tree.as_object());
    if (passed_over.count(name)) continue;
    if (schema == nullptr) {
      seen.without_type.insert(name);
      continue;
    }
    ++seen.objects;
    const testing::ScopedTrace trace(__FILE__, __LINE__, folder.filename().string() + "/" + name);
    expect_round_trip(*schema, (folder / name).string());
  }
  return seen;
}

TEST(UpstreamObjects, EveryEncodingOfEveryObjectConvertsToEveryOtherUnchanged) {
  const fs::path folder = test_data();
  if (folder.empty()) BACKPLANE_SKIP_WITHOUT("go", "go is not installed, or cannot fetch " + std::string(kModule));
  const Seen seen = round_trips_in(folder / "HEAD");
  EXPECT_EQ(seen.objects, 185u);
  EXPECT_EQ(seen.without_type, std::set<std::string>());
}

TEST(UpstreamObjects, ThoseOfOlderReleasesComeOutAsThisOneWritesThem) {
  const fs::path folder = test_data();
  if (folder.empty()) BACKPLANE_SKIP_WITHOUT("go", "go is not installed, or cannot fetch " + std::string(kModule));
  // Versions that 1.36 has removed.
  const std::set<std::string> kGone = {"autoscaling.v2beta1.HorizontalPodAutoscaler",
                                       "autoscaling.v2beta2.HorizontalPodAutoscaler",
                                       "certificates.k8s.io.v1alpha1.PodCertificateRequest",
                                       "networking.k8s.io.v1alpha1.IPAddress",
                                       "networking.k8s.io.v1alpha1.ServiceCIDR",
                                       "resource.k8s.io.v1alpha3.DeviceClass",
                                       "resource.k8s.io.v1alpha3.ResourceClaim",
                                       "resource.k8s.io.v1alpha3.ResourceClaimTemplate",
                                       "resource.k8s.io.v1alpha3.ResourceSlice",
                                       "scheduling.k8s.io.v1alpha1.PriorityClass",
                                       "scheduling.k8s.io.v1alpha1.Workload"};
  for (const char* release : {"v1.33.0", "v1.34.0", "v1.35.0"}) {
    // ListOptions has a new field, and upstream excludes it from its round-trip test.
    const Seen seen = round_trips_in(folder / release, {"core.v1.ListOptions"});
    EXPECT_GE(seen.objects, 165u) << release;
    for (const std::string& name : seen.without_type) EXPECT_TRUE(kGone.count(name)) << release << ": " << name << " has no type";
  }
}

}  // namespace
}  // namespace backplane
