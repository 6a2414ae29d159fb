#include "backplane/net/egress.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

std::string config(const std::string& selections) {
  return "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n" + selections;
}

std::string why(const std::string& text) {
  auto read = EgressSelector::parse(text);
  return read.ok() ? "ok" : read.status().message();
}

TEST(EgressSelector, WithoutAFileEverythingIsDirect) {
  const auto selector = EgressSelector::read("");
  ASSERT_TRUE(selector.ok());
  EXPECT_FALSE((*selector)->dialer(EgressType::kCluster));
  EXPECT_EQ(EgressSelector::read("/absent").status().message(), "unable to read egress selector configuration from \"/absent\"");
  // Regression: reading a directory instead of a file terminated the process.
  EXPECT_EQ(EgressSelector::read("/").status().message(), "unable to read egress selector configuration from \"/\"");
}

TEST(EgressSelector, OnlyWhatIsSelectedGoesThroughAProxy) {
  auto selector = EgressSelector::parse(
      config("- name: Cluster\n  connection:\n    proxyProtocol: HTTPConnect\n    transport:\n      uds: {udsName: /run/proxy}\n"
             "- name: etcd\n  connection: {proxyProtocol: Direct}\n"));
  ASSERT_TRUE(selector.ok()) << selector.status().message();
  EXPECT_TRUE((*selector)->dialer(EgressType::kCluster));
  EXPECT_FALSE((*selector)->dialer(EgressType::kEtcd));
  EXPECT_FALSE((*selector)->dialer(EgressType::kControlPlane));
}

TEST(EgressSelector, AnInvalidConfigurationIsRefused) {
  const std::string failed = "failed to validate egress selector configuration: ";
  EXPECT_EQ(why("kind: X\napiVersion: v1\n"), "no kind \"X\" is registered for version \"v1\"");
  EXPECT_EQ(why(config("- name: cluster\n  color: red\n")), "strict decoding error: unknown field \"egressSelections[0].color\"");
  EXPECT_EQ(why(config("- name: cluster\n  connection: {proxyProtocol: Pigeon}\n")),
            failed + "service.connection.protocol: Unsupported value: \"Pigeon\": supported values: \"Direct\", \"GRPC\", \"HTTPConnect\"");
  EXPECT_EQ(why(config("- name: moon\n  connection: {proxyProtocol: Direct}\n")),
            failed + "service.connection: Unsupported value: \"moon\": supported values: \"cluster\", \"controlplane\", \"etcd\"");
  EXPECT_EQ(why(config("- name: cluster\n  connection: {proxyProtocol: Direct}\n- name: CLUSTER\n  connection: {proxyProtocol: Direct}\n")),
            failed + "service.connection[1]: Duplicate value: \"cluster\"");
  EXPECT_EQ(why(config("- name: cluster\n  connection: {proxyProtocol: HTTPConnect}\n")),
            failed + "service.connection.transport: Required value: transport must be set for HTTPConnect");
  EXPECT_EQ(why(config("- name: cluster\n  connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: 'ftp://x'}}}\n")),
            failed + "service.connection.url: Invalid value: \"ftp://x\": supported connection protocols are http:// and https://");
}

TEST(EgressSelector, GrpcNeedsAUnixSocket) {
  const std::string grpc = "- name: etcd\n  connection: {proxyProtocol: GRPC, transport: ";
  EXPECT_EQ(why(config(grpc + "{uds: {udsName: /x}}}\n")), "ok");
  EXPECT_EQ(why(config(grpc + "{tcp: {url: 'http://x'}}}\n")),
            "failed to validate egress selector configuration: service.connection.uds: Required value: UDS must be set with GRPC");
}

TEST(EgressSelector, AProxyBehindTlsNeedsItsFiles) {
  const std::string failed = "failed to validate egress selector configuration: ";
  const auto tls = [](const std::string& members) {
    return config("- name: cluster\n  connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: 'https://x', tlsConfig: {" + members +
                  "}}}}\n");
  };
  EXPECT_EQ(why(tls("")), failed +
                              "[service.connection.tlsConfig.clientCert: Invalid value: \"nil\": Using TLS requires clientCert, "
                              "service.connection.tlsConfig.clientKey: Invalid value: \"nil\": Using TLS requires requires clientKey]");
  EXPECT_EQ(why(tls("caBundle: /absent, clientCert: /dev/null, clientKey: /dev/null")),
            failed + "service.connection.tlsConfig.caBundle: Invalid value: \"/absent\": TLS config ca bundle does not exist");
  EXPECT_EQ(why(tls("clientCert: /dev/null, clientKey: /dev/null")),
            "failed to create dialer for egressSelection \"cluster\": failed to read key pair /dev/null & /dev/null");
  EXPECT_EQ(why(tls("secret: x")),
            "strict decoding error: unknown field \"egressSelections[0].connection.transport.tcp.tlsConfig.secret\"");
}

}  // namespace
}  // namespace backplane
