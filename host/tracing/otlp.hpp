// Encodes spans as an ExportTraceServiceRequest of OTLP, in protobuf's binary format.
//
// Thread-safety: pure functions.
// Source:        opentelemetry-proto: collector/trace/v1, trace/v1, common/v1, resource/v1.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tracing/span_data.hpp"

namespace backplane::tracing {

// The gRPC method that receives the request.
inline constexpr std::string_view kExportMethod = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

// `resource`: the attributes of the process that has recorded the spans (service.name …).
std::string encode_export(const Attributes& resource, std::span<const SpanData> spans);

}  // namespace backplane::tracing
