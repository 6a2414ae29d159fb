// Spans as an ExportTraceServiceRequest of OTLP, in protobuf's binary form.
//
// Thread-safety: pure functions.
// Source:        opentelemetry-proto: collector/trace/v1, trace/v1, common/v1, resource/v1.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tracing/span_data.hpp"

namespace backplane::tracing {

// The method that receives such a request.
inline constexpr std::string_view kExportMethod = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

// `resource`: what the spans are of (service.name …).
std::string encode_export(const Attributes& resource, std::span<const SpanData> spans);

}  // namespace backplane::tracing
