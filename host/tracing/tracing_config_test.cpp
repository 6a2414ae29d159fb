#include "tracing/tracing_config.hpp"

#include <gtest/gtest.h>

namespace backplane::tracing {
namespace {

std::string config(std::string_view version, std::string_view members) {
  return "apiVersion: apiserver.config.k8s.io/" + std::string(version) + "\nkind: TracingConfiguration\n" + std::string(members);
}

std::string problem(std::string_view members) {
  auto parsed = parse_tracing_config(config("v1", members));
  return parsed.ok() ? std::string() : parsed.status().message();
}

TEST(TracingConfig, EveryVersionIsRead) {
  for (const char* version : {"v1", "v1beta1", "v1alpha1"}) {
    auto parsed = parse_tracing_config(config(version, "endpoint: collector:4317\nsamplingRatePerMillion: 10\n"));
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(parsed->endpoint, "collector:4317");
    EXPECT_EQ(parsed->sampling_rate_per_million, 10);
  }
}

TEST(TracingConfig, HasDefaults) {
  auto parsed = parse_tracing_config(config("v1", ""));
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->endpoint, "localhost:4317");
  EXPECT_EQ(parsed->sampling_rate_per_million, 0);
}

TEST(TracingConfig, RatesAreOfAMillion) {
  EXPECT_EQ(problem("samplingRatePerMillion: -1"),
            "failed to validate tracing configuration: samplingRatePerMillion: Invalid value: -1: sampling rate must be positive");
  EXPECT_EQ(problem("samplingRatePerMillion: 1000001"),
            "failed to validate tracing configuration: samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be "
            "less than or equal to one million");
  EXPECT_EQ(problem("samplingRatePerMillion: 1000000"), "");
}

TEST(TracingConfig, EndpointsHaveASchemeOfGrpc) {
  for (const char* good : {"localhost:4317", "dns:///collector:4317", "unix:///run/collector.sock", "10.0.0.1:4317"}) {
    EXPECT_EQ(problem("endpoint: " + std::string(good)), "") << good;
  }
  EXPECT_EQ(problem("endpoint: https://collector:4317"),
            "failed to validate tracing configuration: endpoint: Invalid value: \"https://collector:4317\": unsupported scheme: https.  "
            "Options are none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md");
  EXPECT_EQ(problem("endpoint: https://a\nsamplingRatePerMillion: -1").substr(0, 43), "failed to validate tracing configuration: [")
      << problem("endpoint: https://a\nsamplingRatePerMillion: -1");
}

TEST(TracingConfig, DecodingIsStrict) {
  EXPECT_NE(problem("sampling: 1").find("unknown field \"sampling\""), std::string::npos) << problem("sampling: 1");
  EXPECT_NE(problem("endpoint: 1").find("unable to decode tracing configuration data"), std::string::npos);
  EXPECT_FALSE(parse_tracing_config(config("v2", "")).ok());
}

TEST(TracingConfig, EndpointsAreServersOfTheClient) {
  EXPECT_EQ(*server_of_endpoint("collector:4317"), "http://collector:4317");
  EXPECT_EQ(*server_of_endpoint("collector"), "http://collector:443");
  EXPECT_EQ(*server_of_endpoint("[::1]"), "http://[::1]:443");
  EXPECT_EQ(*server_of_endpoint("dns:///collector:4317"), "http://collector:4317");
  EXPECT_EQ(*server_of_endpoint("dns://8.8.8.8/collector:4317"), "http://collector:4317");
  EXPECT_EQ(*server_of_endpoint("unix:///run/a.sock"), "unix:///run/a.sock");
  EXPECT_EQ(*server_of_endpoint("unix:/run/a.sock"), "unix:///run/a.sock");
  EXPECT_FALSE(server_of_endpoint("unix-abstract:a").ok());
}

}  // namespace
}  // namespace backplane::tracing
