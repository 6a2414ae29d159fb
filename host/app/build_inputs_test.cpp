#include "app/build_inputs.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace backplane {
namespace {

namespace fs = std::filesystem;

struct BuildInputs : ::testing::Test {
  void SetUp() override { fs::create_directories(directory / "CMakeFiles/p.dir"); }
  void TearDown() override { fs::remove_all(directory); }
  void write(const std::string& file, const std::string& text) const { std::ofstream(directory / file, std::ios::binary) << text; }
  bool has(std::string_view name) const { return is_build_input(directory.string(), name); }

  const fs::path directory = fs::temp_directory_path() / ("backplane-inputs-" + std::to_string(::getpid()));
};

TEST_F(BuildInputs, OfNinjaAreSourcesHeadersAndDocuments) {
  EXPECT_TRUE(has("notes.txt")) << "there is no build yet";
  write("build.ninja", "build p.o: CXX ../a.cpp\nbuild s: CUSTOM /src/p/types.json | /src/p/CMakeLists.txt\n");
  write(".ninja_deps", std::string("# ninjadeps\n\0\0/src/p/a.hpp\0\0\0", 29));
  write("CMakeFiles/p.dir/a.cpp.o", "/src/p/notes.txt\n");
  for (const char* name : {"a.cpp", "a.hpp", "types.json", "CMakeLists.txt"}) EXPECT_TRUE(has(name)) << name;
  for (const char* name : {"notes.txt", "types.json~", "types.json.new", "s.json", "pp"}) EXPECT_FALSE(has(name)) << name;
}

TEST_F(BuildInputs, OfMakeAreSourcesHeadersAndDocuments) {
  write("CMakeFiles/Makefile.cmake", "  \"/src/p/CMakeLists.txt\"\n  \"/src/p/plugin.json\"\n");
  write("CMakeFiles/p.dir/build.make", "CMakeFiles/p.dir/a.cpp.o: /src/p/a.cpp\ns.stamp: /src/p/types.json\n");
  write("CMakeFiles/p.dir/a.cpp.o.d", "CMakeFiles/p.dir/a.cpp.o: /src/p/a.cpp \\\n /src/p/a.hpp\n");
  for (const char* name : {"a.cpp", "a.hpp", "types.json", "plugin.json", "CMakeLists.txt"}) EXPECT_TRUE(has(name)) << name;
  for (const char* name : {"notes.txt", "admin.kubeconfig"}) EXPECT_FALSE(has(name)) << name;
}

TEST_F(BuildInputs, AreAllFilesIfTheBuildLooksForNewOnes) {
  write("build.ninja", "build p.o: CXX ../a.cpp\n");
  write("CMakeFiles/VerifyGlobs.cmake", "");
  EXPECT_TRUE(has("b.cpp"));
}

}  // namespace
}  // namespace backplane
