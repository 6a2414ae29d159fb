#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <algorithm>

#include "app/flag_files.hpp"
#include "app/flag_plugins.hpp"
#include "app/flag_set.hpp"
#include "app/flag_values.hpp"
#include "app/options.hpp"
#include "app/other_stores.hpp"
#include "app/service_ranges.hpp"
#include "app/unsupported_flags.hpp"
#include "filters/go_duration.hpp"
#include "registry/store_override_names.hpp"

namespace backplane {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<Options> parsed(const std::vector<std::string>& args) {
  auto options = std::make_unique<Options>();
  Status status = options->flags.parse(args);
  EXPECT_TRUE(status.ok()) << status.message();
  return options;
}

std::string parse_error(const std::vector<std::string>& args) {
  Options options;
  Status status = options.flags.parse(args);
  EXPECT_FALSE(status.ok());
  return status.ok() ? "" : status.message();
}

Result<Config> configured(std::vector<std::string> args) {
  args.push_back("--data-dir=/tmp/backplane-options-test");
  auto completed = Options::complete(parsed(args));
  if (!completed.ok()) return std::move(completed.status());
  return CompletedOptions::config(std::move(*completed));
}

TEST(Flags, ValuesAreReadAsPflagReadsThem) {
  auto options = parsed({"--secure-port=0", "--request-timeout", "1m30s", "--profiling=false", "--shutdown-send-retry-after", "-v=4",
                         "--strict-transport-security-directives=max-age=31536000,includeSubDomains", "--goaway-chance=0.001"});
  EXPECT_EQ(options->secure_serving.secure_port, 0);
  EXPECT_EQ(options->generic.request_timeout, 90s);
  EXPECT_FALSE(options->features.profiling);
  EXPECT_TRUE(options->generic.shutdown_send_retry_after);
  EXPECT_EQ(options->logs.verbosity, 4);
  EXPECT_EQ(options->generic.strict_transport_security_directives, (std::vector<std::string>{"max-age=31536000", "includeSubDomains"}));
  EXPECT_DOUBLE_EQ(options->generic.goaway_chance, 0.001);
}

TEST(Flags, UnderscoresAreDashes) { EXPECT_EQ(parsed({"--secure_port=1"})->secure_serving.secure_port, 1); }

TEST(Flags, ListsReplaceTheirDefaultAndThenAddUp) {
  EXPECT_EQ(parsed({"--authorization-mode=Node", "--authorization-mode=RBAC,Webhook"})->authorization.modes,
            (std::vector<std::string>{"Node", "RBAC", "Webhook"}));
  EXPECT_EQ(parsed({"--tls-sni-cert-key=a.crt,a.key", "--tls-sni-cert-key=b.crt,b.key:x"})->secure_serving.tls_sni_cert_key,
            (std::vector<std::string>{"a.crt,a.key", "b.crt,b.key:x"}));
}

TEST(Flags, AnEmptyValueAfterTheEqualsSignIsAValue) {
  auto options = parsed({"--requestheader-allowed-names=", "--secure-port=7"});
  EXPECT_EQ(options->secure_serving.secure_port, 7);
}

TEST(Flags, AnUnknownFlagNamesItsNearestNeighbour) {
  EXPECT_EQ(parse_error({"--secure-prot=1"}), "unknown flag: --secure-prot (did you mean --secure-port?)");
  EXPECT_EQ(parse_error({"--ssh-keyfile-of-old=1"}), "unknown flag: --ssh-keyfile-of-old");
  EXPECT_EQ(parse_error({"-x"}), "unknown shorthand flag: 'x' in -x");
}

TEST(Flags, ABadValueIsNamedWithItsFlagAndReason) {
  EXPECT_EQ(parse_error({"--secure-port=abc"}), "--secure-port: invalid value \"abc\": must be an integer");
  EXPECT_EQ(parse_error({"--profiling=maybe"}), "--profiling: invalid value \"maybe\": must be true or false");
  EXPECT_EQ(parse_error({"--request-timeout=5"}),
            "--request-timeout: invalid value \"5\": must be a duration with units, such as 30s, 5m or 1h30m");
  EXPECT_EQ(parse_error({"--bind-address=nowhere"}), "--bind-address: invalid value \"nowhere\": must be an IP address");
  EXPECT_EQ(parse_error({"--audit-log-maxage=soon"}), "--audit-log-maxage: invalid value \"soon\": must be an integer");
  EXPECT_EQ(parse_error({"--secure-port"}), "flag needs an argument: --secure-port");
}

TEST(Flags, PortRangesAreOnePortOrTwoOrOneAndMore) {
  for (const char* good : {"80", "30000-32767", "30000+2767"}) EXPECT_EQ(flag_value_problem(FlagType::kPortRange, good), "") << good;
  EXPECT_EQ(flag_value_problem(FlagType::kPortRange, "60000+6000"), "must end at 65535 at the latest");
  EXPECT_EQ(flag_value_problem(FlagType::kPortRange, "9-8"), "must not end before it begins");
  EXPECT_EQ(flag_value_problem(FlagType::kPortRange, "a-b"), "must be PORT, FIRST-LAST or FIRST+COUNT");
}

TEST(Flags, ADeprecatedFlagGetsAWarning) {
  auto options = parsed({"--default-watch-cache-size=5", "--secure-port=1"});
  EXPECT_EQ(options->flags.deprecations(),
            std::vector<std::string>{
                "Flag --default-watch-cache-size has been deprecated, watch caches are sized automatically and this flag will "
                "be removed in a future version."});
}

TEST(Flags, PositionalArgumentsAreRefused) {
  EXPECT_EQ(parse_error({"foo"}), "\"backplane\" does not take any arguments, got [\"foo\"]");
  EXPECT_EQ(parse_error({"--", "--v=1"}), "\"backplane\" does not take any arguments, got [\"--v=1\"]");
}

const std::vector<std::string> kKubeadm = {"--advertise-address=10.1.2.3",
                                           "--allow-privileged=true",
                                           "--authorization-mode=Node,RBAC",
                                           "--client-ca-file=/etc/kubernetes/pki/ca.crt",
                                           "--enable-admission-plugins=NodeRestriction",
                                           "--enable-bootstrap-token-auth=true",
                                           "--etcd-cafile=/etc/kubernetes/pki/etcd/ca.crt",
                                           "--etcd-certfile=/etc/kubernetes/pki/apiserver-etcd-client.crt",
                                           "--etcd-keyfile=/etc/kubernetes/pki/apiserver-etcd-client.key",
                                           "--etcd-servers=https://127.0.0.1:2379",
                                           "--kubelet-client-certificate=/etc/kubernetes/pki/apiserver-kubelet-client.crt",
                                           "--kubelet-client-key=/etc/kubernetes/pki/apiserver-kubelet-client.key",
                                           "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
                                           "--proxy-client-cert-file=/etc/kubernetes/pki/front-proxy-client.crt",
                                           "--proxy-client-key-file=/etc/kubernetes/pki/front-proxy-client.key",
                                           "--requestheader-allowed-names=front-proxy-client",
                                           "--requestheader-client-ca-file=/etc/kubernetes/pki/front-proxy-ca.crt",
                                           "--requestheader-extra-headers-prefix=X-Remote-Extra-",
                                           "--requestheader-group-headers=X-Remote-Group",
                                           "--requestheader-username-headers=X-Remote-User",
                                           "--secure-port=6443",
                                           "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
                                           "--service-account-key-file=/etc/kubernetes/pki/sa.pub",
                                           "--service-account-signing-key-file=/etc/kubernetes/pki/sa.key",
                                           "--service-cluster-ip-range=10.96.0.0/12",
                                           "--tls-cert-file=/etc/kubernetes/pki/apiserver.crt",
                                           "--tls-private-key-file=/etc/kubernetes/pki/apiserver.key"};

TEST(Flags, AKubeadmManifestIsReadAsItIs) {
  auto options = parsed(kKubeadm);
  EXPECT_EQ(options->flags.text("service-cluster-ip-range"), "10.96.0.0/12");
  const auto ignored = options->flags.accepted_only();
  EXPECT_EQ(std::find(ignored.begin(), ignored.end(), "--enable-bootstrap-token-auth"), ignored.end());
  EXPECT_EQ(std::find(ignored.begin(), ignored.end(), "--service-cluster-ip-range"), ignored.end());
  EXPECT_EQ(std::find(ignored.begin(), ignored.end(), "--etcd-servers"), ignored.end()) << "it ends the start";
  auto completed = Options::complete(std::move(options));
  ASSERT_TRUE(completed.ok());
  EXPECT_TRUE(completed->validate().empty());
}

std::string completed_bind_address(const std::vector<std::string>& args) {
  auto completed = Options::complete(parsed(args));
  EXPECT_TRUE(completed.ok());
  return completed.ok() ? (*completed)->secure_serving.bind_address : "";
}

TEST(Flags, AServerListensWhereItsAdvertisedAddressIs) {
  EXPECT_EQ(completed_bind_address({}), "127.0.0.1");
  EXPECT_EQ(completed_bind_address({"--advertise-address=127.0.0.1"}), "127.0.0.1");
  EXPECT_EQ(completed_bind_address({"--advertise-address=::1"}), "127.0.0.1");
  EXPECT_EQ(completed_bind_address({"--advertise-address=192.0.2.7"}), "0.0.0.0");
  EXPECT_EQ(completed_bind_address({"--advertise-address=2001:db8::7"}), "::");
  EXPECT_EQ(completed_bind_address({"--advertise-address=192.0.2.7", "--bind-address=127.0.0.1"}), "127.0.0.1");
}

// The problems that a server whose plugins offer `offers` reports for `args`.
Problems promise_problems(const std::vector<std::string>& args, const Offers& offers) {
  auto completed = Options::complete(parsed(args));
  Problems problems;
  if (completed.ok()) check_unsupported_flags(**completed, offers, problems);
  return problems;
}
const Offers kToday{{}, {"NamespaceLifecycle"}, {"memory", "rocksdb", "etcd3"}};

TEST(Promises, AKubeadmManifestGetsOneLineWithTheFlagsToRemove) {
  EXPECT_EQ(promise_problems(kKubeadm, kToday),
            Problems{"these flags are not supported; remove them: "
                     "--authorization-mode=Node,RBAC (no loaded plugin offers them; without the flag the order is Node,RBAC); "
                     "--enable-admission-plugins=NodeRestriction (no loaded plugin offers it)"});
  EXPECT_EQ(promise_problems({"--enable-admission-plugins=NamespaceLifecycle,NodeRestriction"}, kToday),
            Problems{"these flags are not supported; remove them: "
                     "NodeRestriction of --enable-admission-plugins (no loaded plugin offers it)"});
  EXPECT_EQ(promise_problems({"--admission-control=AlwaysAdmit"}, kToday),
            Problems{"these flags are not supported; remove them: "
                     "--admission-control=AlwaysAdmit (no loaded plugin offers it)"});
  const Offers later{{"Node", "RBAC"}, {"NamespaceLifecycle", "NodeRestriction"}, {"memory", "rocksdb"}};
  EXPECT_EQ(promise_problems({"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction"}, later), Problems{})
      << "a plugin that registers the name satisfies the flag";
}

TEST(Promises, FlagsForAbsentProtectionOrStorageAreRefused) {
  for (const char* flag : {"--authorization-mode=RBAC", "--authorization-mode=ABAC", "--etcd-servers-overrides=/events#http://x",
                           "--etcd-prefix=/foo", "--enable-admission-plugins=AlwaysPullImages"}) {
    const auto problems = promise_problems({flag}, kToday);
    ASSERT_EQ(problems.size(), 1u) << flag;
    const std::string name = std::string(flag).substr(0, std::string(flag).find('='));
    EXPECT_NE(problems[0].find("remove them: " + name), std::string::npos) << problems[0];
  }
}

TEST(Promises, AFlagRequiresThePluginThatImplementsIt) {
  EXPECT_EQ(plugins_of_flags(parsed({"--encryption-provider-config="})->flags), (std::map<std::string, std::string>{}));
  EXPECT_EQ(plugins_of_flags(parsed({"--encryption-provider-config=/x"})->flags),
            (std::map<std::string, std::string>{{"encryption", "encryption-provider-config"}}));
}

TEST(Promises, AReloadOfNoFileIsRefused) {
  EXPECT_EQ(configured({"--encryption-provider-config-automatic-reload=true"}).status().message(),
            "--encryption-provider-config-automatic-reload must be set with --encryption-provider-config");
}

// kube-apiserver runs PodSecurity by default. A flag that names PodSecurity nevertheless requires that it runs.
TEST(Promises, AnAdmissionPluginThatIsNamedAndAbsentIsRefused) {
  EXPECT_EQ(promise_problems({"--enable-admission-plugins=NamespaceLifecycle,PodSecurity,ResourceQuota"}, kToday),
            Problems{"these flags are not supported; remove them: "
                     "PodSecurity,ResourceQuota of --enable-admission-plugins (no loaded plugin offers them)"});
  EXPECT_EQ(promise_problems({"--admission-control=ServiceAccount"}, kToday),
            Problems{"these flags are not supported; remove them: "
                     "--admission-control=ServiceAccount (no loaded plugin offers it)"})
      << "it would run nothing, not even NamespaceLifecycle";
  EXPECT_EQ(promise_problems({"--admission-control=NamespaceLifecycle"}, kToday), Problems{});
}

TEST(Promises, AFlagWithItsDefaultStarts) {
  EXPECT_EQ(promise_problems({"--etcd-prefix=/registry", "--audit-log-path=", "--authorization-mode=AlwaysAllow",
                              "--enable-admission-plugins=NamespaceLifecycle", "--disable-admission-plugins=PodSecurity"},
                             kToday),
            Problems{});
}

TEST(Stores, AnOverrideNamesAResourceAndItsServers) {
  const auto parsed = parse_store_overrides({"/events#http://a:1;http://b:2", "apps/deployments#http://[::1]:3"});
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  ASSERT_EQ(parsed->size(), 2u);
  EXPECT_EQ((*parsed)[0].resource.to_string(), "events");
  EXPECT_EQ((*parsed)[0].servers, "http://a:1;http://b:2");
  EXPECT_EQ((*parsed)[1].resource.to_string(), "deployments.apps");
  for (const char* wrong : {"events#http://a:1", "/events", "/events#", "/events#http://a:1;", "/events#a#b", "a/b/c#http://a:1"}) {
    EXPECT_EQ(parse_store_overrides({wrong}).status().message(),
              "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated")
        << wrong;
  }
  for (const char* moved : {"/services#http://a:1", "/*#http://a:1"})
    EXPECT_NE(parse_store_overrides({moved}).status().message().find("services are written together"), std::string::npos) << moved;
}

TEST(Stores, ResourcesBelowTheirGroupHaveOnePrefix) {
  const auto names = [](const char* prefix, const char* group, const char* resource) {
    CacheConfig config;
    config.prefix = prefix;
    config.resource = {group, resource};
    return override_names(config);
  };
  using Names = std::vector<GroupResource>;
  EXPECT_EQ(names("/registry/deployments/", "apps", "deployments"), (Names{{"apps", "deployments"}, {"apps", "*"}}));
  EXPECT_EQ(names("/registry/services/specs/", "", "services"), (Names{{"", "services"}, {"", "*"}}));
  EXPECT_EQ(names("/registry/example.com/foos/", "example.com", "foos"), Names{});
  EXPECT_EQ(names("/registry/apiregistration.k8s.io/apiservices/", "apiregistration.k8s.io", "apiservices"), Names{});
}

TEST(Stores, ReadsAreConfirmedWhereTheCacheIsOff) {
  EXPECT_TRUE(ConfirmedReads::of(false, {}).includes({"", "pods"}));
  const auto some = ConfirmedReads::of(true, {"pods#0", "deployments.apps#0", "secrets#100"});
  EXPECT_TRUE(some.includes({"", "pods"}));
  EXPECT_TRUE(some.includes({"apps", "deployments"}));
  EXPECT_FALSE(some.includes({"", "secrets"}));
  EXPECT_FALSE(some.includes({"extensions", "deployments"}));
  EXPECT_TRUE(some.includes({"", "events"})) << "upstream has no cache of them";
  EXPECT_FALSE(ConfirmedReads::of(true, {"events#100"}).includes({"", "events"}));
}

TEST(Promises, ServersOfEtcdMakeItTheStore) {
  auto completed = Options::complete(parsed({"--etcd-servers=http://a:1,http://b:2"}));
  ASSERT_TRUE(completed.ok());
  EXPECT_EQ((*completed)->storage.backend, "etcd3");
  EXPECT_EQ(configured({"--etcd-servers="}).status().message(),
            "--etcd-servers: must not be empty; leave the flag out to use the embedded store");
  EXPECT_EQ(promise_problems({"--etcd-servers=http://x", "--etcd-prefix=/foo", "--etcd-cafile=/x"}, kToday), Problems{});
  const auto found = promise_problems({"--etcd-servers=http://x", "--storage-backend=rocksdb"}, kToday);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("--etcd-servers (--storage-backend is not etcd3)"), std::string::npos) << found[0];
}

