#include "admission/plugin_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace backplane {
namespace {

using Names = std::vector<std::string>;

AdmissionRegistration plugin(std::string name, Names in_front_of = {}, Names behind = {}) {
  AdmissionRegistration out;
  out.name = std::move(name);
  out.in_front_of = std::move(in_front_of);
  out.behind = std::move(behind);
  return out;
}

// Returns `name` and its neighbours in the order.
Names around(const std::vector<AdmissionRegistration>& registered, const std::string& name) {
  auto order = admission_order(registered);
  if (!order.ok()) return {order.status().message()};
  const auto at = std::find(order->begin(), order->end(), name);
  Names out;
  if (at != order->begin()) out.push_back(*std::prev(at));
  out.push_back(name);
  if (std::next(at) != order->end()) out.push_back(*std::next(at));
  return out;
}

TEST(AdmissionOrder, HasUpstreamsPluginsInUpstreamsOrder) {
  auto order = admission_order({plugin("NamespaceLifecycle"), plugin("NodeRestriction")});
  ASSERT_TRUE(order.ok());
  EXPECT_EQ(order->size(), 41u);
  EXPECT_EQ(order->front(), "AlwaysAdmit");
  EXPECT_EQ(order->back(), "AlwaysDeny");
  EXPECT_EQ(std::count_if(upstream_admission_plugins().begin(), upstream_admission_plugins().end(),
                          [](const auto& each) { return each.on_by_default; }),
            27);
}

TEST(AdmissionOrder, OthersComeLastUnlessTheyDeclareAPosition) {
  EXPECT_EQ(around({plugin("mine"), plugin("yours")}, "yours"), (Names{"mine", "yours"}));
  EXPECT_EQ(around({plugin("mine", {"MutatingAdmissionWebhook"})}, "mine"),
            (Names{"MutatingAdmissionPolicy", "mine", "MutatingAdmissionWebhook"}));
  EXPECT_EQ(around({plugin("mine", {}, {"NamespaceLifecycle"})}, "mine"), (Names{"NamespaceLifecycle", "mine", "NamespaceExists"}));
  EXPECT_EQ(around({plugin("mine", {}, {"NamespaceLifecycle"}), plugin("yours", {"mine"})}, "yours"),
            (Names{"NamespaceLifecycle", "yours", "mine"}));
  // The plugin that another plugin names may be registered later, or not at all.
  EXPECT_EQ(around({plugin("yours", {"mine"}), plugin("mine", {}, {"NamespaceLifecycle"})}, "yours"),
            (Names{"NamespaceLifecycle", "yours", "mine"}));
  EXPECT_EQ(around({plugin("mine", {"absent"})}, "mine"), (Names{"AlwaysDeny", "mine"}));
}

TEST(AdmissionOrder, ContradictoryPlacesAreReported) {
  EXPECT_EQ(around({plugin("mine", {"NamespaceLifecycle"}, {"ResourceQuota"})}, "mine"),
            Names{R"(admission plugin "mine" cannot run before "NamespaceLifecycle" and after "ResourceQuota")"});
  EXPECT_EQ(around({plugin("a", {"b"}), plugin("b", {"a"})}, "a"), Names{R"(the order of admission plugin "a" is circular)"});
}

TEST(AdmissionOrder, FlagsAndDefaultsSelectThePlugins) {
  auto optional = plugin("optional");
  optional.on_by_default = false;
  const std::vector<AdmissionRegistration> registered = {optional, plugin("NamespaceLifecycle"), plugin("AlwaysPullImages"),
                                                         plugin("mine")};
  const auto order = admission_order(registered);
  EXPECT_EQ(enabled_admission(*order, registered, {}, {}), (Names{"NamespaceLifecycle", "mine"}));
  EXPECT_EQ(enabled_admission(*order, registered, {"optional", "AlwaysPullImages"}, {"NamespaceLifecycle"}),
            (Names{"AlwaysPullImages", "optional", "mine"}));
}

}  // namespace
}  // namespace backplane
