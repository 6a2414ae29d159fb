#include "frame/selection.hpp"

#include <gtest/gtest.h>

namespace backplane::controllers {
namespace {

const std::vector<ControllerRow>& two_rows() {
  static const std::vector<ControllerRow> rows = {{"garbage-collector-controller", "garbagecollector", "", true},
                                                  {"token-cleaner-controller", "tokencleaner", "", false}};
  return rows;
}

std::string selected(std::string_view list) {
  auto selection = Selection::parse(list, two_rows());
  if (!selection.ok()) return selection.status().message();
  std::string out;
  for (const ControllerRow& row : two_rows()) {
    if (selection->enabled(row)) out += std::string(row.alias) + " ";
  }
  return out;
}

TEST(Selection, TheStarSelectsThoseThatAreOnByDefault) {
  EXPECT_EQ(selected("*"), "garbagecollector ");
  EXPECT_EQ(selected(""), "");
  EXPECT_EQ(selected("*,token-cleaner-controller"), "garbagecollector tokencleaner ");
  EXPECT_EQ(selected("*,-garbage-collector-controller"), "");
  EXPECT_EQ(selected("token-cleaner-controller"), "tokencleaner ");
}

TEST(Selection, TheFirstEntryOfAControllerDecides) {
  EXPECT_EQ(selected("-garbagecollector,garbage-collector-controller,*"), "");
  EXPECT_EQ(selected("garbagecollector,-garbage-collector-controller"), "garbagecollector ");
}

TEST(Selection, UnknownNamesAreRefusedAndOthersOfKubeControllerManagerAreNot) {
  EXPECT_EQ(selected("*,-gadget-controller"), "--controllers: \"gadget-controller\" is not in the list of known controllers");
  EXPECT_EQ(selected("-*"), "--controllers: \"*\" is not in the list of known controllers");
  EXPECT_EQ(selected("*,-deployment"), "garbagecollector ");
  auto selection = Selection::parse("deployment,-job-controller", two_rows());
  ASSERT_TRUE(selection.ok());
  EXPECT_EQ(selection->absent(), std::vector<std::string>{"deployment-controller"});
}

}  // namespace
}  // namespace backplane::controllers