TEST(Promises, UnknownNamesAreRefused) {
  EXPECT_EQ(promise_problems({"--enable-admission-plugins=NamespaceLifecycle,Nonsense", "--disable-admission-plugins=NamespaceLifecycle",
                              "--storage-backend=etcd4"},
                             kToday),
            (Problems{"--enable-admission-plugins: unknown admission plugin \"Nonsense\"",
                      "--enable-admission-plugins and --disable-admission-plugins both name NamespaceLifecycle; remove it from one of them",
                      "--storage-backend=etcd4: no loaded plugin has this backend; available: memory, rocksdb, etcd3"}));
}

TEST(Promises, TheOldAdmissionControlNamesThoseThatRun) {
  auto completed = Options::complete(parsed({"--admission-control=NamespaceLifecycle"}));
  ASSERT_TRUE(completed.ok());
  EXPECT_EQ((*completed)->admission.enable, std::vector<std::string>{"NamespaceLifecycle"});
  EXPECT_EQ((*completed)->admission.disable.size(), 40u);
  auto both = Options::complete(parsed({"--admission-control=AlwaysAdmit", "--enable-admission-plugins=AlwaysDeny"}));
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->validate(),
            Problems{"--admission-control: must not be combined with --enable-admission-plugins and --disable-admission-plugins"});
}

