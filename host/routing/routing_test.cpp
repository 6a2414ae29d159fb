#include <gtest/gtest.h>

#include "routing/api_enablement.hpp"
#include "routing/discovery.hpp"
#include "routing/openapi.hpp"
#include "routing/request_info.hpp"

namespace backplane {
namespace {

RequestInfo info(std::string_view method, std::string_view target) {
  RequestInfo parsed;
  EXPECT_TRUE(parse_request_info(method, target, parsed).ok()) << target;
  return parsed;
}

TEST(RequestInfo, NamesEveryPartOfANamespacedSubresource) {
  const RequestInfo got = info("PUT", "/apis/apps/v1/namespaces/ns/deployments/web/scale?dryRun=All");
  EXPECT_TRUE(got.is_resource_request);
  EXPECT_EQ(got.api_group, "apps");
  EXPECT_EQ(got.api_version, "v1");
  EXPECT_EQ(got.ns, "ns");
  EXPECT_EQ(got.resource, "deployments");
  EXPECT_EQ(got.name, "web");
  EXPECT_EQ(got.subresource, "scale");
  EXPECT_EQ(got.verb, "update");
}

TEST(RequestInfo, AGetWithoutANameIsAListOrAWatch) {
  EXPECT_EQ(info("GET", "/api/v1/pods").verb, "list");
  EXPECT_EQ(info("GET", "/api/v1/pods?watch=1").verb, "watch");
  EXPECT_EQ(info("GET", "/api/v1/pods?watch").verb, "watch");
  EXPECT_EQ(info("GET", "/api/v1/pods?watch=false").verb, "list");
  EXPECT_EQ(info("DELETE", "/api/v1/namespaces/a/pods").verb, "deletecollection");
  EXPECT_EQ(info("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dx").name, "x");
  EXPECT_EQ(info("GET", "/api/v1/pods?fieldSelector=metadata.name%3Dy,metadata.name%3Dx").name, "x")
      << "upstream sorts them and takes the first";
}

TEST(RequestInfo, SelectorsAreThoseOfListsWatchesAndDeletedCollections) {
  const RequestInfo list = info("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1&labelSelector=a%3Db&limit=x");
  EXPECT_EQ(list.field_selector, "spec.nodeName=n1");
  EXPECT_EQ(list.label_selector, "a=b");
  EXPECT_EQ(info("GET", "/api/v1/pods?watch=1&fieldSelector=broken").field_selector, "broken");
  EXPECT_EQ(info("DELETE", "/api/v1/namespaces/a/pods?labelSelector=a").label_selector, "a");
  EXPECT_EQ(info("GET", "/api/v1/namespaces/a/pods/p?labelSelector=a").label_selector, "");
  EXPECT_EQ(info("GET", "/api/v1/watch/pods?labelSelector=a").label_selector, "") << "these paths do not keep to selectors";
  EXPECT_EQ(info("GET", "/api/v1/pods?fieldSelector=metadata.name%3Da%2Fb").name, "") << "no name that could be on a path";
}

TEST(RequestInfo, AnOptionThatCannotBeReadTakesTheNameOfTheFieldSelectorAway) {
  const std::string named = "/api/v1/pods?fieldSelector=metadata.name%3Dx";
  for (const char* bad : {"&labelSelector=a%20in%20(", "&limit=x", "&timeoutSeconds=", "&limit=9223372036854775808"}) {
    EXPECT_EQ(info("GET", named + bad).name, "") << bad;
    EXPECT_EQ(info("GET", named + bad).field_selector, "metadata.name=x") << bad;
    EXPECT_EQ(info("GET", named + bad + "&watch=1").verb, "watch") << bad;
  }
  for (const char* good : {"&labelSelector=a%3Db", "&limit=%2B5", "&timeoutSeconds=-1", "&sendInitialEvents=x", "&a=%zz"}) {
    EXPECT_EQ(info("GET", named + good).name, "x") << good;
  }
  EXPECT_EQ(info("GET", named + "&labelSelector=b&a=%zz").label_selector, "b") << "pairs that cannot be read are skipped one by one";
}

TEST(RequestInfo, NamespaceStatusIsASubresourceOfTheNamespaceAndWatchPathsAreWatches) {
  const RequestInfo status = info("GET", "/api/v1/namespaces/a/status");
  EXPECT_EQ(status.resource, "namespaces");
  EXPECT_EQ(status.subresource, "status");
  const RequestInfo watch = info("GET", "/api/v1/watch/namespaces/a/pods/p");
  EXPECT_EQ(watch.verb, "watch");
  EXPECT_EQ(watch.resource, "pods");
  EXPECT_EQ(watch.name, "p");
}

TEST(RequestInfo, EmptySegmentsCountBetweenOthersAndNotAtTheEnds) {
  const RequestInfo got = info("GET", "//apis/apps/v1/namespaces//deployments/web//");
  EXPECT_EQ(got.ns, "");
  EXPECT_EQ(got.resource, "deployments");
  EXPECT_EQ(got.name, "web");
  EXPECT_EQ(got.subresource, "");
  EXPECT_EQ(info("GET", "/api/v1/namespaces/a/finalize").parts, (std::vector<std::string>{"namespaces", "a", "finalize"}));
  EXPECT_EQ(info("GET", "/api/v1/pods/").resource, "pods");
  EXPECT_FALSE(info("GET", "/api//").is_resource_request);
}

TEST(RequestInfo, DiscoveryPathsAreNotResourceRequests) {
  for (const char* path : {"/", "/api", "/api/v1", "/apis/apps", "/apis/apps/v1", "/healthz", "/version/"}) {
    EXPECT_FALSE(info("GET", path).is_resource_request) << path;
  }
  RequestInfo unread;
  const Status bare = parse_request_info("GET", "/api/v1/watch?x=1", unread);
  ASSERT_FALSE(bare.ok());
  EXPECT_EQ(bare.message(), "unable to determine kind and namespace from url, /api/v1/watch?x=1");
}

TEST(ApiEnablement, ResourceBeatsVersionBeatsLevelBeatsAll) {
  auto config = ApiEnablement::parse("api/all=false,api/ga=true,apps/v1=false,apps/v1/deployments=true,v1=true");
  ASSERT_TRUE(config.ok());
  EXPECT_TRUE(config->resource_enabled({"apps", "v1", "deployments/status"}));
  EXPECT_FALSE(config->resource_enabled({"apps", "v1", "daemonsets"}));
  EXPECT_TRUE(config->version_enabled({"batch", "v1"}));
  EXPECT_FALSE(config->version_enabled({"batch", "v1beta1"}));
  EXPECT_TRUE(config->version_enabled({"", "v1"}));
}

TEST(ApiEnablement, BetaIsOffUnlessAskedForAndBadItemsAreAllNamed) {
  EXPECT_FALSE(ApiEnablement::parse("")->version_enabled({"x", "v1beta1"}));
  EXPECT_TRUE(ApiEnablement::parse("api/beta")->version_enabled({"x", "v1beta1"}));
  auto bad = ApiEnablement::parse("a=maybe,b=perhaps");
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.status().message().find("\"a=maybe\""), std::string::npos);
  EXPECT_NE(bad.status().message().find("\"b=perhaps\""), std::string::npos);
  EXPECT_FALSE(ApiEnablement::parse("api/all=true,api/alpha=true")->version_enabled({"plugins.backplane.dev", "v1alpha1"}));
  EXPECT_TRUE(ApiEnablement::parse("plugins.backplane.dev/v1alpha1=true")->version_enabled({"plugins.backplane.dev", "v1alpha1"}));
  EXPECT_FALSE(ApiEnablement::parse("api/all=false").ok());
}

const GroupVersionResource kClasses{"resource.k8s.io", "v1", "deviceclasses"}, kBetaClasses{"resource.k8s.io", "v1beta1", "deviceclasses"};

TEST(ApiEnablement, AnEmulatedReleaseHasNoLaterResources) {
  const auto then = ApiEnablement::parse("api/all=true", {{1, 33}});
  EXPECT_FALSE(then->resource_enabled(kClasses));
  EXPECT_TRUE(then->resource_enabled(kBetaClasses));
  EXPECT_FALSE(then->resource_enabled({"resource.k8s.io", "v1", "resourceclaims/status"}));
  EXPECT_TRUE(then->resource_enabled({"admissionregistration.k8s.io", "v1beta1", "validatingadmissionpolicies/status"}));
  EXPECT_TRUE(then->resource_enabled({"apps", "v1", "deployments"}));
  const auto now = ApiEnablement::parse("api/all=true");
  EXPECT_TRUE(now->resource_enabled(kClasses));
  EXPECT_FALSE(now->resource_enabled({"admissionregistration.k8s.io", "v1beta1", "validatingadmissionpolicies"})) << "removed in 1.34";
}

TEST(ApiEnablement, ForwardCompatibilityBringsLaterVersionsBack) {
  const EmulatedApis forward{{1, 33}, true, false}, named{{1, 33}, false, true};
  EXPECT_FALSE(ApiEnablement::parse("", forward)->resource_enabled(kClasses)) << "no earlier version is on";
  EXPECT_TRUE(ApiEnablement::parse("resource.k8s.io/v1beta1=true", forward)->resource_enabled(kClasses));
  EXPECT_FALSE(ApiEnablement::parse("api/all=true", named)->resource_enabled(kClasses));
  EXPECT_TRUE(ApiEnablement::parse("resource.k8s.io/v1=true", named)->resource_enabled(kClasses));
  EXPECT_TRUE(ApiEnablement::parse("resource.k8s.io/v1/deviceclasses=true", named)->resource_enabled(kClasses));
}

TEST(ApiEnablement, WhatTheEmulatedReleaseDoesNotHaveCannotBeNamed) {
  const auto problem = [](const char* config) {
    return ApiEnablement::parse(config, {{1, 33}})->check({kClasses.group_version()}, {kClasses}).message();
  };
  const std::string advice = " the current version 1.33. Consider setting --runtime-config-emulation-forward-compatible=true";
  EXPECT_EQ(problem("resource.k8s.io/v1/deviceclasses=true"),
            "cannot enable resource resource.k8s.io/v1, Resource=deviceclasses in runtime-config because it is introduced at 1.34 after" +
                advice);
  EXPECT_EQ(problem("resource.k8s.io/v1=true"),
            "cannot enable version resource.k8s.io/v1 in runtime-config because all the resources have been introduced after" + advice);
  EXPECT_EQ(problem("api/all=true"), "");
}

TEST(ApiEnablement, UnknownNamesAreRefusedWithWhatExists) {
  auto config = ApiEnablement::parse("apps/v1/deploymentz=false,apsp/v1=false");
  ASSERT_TRUE(config.ok());
  Status status = config->check({{"apps", "v1"}, {"", "v1"}}, {{"apps", "v1", "deployments"}});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("has: deployments"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("unknown api groups \"apsp/v1\""), std::string::npos) << status.message();
}

TEST(Discovery, TheStorageVersionHashIsUpstreams) {
  EXPECT_EQ(storage_version_hash({"", "v1", "Pod"}), "xPOwRZ+Yhw8=");
  EXPECT_EQ(storage_version_hash({"apps", "v1", "Deployment"}), "8aSe+NMegvE=");
}

TEST(Discovery, TheAcceptHeaderChoosesTheForm) {
  EXPECT_EQ(discovery_form(""), DiscoveryForm::kLegacy);
  EXPECT_EQ(discovery_form("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"),
            DiscoveryForm::kAggregated);
  EXPECT_EQ(discovery_form("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"),
            DiscoveryForm::kLegacy);
  EXPECT_EQ(discovery_form("application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList"), DiscoveryForm::kNotAcceptable);
  EXPECT_EQ(discovery_form("application/vnd.kubernetes.protobuf"), DiscoveryForm::kLegacy);
  EXPECT_EQ(discovery_form("application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
            DiscoveryForm::kAggregatedProtobuf);
  EXPECT_EQ(discovery_form("application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"), DiscoveryForm::kAggregatedYaml);
  constexpr std::string_view kLast = "application/json,application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList;q=0.1";
  EXPECT_EQ(discovery_form(kLast), DiscoveryForm::kAggregated) << "wherever it stands";
  EXPECT_EQ(discovery_form(kLast, false), DiscoveryForm::kLegacy);
  EXPECT_EQ(
      aggregated_hash("{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\",\"metadata\":{},\"items\":[]}\n"),
      sha512_hex("{\"metadata\":{},\"items\":[]}"));
}

TEST(OpenApi, TagsAndIdPartsAreUpstreams) {
  EXPECT_EQ(openapi_tag({"", "v1"}), "core_v1");
  EXPECT_EQ(openapi_tag({"rbac.authorization.k8s.io", "v1"}), "rbacAuthorization_v1");
  EXPECT_EQ(openapi_id_part({"apps", "v1"}), "AppsV1");
  EXPECT_EQ(openapi_tag({"cert-manager.io", "v1beta1"}), "certManagerIo_v1beta1");
  EXPECT_EQ(openapi_id_part({"stable.example.com", "v1"}), "StableExampleComV1");
}

}  // namespace
}  // namespace backplane
