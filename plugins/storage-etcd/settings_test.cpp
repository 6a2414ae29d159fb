#include "settings.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>

namespace backplane::etcd {
namespace {

TEST(EtcdSettings, ServersAreUrls) {
  struct Row {
    const char* url;
    const char* address;
    bool tls;
  };
  for (const Row& row :
       {Row{"https://127.0.0.1:2379", "dns:127.0.0.1:2379", true}, Row{"http://etcd-0.example", "dns:etcd-0.example:2379", false},
        Row{"https://[::1]:4001/", "ipv6:[::1]:4001", true}, Row{"unix:///run/etcd.sock", "unix:/run/etcd.sock", false},
        Row{"unix:/run/etcd.sock", "unix:/run/etcd.sock", false}, Row{"unix:etcd.sock", "unix:etcd.sock", false},
        Row{"localhost:2379", "dns:localhost:2379", false}}) {
    const auto parsed = parse_endpoint(row.url);
    ASSERT_TRUE(parsed.ok()) << row.url << parsed.status().message();
    EXPECT_EQ(parsed->address, row.address);
    EXPECT_EQ(parsed->tls, row.tls);
    EXPECT_EQ(parsed->shown, row.url);
  }
}

TEST(EtcdSettings, WhatIsNoServerIsRefusedByName) {
  for (const char* url :
       {"ftp://x:1", "https://", "http://x:port", "http://x:123456", "https://x:1/path", "http://[::1", "unix://", "unix:", "http://[]:1",
        "unix:///a-path-of-a-socket-that-is-too-long-for-any-kernel-to-take-because-one-hundred-and-seven-bytes-are-all-there-are"}) {
    const auto parsed = parse_endpoint(url);
    ASSERT_FALSE(parsed.ok()) << url;
    EXPECT_NE(parsed.status().message().find(url), std::string::npos) << parsed.status().message();
  }
}

TEST(EtcdSettings, APrefixHasOneSlashBeforeAndNoneBehind) {
  for (const char* text : {"registry", "/registry", "/registry/", "//registry//"}) EXPECT_EQ(clean_prefix(text), "/registry") << text;
}

class Flags {
 public:
  std::map<std::string, std::string, std::less<>> values;
  Result<Settings> read() const {
    return read_settings([this](std::string_view name) -> std::optional<std::string> {
      const auto found = values.find(name);
      return found != values.end() ? std::optional(found->second) : std::nullopt;
    });
  }
};

TEST(EtcdSettings, SeveralServersAreReadFromOneFlag) {
  for (const char* text : {"http://a:1,http://b:2", R"(["http://a:1","http://b:2"])", "[http://a:1,http://b:2]"}) {
    Flags flags;
    flags.values = {{"etcd-servers", text}, {"etcd-prefix", "/other/"}};
    const auto settings = flags.read();
    ASSERT_TRUE(settings.ok()) << settings.status().message();
    ASSERT_EQ(settings->endpoints.size(), 2u) << text;
    EXPECT_EQ(settings->endpoints[1].address, "dns:b:2");
    EXPECT_EQ(settings->prefix, "/other");
  }
}

TEST(EtcdSettings, AnAddressInBracketsIsOneServer) {
  Flags flags;
  flags.values = {{"etcd-servers", "https://[::1]:4001,http://[fd00::2]:2379"}};
  const auto settings = flags.read();
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  ASSERT_EQ(settings->endpoints.size(), 2u);
  EXPECT_EQ(settings->endpoints[0].address, "ipv6:[::1]:4001");
  EXPECT_EQ(settings->endpoints[1].address, "ipv6:[fd00::2]:2379");
}

TEST(EtcdSettings, StoresOfSingleResourcesHaveServersOfTheirOwn) {
  Flags flags;
  flags.values = {{"etcd-servers", "http://a:1"},
                  {"etcd-prefix", "/p"},
                  {"etcd-servers-overrides", "/events#http://b:2;http://[::1]:3,apps/deployments#http://c:4,/pods#http://c:4"}};
  const auto others = overriding_servers([&](std::string_view name) -> std::optional<std::string> {
    const auto found = flags.values.find(name);
    return found != flags.values.end() ? std::optional(found->second) : std::nullopt;
  });
  EXPECT_EQ(others, (std::vector<std::string>{"http://b:2;http://[::1]:3", "http://c:4"}));
  const auto settings = with_servers(flags.read().value(), others[0]);
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  ASSERT_EQ(settings->endpoints.size(), 2u);
  EXPECT_EQ(settings->endpoints[1].address, "ipv6:[::1]:3");
  EXPECT_EQ(settings->prefix, "/p");
  EXPECT_NE(with_servers(flags.read().value(), "ftp://x:1").status().message().find("ftp://x:1"), std::string::npos);
}

// With such a prefix, kube-apiserver stores its keys below "/", which this store does not support.
TEST(EtcdSettings, AnEmptyPrefixIsRefused) {
  for (const char* text : {"", "/", "//"}) {
    Flags flags;
    flags.values = {{"etcd-servers", "http://a:1"}, {"etcd-prefix", text}};
    EXPECT_NE(flags.read().status().message().find("--etcd-prefix: must be a non-empty prefix"), std::string::npos) << text;
  }
}

TEST(EtcdSettings, ErrorsNameMissingFlagsAndUnusableFiles) {
  EXPECT_NE(Flags().read().status().message().find("--etcd-servers"), std::string::npos);
  Flags flags;
  flags.values = {{"etcd-servers", "https://a:1"}, {"etcd-cafile", "/no/such/file"}};
  EXPECT_NE(flags.read().status().message().find("--etcd-cafile: \"/no/such/file\""), std::string::npos);
  flags.values = {{"etcd-servers", "https://a:1"}, {"etcd-cafile", "/proc/version"}};
  EXPECT_NE(flags.read().status().message().find("contains no PEM block"), std::string::npos);
  const std::string pem = testing::TempDir() + "/settings_test.pem";
  std::ofstream(pem) << "-----BEGIN CERTIFICATE-----\n";
  flags.values = {{"etcd-servers", "https://a:1"}, {"etcd-certfile", pem}};
  EXPECT_NE(flags.read().status().message().find("--etcd-keyfile"), std::string::npos);
}

}  // namespace
}  // namespace backplane::etcd