TEST(Flags, AllErrorsOfTheKubernetesServiceAreReported) {
  const auto problems_of = [](std::vector<std::string> args) {
    args.push_back("--advertise-address=10.1.2.3");
    auto options = parsed(args);
    auto completed = Options::complete(std::move(options));
    return completed.ok() ? completed->validate() : Problems{"not complete"};
  };
  EXPECT_EQ(
      problems_of({"--kubernetes-service-node-port=70000"}),
      (Problems{"--kubernetes-service-node-port 70000 must be between 0 and 65535, inclusive. If 0, the Kubernetes master service will "
                "be of type ClusterIP",
                "kubernetes service node port range 30000-32767 doesn't contain 70000"}));
  EXPECT_EQ(problems_of({"--kubernetes-service-node-port=3001", "--service-node-port-range=3000+1"}), Problems{});
  EXPECT_EQ(problems_of({"--kubernetes-service-node-port=3002", "--service-node-port-range=3000+1"}),
            Problems{"kubernetes service node port range 3000-3001 doesn't contain 3002"});
  EXPECT_EQ(problems_of({"--service-node-port-range=0-99"}), Problems{"--service-node-port-range 0-99 must begin with a port above 0"});
  EXPECT_EQ(problems_of({"--endpoint-reconciler-type=magic", "--service-cluster-ip-range=fd00::/108,10.0.0.0/24"}),
            (Problems{"--endpoint-reconciler-type: endpoint reconciler not implemented: magic; there are: lease, master-count, none",
                      "service IP family \"fd00::/108\" must match public address family \"10.1.2.3\""}));
  EXPECT_EQ(problems_of({"--endpoint-reconciler-type="}), Problems{});
  EXPECT_EQ(problems_of({"--endpoint-reconciler-type=none", "--service-cluster-ip-range=fd00::/108"}), Problems{});
}

