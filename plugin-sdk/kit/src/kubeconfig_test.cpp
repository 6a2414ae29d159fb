#include "backplane/kit/kubeconfig.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace backplane::kit {
namespace {

constexpr std::string_view kText = R"(apiVersion: v1
kind: Config
current-context: webhook
contexts:
- name: webhook
  context: {cluster: remote, user: server}
clusters:
- name: remote
  cluster: {server: "https://authz.example.com:8443/authorize/", certificate-authority-data: Q0E=}
users:
- name: server
  user: {token: secret-token}
)";

std::string with(std::string_view part, std::string_view other) {
  std::string text(kText);
  const std::size_t where = text.find(part);
  EXPECT_NE(where, std::string::npos) << part;
  return text.replace(where, part.size(), other);
}

std::string error_of(const std::string& text) {
  const auto server = parse_kubeconfig(text, "/etc/hook.yaml");
  EXPECT_FALSE(server.ok());
  return server.ok() ? "" : server.status().message();
}

TEST(KubeconfigFile, TheServerThePathAndTheCredentialsAreRead) {
  const auto server = parse_kubeconfig(kText, "/etc/hook.yaml");
  ASSERT_TRUE(server.ok()) << server.status().message();
  EXPECT_EQ(server->client.server, "https://authz.example.com:8443");
  EXPECT_EQ(server->path, "/authorize");
  EXPECT_EQ(server->client.certificate_authority, "CA");
  EXPECT_EQ(server->client.token, "secret-token");
  EXPECT_TRUE(server->headers.empty());
}

TEST(KubeconfigFile, AUserWithAPasswordSendsItAsBasicAuth) {
  const auto server = parse_kubeconfig(with("token: secret-token", "username: u, password: p"), "f");
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(server->headers, (Headers{{"Authorization", "Basic dTpw"}}));
}

TEST(KubeconfigFile, ImpersonationBecomesHeaders) {
  const auto server = parse_kubeconfig(with("token: secret-token", "as: jane, as-groups: [a, b], as-user-extra: {k: [v]}"), "f");
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(server->headers,
            (Headers{{"Impersonate-User", "jane"}, {"Impersonate-Group", "a"}, {"Impersonate-Group", "b"}, {"Impersonate-Extra-k", "v"}}));
}

TEST(KubeconfigFile, WithoutTlsNoCredentialsAreSent) {
  const auto server = parse_kubeconfig(with("https://authz.example.com:8443/authorize/", "localhost:80"), "f");
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(server->client.server, "http://localhost:80");
  EXPECT_EQ(server->path, "/");
  EXPECT_EQ(server->client.token, "");
}

TEST(KubeconfigFile, RelativePathsAreRelativeToTheFile) {
  const std::string folder = testing::TempDir();
  const std::string name = "kubeconfig-token-" + std::to_string(getpid());
  std::ofstream(folder + name) << "t";
  const auto server = parse_kubeconfig(with("token: secret-token", "tokenFile: " + name), folder + "hook.yaml");
  ASSERT_TRUE(server.ok()) << server.status().message();
  EXPECT_EQ(server->client.token_file, folder + name);
  std::remove((folder + name).c_str());
}

TEST(KubeconfigFile, ErrorsNameTheFileAndTheField) {
  const std::string_view token = "token: secret-token";
  struct Case {
    std::string_view part, other, message;
  };
  for (const Case& each : {
           Case{"current-context: webhook", "a: b", "current-context is required"},
           Case{"current-context: webhook", "current-context: x", "context \"x\" does not exist"},
           Case{"cluster: remote", "cluster: x", "cluster \"x\" does not exist"},
           Case{"user: server", "user: x", "auth info \"x\" does not exist"},
           Case{"server: \"https://authz.example.com:8443/authorize/\", ", "", "no server found for cluster \"remote\""},
           Case{"https://", "ftp://",
                "server \"ftp://authz.example.com:8443/authorize/\" of cluster \"remote\" must be a URL or a host:port"
                " pair"},
           Case{"Q0E=", "Q-_=", "certificate-authority-data of remote is not base64"},
           Case{"-data: Q0E=", ": /absent/ca",
                "unable to read certificate-authority /absent/ca for remote due to No such file or directory"},
           Case{"data: Q0E=", "data: Q0E=, insecure-skip-tls-verify: true",
                "specifying a root certificates file with the insecure flag is not allowed for cluster \"remote\""},
           Case{"data: Q0E=", "data: Q0E=, proxy-url: \"http://p\"",
                "'proxy-url' for cluster \"remote\" is not supported; use --egress-selector-config-file to connect through a proxy"},
           Case{token, "exec: {command: x}", "exec of user \"server\" is not supported"},
           Case{token, "token: a, username: b",
                "more than one authentication method found for server; found [token basicAuth], only one is allowed"},
           Case{token, "client-certificate-data: Q0E=",
                "client-key-data or client-key must be specified for server to use the clientCert authentication method."},
           Case{token, "tokenFile: /absent/t", "unable to read tokenFile /absent/t for server due to No such file or directory"},
           Case{token, "as-uid: x", "requesting uid, groups or user-extra for server without impersonating a user"},
       }) {
    EXPECT_EQ(error_of(with(each.part, each.other)), "/etc/hook.yaml: invalid configuration: " + std::string(each.message));
  }
  EXPECT_EQ(error_of("a: [secret"), "/etc/hook.yaml: is not valid YAML");
  EXPECT_EQ(error_of(""), "/etc/hook.yaml: invalid configuration: no configuration has been provided");
  EXPECT_EQ(error_of("[]"), "/etc/hook.yaml: invalid configuration: must be an object");
  EXPECT_EQ(read_kubeconfig("/absent/hook").status().message(), "/absent/hook: No such file or directory");
}

}  // namespace
}  // namespace backplane::kit
