#include "namespaces/deletion_conditions.hpp"

#include <gtest/gtest.h>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "namespaces/controller_election.hpp"

namespace backplane::core {
namespace {

using namespace std::chrono_literals;

// "status reason: message"
std::string condition(const Object& ns, std::string_view type) {
  const Object* found = find_item(object_or_empty(ns, "status"), "conditions", "type", type);
  if (found == nullptr) return {};
  return std::string(get_string(*found, "status")) + " " + std::string(get_string(*found, "reason")) + ": " +
         std::string(get_string(*found, "message"));
}

TEST(DeletionConditions, AllFiveAreFalseWhenNothingIsInTheWay) {
  Object ns;
  EXPECT_TRUE(set_deletion_conditions(ns, {}));
  EXPECT_EQ(condition(ns, "NamespaceDeletionDiscoveryFailure"), "False ResourcesDiscovered: All resources successfully discovered");
  EXPECT_EQ(condition(ns, "NamespaceDeletionGroupVersionParsingFailure"),
            "False ParsedGroupVersions: All legacy kube types successfully parsed");
  EXPECT_EQ(condition(ns, "NamespaceDeletionContentFailure"),
            "False ContentDeleted: All content successfully deleted, may be waiting on finalization");
  EXPECT_EQ(condition(ns, "NamespaceContentRemaining"), "False ContentRemoved: All content successfully removed");
  EXPECT_EQ(condition(ns, "NamespaceFinalizersRemaining"), "False ContentHasNoFinalizers: All content-preserving finalizers finished");
  EXPECT_FALSE(set_deletion_conditions(ns, {})) << "the same report changes nothing";
}

TEST(DeletionConditions, EachNamesTheRemainingContent) {
  Object ns;
  DeletionReport report;
  report.undiscovered["metrics.k8s.io/v1beta1"] = "stale GroupVersion discovery: metrics.k8s.io/v1beta1";
  report.problems = {"b", "a"};
  report.remaining = {{"configmaps.", 2}, {"widgets.example.com", 1}, {"secrets.", 0}};
  report.by_finalizer = {{"example.com/hold", 3}};
  EXPECT_TRUE(set_deletion_conditions(ns, report));
  EXPECT_EQ(condition(ns, "NamespaceDeletionDiscoveryFailure"),
            "True DiscoveryFailed: Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: "
            "metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1");
  EXPECT_EQ(condition(ns, "NamespaceDeletionContentFailure"),
            "True ContentDeletionFailed: Failed to delete all resource types, 2 remaining: a, b");
  EXPECT_EQ(condition(ns, "NamespaceContentRemaining"),
            "True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances, "
            "widgets.example.com has 1 resource instances");
  EXPECT_EQ(condition(ns, "NamespaceFinalizersRemaining"),
            "True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 3 resource instances");
}

Object lease(const std::string& holder, const std::string& renewed) {
  return Object{{"spec", Object{{"holderIdentity", holder}, {"leaseDurationSeconds", 15}, {"renewTime", renewed}}}};
}

TEST(LeaseObserver, ALeaseIsHeldWhileItIsRenewed) {
  LeaseObserver observer;
  const auto start = LeaseObserver::Clock::now();
  const double now = 1'000'000'000;  // 2001-09-09T01:46:40Z
  EXPECT_FALSE(observer.is_held(nullptr, start, now));
  const Object fresh = lease("a", "2001-09-09T01:46:38.123456Z");
  EXPECT_TRUE(observer.is_held(&fresh, start, now));
  EXPECT_FALSE(observer.is_held(&fresh, start + 20s, now + 20)) << "it ran out";
  const Object released = lease("", "2001-09-09T01:46:38.123456Z");
  EXPECT_FALSE(observer.is_held(&released, start, now));
}

TEST(LeaseObserver, ALeaseThatChangesIsHeldWhateverTheClocksSay) {
  LeaseObserver observer;
  const auto start = LeaseObserver::Clock::now();
  const double now = 1'000'000'000;
  const Object first = lease("a", "2001-09-09T01:00:00.000000Z"), second = lease("a", "2001-09-09T01:00:02.000000Z");
  EXPECT_FALSE(observer.is_held(&first, start, now));
  EXPECT_TRUE(observer.is_held(&second, start + 5s, now + 5));
  EXPECT_TRUE(observer.is_held(&second, start + 19s, now + 19));
  EXPECT_FALSE(observer.is_held(&second, start + 21s, now + 21));
}

}  // namespace
}  // namespace backplane::core