TEST(Addresses, ClientsInTheServiceRangeGetTheServiceAddress) {
  using Pair = std::pair<std::string, std::string>;
  EXPECT_EQ(service_address_for("10.0.0.0/24", "10.0.0.77"), Pair("10.0.0.0/24", "10.0.0.1:443"));
  EXPECT_EQ(service_address_for("10.96.5.0/12,fd00::/108", "10.97.0.1"), Pair("10.96.0.0/12", "10.96.0.1:443"));
  EXPECT_EQ(service_address_for("fd00::/108", "fd00::5"), Pair("fd00::/108", "[fd00::1]:443"));
  for (const char* other : {"10.0.1.1", "fd00::1", "", "nobody"})
    EXPECT_EQ(service_address_for("10.0.0.0/24", other), std::nullopt) << other;
}

TEST(Addresses, AHostGetsThePortUnlessItHasOne) {
  EXPECT_EQ(with_port("api.example.com", 6443), "api.example.com:6443");
  EXPECT_EQ(with_port("api.example.com:443", 6443), "api.example.com:443");
  EXPECT_EQ(with_port("fd00::1", 6443), "[fd00::1]:6443");
  EXPECT_EQ(with_port("[fd00::1]", 6443), "[fd00::1]:6443");
  EXPECT_EQ(with_port("[fd00::1]:443", 6443), "[fd00::1]:443");
}

