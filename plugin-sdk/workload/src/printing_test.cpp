#include "backplane/workload/printing.hpp"

#include <gtest/gtest.h>

namespace backplane::workload {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

TEST(Printing, AccessModesAreShortAndInTheirOrder) {
  const Object modes = parse(R"({"m":["ReadWriteMany","ReadWriteOnce"]})");
  EXPECT_EQ(print_access_modes(get_array(modes, "m")), "RWO,RWX");
}

}  // namespace
}  // namespace backplane::workload
