#include "app/plugin_objects.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(PluginObjectName, TurnsTheNameOfAPluginIntoADnsName) {
  EXPECT_EQ(plugin_object_name("core"), "core");
  EXPECT_EQ(plugin_object_name("acme.io/widgets"), "widgets.acme.io");
  EXPECT_EQ(plugin_object_name("acme.io/shop/widgets"), "widgets.shop.acme.io");
  EXPECT_EQ(plugin_object_name("Text_file.so"), "text-file.so");
}

}  // namespace
}  // namespace backplane