TEST(Flags, TheSectionsOfHelpShowTypesAndDefaultsWithinTheWidth) {
  const std::string help = Options().flags.help(100);
  for (const char* section :
       {"\nGeneric flags:\n", "\nEtcd flags:\n", "\nSecure serving flags:\n", "\nBackplane flags:\n", "\nGlobal flags:\n"}) {
    EXPECT_NE(help.find(section), std::string::npos) << section;
  }
  EXPECT_NE(help.find("--request-timeout duration "), std::string::npos);
  EXPECT_NE(help.find("(default 1m0s)"), std::string::npos);
  EXPECT_NE(help.find("(default \"text\")"), std::string::npos);
  EXPECT_NE(help.find("  -v, --v Level"), std::string::npos);
  std::size_t begin = 0;
  while (begin < help.size()) {
    const auto end = help.find('\n', begin);
    const std::string line = help.substr(begin, end - begin);
    const auto first = line.find_first_not_of(' ');
    // A word that is too long for the column cannot be broken.
    EXPECT_TRUE(line.size() <= 100 || line.find(' ', first) == std::string::npos) << line;
    begin = end + 1;
  }
}

TEST(Flags, TheirTextsAreWhatTheStartLogsAndPluginsRead) {
  auto options = parsed({"--secure-port=0", "--authorization-mode=Node,RBAC"});
  const auto texts = options->flags.texts();
  EXPECT_EQ(texts.at("secure-port"), "0");
  EXPECT_EQ(texts.at("authorization-mode"), "[Node,RBAC]");
  EXPECT_EQ(texts.at("request-timeout"), "1m0s");
  EXPECT_EQ(options->flags.text("authorization-mode"), "Node,RBAC");
  EXPECT_EQ(options->flags.text("nothing"), std::nullopt);
}

TEST(Options, HeadersOfUidsNeedTheirGateAndTheStandardName) {
  EXPECT_TRUE(configured({"--requestheader-uid-headers=X-Uid,x-remote-uid"}).ok());
  EXPECT_EQ(configured({"--requestheader-uid-headers=X-Remote-Uid", "--feature-gates=RemoteRequestHeaderUID=false"}).status().message(),
            "--requestheader-uid-headers: requires --feature-gates=RemoteRequestHeaderUID=true");
  EXPECT_EQ(configured({"--requestheader-uid-headers=X-Uid"}).status().message(),
            "--requestheader-uid-headers: must contain X-Remote-Uid, which aggregated servers use");
  EXPECT_EQ(configured({"--requestheader-group-headers=X-Remote-Group, "}).status().message(),
            "--requestheader-group-headers: must not contain empty values");
}

TEST(Options, AllProblemsAreReportedAtOnce) {
  auto config = configured({"--goaway-chance=0.03", "--secure-port=70000", "--tls-min-version=VersionTLS9",
                            "--authorization-mode=RBAC,RBAC,Maybe", "--feature-gates=Nothing=true", "--logging-format=xml",
                            "--runtime-config=api/all=false", "--shutdown-delay-duration=-1s", "--tls-cert-file=/x"});
  ASSERT_FALSE(config.ok());
  for (const char* part :
       {"--goaway-chance: must be between 0 and 0.02", "--secure-port: 70000 is not a port; must be 1 to 65535",
        "--tls-min-version: invalid value \"VersionTLS9\"", "authorization-mode \"Maybe\" is not a valid mode",
        "authorization-mode [\"RBAC\" \"RBAC\" \"Maybe\"] has mode specified more than once",
        "--feature-gates: unknown gate Nothing; 'backplane help gates' lists the gates",
        "--logging-format: invalid value \"xml\": must be text or json", "api/all=false", "--shutdown-delay-duration: must not be negative",
        "--tls-cert-file and --tls-private-key-file: set both or neither"}) {
    EXPECT_NE(config.status().message().find(part), std::string::npos) << part << "\n" << config.status().message();
  }
}

TEST(Options, AuthorizersRequireTheirFilesAndRefuseOthers) {
  EXPECT_EQ(configured({"--authorization-mode=ABAC"}).status().message(), "authorization-mode ABAC's authorization policy file not passed");
  EXPECT_EQ(configured({"--authorization-mode=Webhook"}).status().message(),
            "authorization-mode Webhook's authorization config file not passed");
  EXPECT_EQ(configured({"--authorization-policy-file=/x"}).status().message(),
            "cannot specify --authorization-policy-file without mode ABAC");
  EXPECT_EQ(configured({"--authorization-mode=RBAC", "--authorization-webhook-config-file=/x"}).status().message(),
            "cannot specify --authorization-webhook-config-file without mode Webhook");
  const std::string exclusive =
      "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined";
  for (const char* other :
       {"--authorization-mode=RBAC", "--authorization-webhook-version=v1beta1", "--authorization-webhook-config-file=/x",
        "--authorization-webhook-cache-authorized-ttl=5m0s", "--authorization-webhook-cache-unauthorized-ttl=1s"}) {
    EXPECT_EQ(configured({"--authorization-config=/x", other}).status().message(), exclusive) << other;
  }
  EXPECT_TRUE(configured({"--authorization-config=/x", "--authorization-policy-file=/x"}).ok());
}

TEST(Options, PriorityLevelsNeedSomethingToShare) {
  const std::vector<std::string> nothing = {"--max-requests-inflight=0", "--max-mutating-requests-inflight=0"};
  EXPECT_EQ(configured(nothing).status().message(),
            "--max-requests-inflight=0 and --max-mutating-requests-inflight=0: their sum must be positive, or set "
            "--enable-priority-and-fairness=false");
  auto unlimited = nothing;
  unlimited.push_back("--enable-priority-and-fairness=false");
  EXPECT_TRUE(configured(unlimited).ok());
  EXPECT_TRUE(configured({"--max-requests-inflight=0"}).ok());
}

