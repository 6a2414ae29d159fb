#include "tracing/otlp.hpp"

#include <gtest/gtest.h>

namespace backplane::tracing {
namespace {

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    out.push_back(kDigits[value >> 4U]);
    out.push_back(kDigits[value & 15U]);
  }
  return out;
}

// The field numbers and types are those of opentelemetry/proto/trace/v1/trace.proto.
TEST(Otlp, ASpanHasTheFieldsOfTheMessage) {
  SpanData span;
  span.self.trace = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  span.self.span = {1, 1, 1, 1, 1, 1, 1, 1};
  span.self.sampled = true;
  span.name = "G";
  span.kind = SpanKind::kServer;
  span.begin = 1;
  span.end = 2;
  const std::string encoded = hex(encode_export({}, std::span(&span, 1)));
  // trace_id, span_id, name, kind, start, end, status, flags
  EXPECT_NE(encoded.find("0a100102030405060708090a0b0c0d0e0f10"
                         "12080101010101010101"
                         "2a0147"
                         "3002"
                         "390100000000000000"
                         "410200000000000000"
                         "7a00"
                         "850101010000"),
            std::string::npos)
      << encoded;
}

TEST(Otlp, ValuesKeepTheirTypes) {
  const Attributes resource{{"s", std::string("t")}, {"n", std::int64_t{300}}, {"b", false}};
  const std::string encoded = hex(encode_export(resource, {}));
  EXPECT_NE(encoded.find("0a0173"
                         "1203"
                         "0a0174"),
            std::string::npos)
      << encoded;
  EXPECT_NE(encoded.find("0a016e"
                         "1203"
                         "18ac02"),
            std::string::npos)
      << encoded;
  EXPECT_NE(encoded.find("0a0162"
                         "1202"
                         "1000"),
            std::string::npos)
      << "members of a oneof are written with the value zero: " << encoded;
}

TEST(Otlp, SpansAreInTheScopeOfTheirKind) {
  SpanData spans[2];
  spans[0].kind = SpanKind::kClient;
  spans[1].kind = SpanKind::kInternal;
  const std::string both = encode_export({}, spans);
  EXPECT_NE(both.find("otelhttp"), std::string::npos);
  EXPECT_NE(both.find("k8s.io/component-base/tracing"), std::string::npos);
  const std::string one = encode_export({}, std::span(spans).first(1));
  EXPECT_EQ(one.find("k8s.io/component-base/tracing"), std::string::npos);
}

}  // namespace
}  // namespace backplane::tracing
