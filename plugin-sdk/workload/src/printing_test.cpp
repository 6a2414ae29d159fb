#include "backplane/workload/printing.hpp"

#include <gtest/gtest.h>

namespace backplane::workload {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

TEST(Printing, AccessModesAreShortAndInTheirOrder) {
  const Object modes = parse(R"({"m":["ReadWriteMany","ReadWriteOnce"]})");
  EXPECT_EQ(print_access_modes(get_array(modes, "m")), "RWO,RWX");
}

TEST(Printing, ContainersStandSideBySide) {
  const Value containers = json::parse(R"([{"name":"a","image":"x"},{"name":"b","image":"y"}])");
  const auto shown = printers();
  EXPECT_EQ(shown.at("containerNames").found(&containers, 0), "a,b");
  EXPECT_EQ(shown.at("containerImages").found(&containers, 0), "x,y");
  EXPECT_EQ(shown.at("containerImages").found(nullptr, 0), "");
}

}  // namespace
}  // namespace backplane::workload