TEST(Options, OriginsMustBePinnedAtBothEnds) {
  EXPECT_TRUE(configured({"--cors-allowed-origins=^https://example\\.com$"}).ok());
  EXPECT_TRUE(configured({"--cors-allowed-origins=//localhost:"}).ok());
  EXPECT_FALSE(configured({"--cors-allowed-origins=example.com$"}).ok());
  EXPECT_FALSE(configured({"--cors-allowed-origins=//example.com"}).ok());
  EXPECT_FALSE(configured({"--cors-allowed-origins=^(($"}).ok());
}

TEST(Options, FeatureGatesTakeStagesAndNames) {
  auto config = configured({"--feature-gates=AllAlpha=true,kube:OpenAPIEnums=false"});
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_TRUE(config->feature_gates().enabled("CBORServingAndStorage"));
  EXPECT_FALSE(config->feature_gates().enabled("OpenAPIEnums"));
  EXPECT_TRUE(config->feature_gates().enabled("APIResponseCompression"));
}

TEST(Options, AGateThatSwitchesNothingIsNotReportedAsOn) {
  FeatureGates gates;
  EXPECT_TRUE(gates.enabled("APIServerTracing")) << "as its default says";
  EXPECT_FALSE(gates.in_effect("APIServerTracing")) << "as it is";
  EXPECT_TRUE(gates.in_effect("APIResponseCompression"));
  EXPECT_TRUE(gates.in_effect("RemoteRequestHeaderUID"));
  EXPECT_TRUE(gates.in_effect("KubeletPSI")) << "it is the kubelet's";
  EXPECT_TRUE(gates.without_effect().empty());
  EXPECT_TRUE(
      gates.set({"APIResponseCompression=false", "WatchList=false", "CBORServingAndStorage=true", "ClusterTrustBundle=false"}).empty());
  EXPECT_FALSE(gates.in_effect("APIResponseCompression"));
  EXPECT_TRUE(gates.in_effect("WatchList")) << "it cannot be switched off";
  EXPECT_EQ(gates.without_effect(), std::vector<std::string>{"WatchList"});
  const std::string help = FeatureGates::help();
  const auto line = [&](const std::string& gate) {
    const auto at = help.find("  " + gate + " ");
    return at == std::string::npos ? std::string() : help.substr(at, help.find('\n', at) - at);
  };
  EXPECT_TRUE(line("ComponentFlagz").ends_with("true")) << line("ComponentFlagz");
  EXPECT_TRUE(line("WatchList").ends_with("always on")) << line("WatchList");
  FeatureGates stages;
  EXPECT_TRUE(stages.set({"AllAlpha=true"}).empty());
  ASSERT_EQ(stages.without_effect().size(), 1U);
  EXPECT_TRUE(stages.without_effect().front().starts_with("AllAlpha (but for ")) << stages.without_effect().front();
  EXPECT_NE(stages.without_effect().front().find("LoggingAlphaOptions"), std::string::npos);
  EXPECT_TRUE(stages.in_effect("LoggingAlphaOptions"));
  EXPECT_TRUE(gates.in_effect("ComponentFlagz"));
  EXPECT_FALSE(gates.in_effect("LoggingAlphaOptions"));
  EXPECT_TRUE(gates.set({"ComponentFlagz=false", "LoggingAlphaOptions=true"}).empty());
  EXPECT_FALSE(gates.in_effect("ComponentFlagz"));
  EXPECT_TRUE(gates.in_effect("LoggingAlphaOptions"));
}

