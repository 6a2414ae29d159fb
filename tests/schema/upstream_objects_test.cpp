// The JSON and protobuf twins that k8s.io/api carries as its test data, for every kind whose schema is at hand: one made into the other,
// byte for byte.  They are read from the Go module cache, where `go mod download` puts them; without go the test is skipped.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "apps_v1_json.hpp"
#include "backplane/codec.hpp"
#include "backplane/schema.hpp"
#include "core_v1_json.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModule = "k8s.io/api@v0.36.3";

// The folder of the module's newest test data; empty when it cannot be had.
fs::path test_data() {
  const std::string command = std::string("cd / && go mod download -json ") + kModule + " 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  for (int letter = fgetc(pipe); letter != EOF; letter = fgetc(pipe)) text.push_back(static_cast<char>(letter));
  if (pclose(pipe) != 0) return {};
  boost::system::error_code error;
  const Value told = json::parse(text, error);
  if (error || !told.is_object()) return {};
  const fs::path folder = fs::path(std::string(get_string(told.get_object(), "Dir"))) / "testdata" / "HEAD";
  return fs::is_directory(folder) ? folder : fs::path();
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::shared_ptr<const SchemaSet> schemas() {
  const std::string_view texts[] = {core_v1_json(), apps_v1_json()};
  auto made = SchemaSet::embedded(texts);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return *made;
}

const Schema* type_of(const SchemaSet& set, const Object& object) {
  const GroupVersion version = GroupVersion::parse(get_string(object, "apiVersion"));
  return set.find(GroupVersionKind{version.group, version.version, std::string(get_string(object, "kind"))});
}

// Canonical JSON of the object in a file.
std::string canonical(const Schema& schema, Value tree) {
  EXPECT_TRUE(schema.normalize(tree, nullptr).ok());
  return to_json(tree);
}

TEST(UpstreamObjects, JsonAndProtobufAreMadeIntoEachOther) {
  const fs::path folder = test_data();
  if (folder.empty()) GTEST_SKIP() << "go cannot be run here, or cannot fetch " << kModule << ": no test data";
  const auto set = schemas();
  const Codec* protobuf = find_codec("protobuf");
  ASSERT_NE(protobuf, nullptr);
  std::size_t seen = 0;
  for (const auto& file : fs::directory_iterator(folder)) {
    if (file.path().extension() != ".json" || file.path().filename().string().find("after_roundtrip") != std::string::npos) continue;
    const Value tree = json::parse(content(file.path()));
    const Schema* schema = type_of(*set, tree.as_object());
    if (schema == nullptr) continue;
    ++seen;
    SCOPED_TRACE(file.path().filename().string());
    const std::string json = canonical(*schema, tree);
    const std::string twin = content(fs::path(file.path()).replace_extension(".pb"));
    const auto stored = protobuf->to_stored(schema, json);
    ASSERT_TRUE(stored.ok()) << stored.status().message();
    EXPECT_TRUE(*stored == twin) << "the protobuf of " << json << " differs";
    const auto back = protobuf->from_stored(schema, twin);
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(*back, json);
  }
  EXPECT_GE(seen, 25u) << "kinds of the core group and apps";
}

}  // namespace
}  // namespace backplane
