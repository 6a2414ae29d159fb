#include "base/mapped_code.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace backplane {
namespace {

long resident_file_kilobytes() {
  std::ifstream status("/proc/self/status");
  std::string name;
  long size = 0;
  while (status >> name) {
    if (name == "RssFile:" && status >> size) return size;
  }
  return 0;
}

// A table that the dynamic linker relocates when it loads the library.
const char* const kTexts[] = {"a", "b"};

TEST(MappedCodeTest, UnmappedPagesAreReadAgain) {
  const long before = resident_file_kilobytes();
  ASSERT_GT(before, 0);
  unmap_read_code();
  EXPECT_LT(resident_file_kilobytes(), before);
  EXPECT_EQ(std::string(kTexts[0]) + kTexts[1], "ab");
  EXPECT_THROW(throw std::runtime_error("unwound with tables that were unmapped"), std::runtime_error);
}

}  // namespace
}  // namespace backplane