TEST(Options, ValuesThatNothingActsOnAreCheckedAllTheSame) {
  const auto problem = [](const char* flag) {
    auto config = configured({flag});
    return config.ok() ? std::string() : config.status().message();
  };
  EXPECT_EQ(problem("--watch-cache-sizes=foo"), "--watch-cache-sizes: must have the form resource[.group]#size: foo");
  EXPECT_EQ(problem("--watch-cache-sizes=foo#bar"), "--watch-cache-sizes: the size must be an integer: foo#bar");
  EXPECT_EQ(problem("--watch-cache-sizes=foo#99999999999999999999"),
            "--watch-cache-sizes: the size must be an integer: foo#99999999999999999999");
  EXPECT_EQ(problem("--watch-cache-sizes=foo#-1"), "--watch-cache-sizes: the size must not be negative: foo#-1");
  EXPECT_EQ(problem("--watch-cache-sizes=pods#0,deployments.apps#100,nodes#+5"), "");
  EXPECT_EQ(problem("--service-account-issuer=:bad:"),
            "--service-account-issuer: \":bad:\" contains a colon and is not a valid URL: parse \":bad:\": missing protocol scheme");
  EXPECT_EQ(problem("--service-account-issuer=https://a"), "");
  EXPECT_EQ(
      problem("--service-account-issuer=https://a b/c"),
      "--service-account-issuer: \"https://a b/c\" contains a colon and is not a valid URL: parse \"https://a b/c\": invalid character "
      "\" \" in host name");
  EXPECT_EQ(problem("--service-account-issuer=https://a/b c"), "");
  EXPECT_EQ(
      problem("--service-account-issuer=ht@:tp"),
      "--service-account-issuer: \"ht@:tp\" contains a colon and is not a valid URL: parse \"ht@:tp\": first path segment in URL cannot "
      "contain colon");
  EXPECT_EQ(problem("--service-account-issuer=https://a:b"),
            "--service-account-issuer: \"https://a:b\" contains a colon and is not a valid URL: parse \"https://a:b\": invalid port \":b\" "
            "after host");
  EXPECT_EQ(problem("--service-account-issuer=https://[a"),
            "--service-account-issuer: \"https://[a\" contains a colon and is not a valid URL: parse \"https://[a\": missing ']' in host");
  EXPECT_EQ(problem("--service-account-issuer=system:issuer"), "");
  EXPECT_EQ(problem("--service-account-max-token-expiration=1m"),
            "--service-account-max-token-expiration: must be between 1 hour and 2^32 seconds, or 0");
  EXPECT_EQ(problem("--service-account-max-token-expiration=2h"), "");
  EXPECT_EQ(problem("--service-account-jwks-uri=http://a"), "--service-account-jwks-uri: \"http://a\" must begin with https://");
  EXPECT_EQ(problem("--apiserver-count=0"), "--apiserver-count: 0 must be positive");
  EXPECT_EQ(problem("--peer-advertise-ip=foo"), "--peer-advertise-ip: \"foo\" is not an IP address");
  EXPECT_EQ(problem("--peer-advertise-port=70000"), "--peer-advertise-port: \"70000\" is not a port");
  EXPECT_EQ(problem("--peer-ca-file=/ca.crt"),
            "[--peer-ca-file: requires --proxy-client-cert-file, with which this server authenticates to peers, --peer-ca-file: requires "
            "--proxy-client-key-file, with which this server authenticates to peers]");
  EXPECT_EQ(problem("--show-hidden-metrics-for-version=1.33"),
            "--show-hidden-metrics-for-version: must be 1.35, the previous minor version, or unset");
  EXPECT_EQ(problem("--show-hidden-metrics-for-version=1.35"), "");
  EXPECT_EQ(problem("--allow-metric-labels=requests=200").substr(0, 67),
            "--allow-metric-labels must have a list of kv pair with format `metr");
  EXPECT_EQ(problem("--log-text-split-stream"), "--log-text-split-stream: requires --feature-gates=LoggingAlphaOptions=true");
}

TEST(Flags, PairsKeepTheCommasOfTheirKeysAndValues) {
  EXPECT_EQ(parsed({"--allow-metric-labels=m,l=a,b", "--allow-metric-labels=\"m,k=c,d\",\"n,o=e\""})->metrics.allow_labels,
            (std::vector<std::string>{"m,l=a,b", "m,k=c,d", "n,o=e"}))
      << "as pflag: one pair is taken whole, several are CSV";
  EXPECT_EQ(parse_error({"--allow-metric-labels=m"}), "--allow-metric-labels: invalid value \"m\": \"m\" must have the form key=value");
}

TEST(Flags, PatternsAndQuantitiesAreChecked) {
  EXPECT_EQ(parsed({"--vmodule=routing=4,plugin/*=6"})->logs.modules, (std::vector<std::string>{"routing=4", "plugin/*=6"}));
  EXPECT_EQ(parse_error({"--vmodule=routing"}), "--vmodule: invalid value \"routing\": \"routing\" must have the form pattern=N");
  EXPECT_FALSE(parse_error({"--vmodule=routing=-1"}).empty());
  EXPECT_FALSE(parse_error({"--log-json-info-buffer-size=lots"}).empty());
  EXPECT_EQ(configured({"--vmodule=a=1", "--logging-format=json"}).status().message(), "--vmodule: requires --logging-format=text");
}

TEST(Flags, HelpMarksFlagsWithoutEffect) {
  const std::string help = Options().flags.help(1000);
  const auto line = [&](const std::string& flag) {
    const auto at = help.find("--" + flag + " ");
    return at == std::string::npos ? std::string() : help.substr(at, help.find('\n', at) - at);
  };
  EXPECT_TRUE(line("log-json-info-buffer-size").ends_with("[no effect]")) << line("log-json-info-buffer-size");
  EXPECT_FALSE(line("max-connection-bytes-per-sec").ends_with("[no effect]")) << "the core plugin limits connections";
  for (const char* acts : {"contention-profiling", "enable-priority-and-fairness", "disabled-metrics", "vmodule", "event-ttl",
                           "permit-address-sharing", "etcd-count-metric-poll-period"}) {
    EXPECT_FALSE(line(acts).ends_with("]")) << line(acts);
  }
}

TEST(Promises, AFileThatAFlagNamesMustExistAndBeOfItsKind) {
  const std::string folder = std::filesystem::temp_directory_path() / ("flag-files-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder + "/" + name) << text;
    return folder + "/" + name;
  };
  const auto problems = [](const std::vector<std::string>& args) {
    auto completed = Options::complete(parsed(args));
    Problems out;
    if (completed.ok()) check_flag_files(**completed, out);
    return out;
  };
  const std::string junk = write("junk", "nothing");
  EXPECT_EQ(problems({"--kubelet-client-certificate=/absent"}),
            Problems{"--kubelet-client-certificate: cannot open /absent: no such file or directory"});
  EXPECT_EQ(problems({"--tls-cert-file=/absent", "--tls-private-key-file=" + junk}),
            (Problems{"--tls-cert-file: cannot open /absent: no such file or directory",
                      "--tls-private-key-file: " + junk + " does not contain a PEM private key"}));
  EXPECT_EQ(problems({"--client-ca-file=" + junk}), Problems{"--client-ca-file: " + junk + " does not contain a PEM certificate"});
  EXPECT_EQ(problems({"--service-account-key-file=" + junk, "--service-account-key-file=/absent"}),
            (Problems{"--service-account-key-file: " + junk + " does not contain a PEM key or certificate",
                      "--service-account-key-file: cannot open /absent: no such file or directory"}));
  EXPECT_EQ(problems({"--allow-metric-labels-manifest=" + junk}),
            Problems{"--allow-metric-labels-manifest: " + junk + " does not contain a YAML object"});
  EXPECT_EQ(problems({"--kubelet-client-key=" + folder}), Problems{"--kubelet-client-key: cannot open " + folder + ": is a directory"});
  EXPECT_EQ(problems({"--plugin-dir=" + folder, "--plugin-dir=/absent"}), Problems{});
  EXPECT_EQ(problems({"--plugin-dir=/absent", "--plugin-dir=" + junk}),
            (Problems{"--plugin-dir: cannot open /absent: no such file or directory",
                      "--plugin-dir: cannot open " + junk + ": not a directory"}));
  const std::string key = write("key.pub",
                                "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9\n"
                                "q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==\n-----END PUBLIC KEY-----\n");
  EXPECT_EQ(problems({"--service-account-key-file=" + key, "--allow-metric-labels-manifest=" + write("labels.yaml", "a: b\n")}),
            Problems{});
  std::filesystem::remove_all(folder);
}

TEST(Options, FeatureGatesNeedThoseTheyDependOn) {
  EXPECT_TRUE(configured({"--feature-gates=ClusterTrustBundleProjection=true,ClusterTrustBundle=true"}).ok());
  FeatureGates gates;
  EXPECT_EQ(
      gates.set({"ClusterTrustBundleProjection=true", "NodeDeclaredFeatures=false", "ExtendWebSocketsToKubelet=false"}),
      (std::vector<std::string>{"--feature-gates: ClusterTrustBundleProjection=true requires ClusterTrustBundle to be on",
                                "--feature-gates: InPlacePodLevelResourcesVerticalScaling=true requires NodeDeclaredFeatures to be on",
                                "--feature-gates: InPlacePodVerticalScalingInitContainers=true requires NodeDeclaredFeatures to be on",
                                "--feature-gates: RestartAllContainersOnContainerExits=true requires NodeDeclaredFeatures to be on"}));
}

TEST(Options, EveryGateOfTheReleaseIsKnown) {
  FeatureGates gates;
  EXPECT_TRUE(gates.set({"InformerResourceVersion=false", "CustomCPUCFSQuotaPeriod=false"}).empty());
  EXPECT_EQ(FeatureGates().set({"DynamicResourceAllocation=false"}).front(),
            "--feature-gates: DynamicResourceAllocation is locked to true; remove it");
  EXPECT_EQ(FeatureGates().set({"InOrderInformers=false"}).front(), "--feature-gates: InOrderInformers is locked to true; remove it");
  EXPECT_EQ(FeatureGates().set({"GitRepoVolumeDriver=true"}).front(), "--feature-gates: GitRepoVolumeDriver is locked to false; remove it");
}

TEST(Options, FeatureGatesThatAreLockedKeepTheirDefault) {
  EXPECT_TRUE(configured({"--feature-gates=OrderedNamespaceDeletion=true"}).ok());
  auto config = configured({"--feature-gates=OrderedNamespaceDeletion=false"});
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.status().message(), "--feature-gates: OrderedNamespaceDeletion is locked to true; remove it");
  FeatureGates gates;
  EXPECT_TRUE(gates.set({"DRAPrioritizedList=false", "KMSv1=true", "StorageVersionAPI=true"}).empty());
  EXPECT_FALSE(gates.enabled("DRAPrioritizedList"));
  EXPECT_EQ(gates.remarks(),
            (std::vector<std::string>{"Setting GA feature gate DRAPrioritizedList=false. It will be removed in a future release.",
                                      "Setting deprecated feature gate KMSv1=true. It will be removed in a future release.",
                                      "feature gate StorageVersionAPI=true: StorageVersions are served; this server writes none"}));
}

TEST(Options, AlwaysAllowSwitchesAnonymousOff) {
  auto config = configured({"--authorization-mode=AlwaysAllow"});
  ASSERT_TRUE(config.ok());
  EXPECT_FALSE(config->options().authentication.anonymous);
}

TEST(GoDuration, ReadsAndPrintsAsGoDoes) {
  EXPECT_EQ(*parse_go_duration("1h30m"), 90min);
  EXPECT_EQ(*parse_go_duration("1.5s"), 1500ms);
  EXPECT_EQ(*parse_go_duration("-2m"), -2min);
  EXPECT_EQ(*parse_go_duration("0"), 0s);
  EXPECT_EQ(parse_go_duration("abc").status().message(), "time: invalid duration \"abc\"");
  EXPECT_EQ(parse_go_duration("5").status().message(), "time: missing unit in duration \"5\"");
  EXPECT_EQ(parse_go_duration("5d").status().message(), "time: unknown unit \"d\" in duration \"5d\"");
  EXPECT_FALSE(parse_go_duration("").ok());
  EXPECT_FALSE(parse_go_duration("999999999h").ok());
  EXPECT_EQ(format_go_duration(90s), "1m30s");
  EXPECT_EQ(format_go_duration(2h), "2h0m0s");
  EXPECT_EQ(format_go_duration(300ms), "300ms");
  EXPECT_EQ(format_go_duration(1500ms), "1.5s");
  EXPECT_EQ(format_go_duration(0s), "0s");
}

}  // namespace
}  // namespace backplane
