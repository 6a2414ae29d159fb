#include "app/server_tracing.hpp"

#include <filesystem>

#include "backplane/kit/server_identity.hpp"
#include "backplane/net/egress.hpp"
#include "backplane/net/grpc.hpp"
#include "tracing/otlp.hpp"
#include "tracing/tracing_config.hpp"

namespace backplane {
namespace {

constexpr std::string_view kFlag = "tracing-config-file";
constexpr double kMillion = 1'000'000;

std::string flag_text(const FlagSet& flags, std::string_view name) { return flags.text(name).value_or(""); }

// The resource attributes of kube-apiserver's traces.
tracing::Attributes resource_attributes() {
  tracing::Attributes out;
  out.emplace_back("service.instance.id", kit::server_id(kit::host_name()));
  out.emplace_back("service.name", std::string("apiserver"));
  return out;
}

// gRPC without TLS, the only transport that kube-apiserver has for traces.
Result<ClientConfig> collector_client(const FlagSet& flags, const tracing::TracingConfig& config) {
  auto server = tracing::server_of_endpoint(config.endpoint);
  if (!server.ok()) return std::move(server.status());
  auto egress = EgressSelector::read(flag_text(flags, "egress-selector-config-file"));
  if (!egress.ok()) return std::move(egress.status());
  ClientConfig client;
  client.server = std::move(*server);
  client.dial = (*egress)->dialer(EgressType::kControlPlane);
  client.http2_prior_knowledge = true;
  client.max_connections = 1;
  return client;
}

Task<grpc::CallStatus> export_once(std::shared_ptr<HttpClient> client, std::string request,
                                   std::chrono::steady_clock::time_point deadline) {
  grpc::CallOptions options;
  options.deadline = deadline;
  auto calling = grpc::unary(std::move(client), std::string(tracing::kExportMethod), std::move(request), std::move(options));
  grpc::UnaryAnswer answer = co_await std::move(calling);
  co_return std::move(answer.status);
}

}  // namespace

std::string tracing_problem(const FlagSet& flags) {
  const std::string path = flag_text(flags, kFlag);
  if (path.empty()) return {};
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return "tracing-config-file " + path + " does not exist";
  const auto config = tracing::read_tracing_config(path);
  if (!config.ok()) return "--tracing-config-file: " + config.status().message();
  const auto server = tracing::server_of_endpoint(config->endpoint);
  return server.ok() ? std::string() : "--tracing-config-file: " + server.status().message();
}

ServerTracing::ServerTracing(double ratio, tracing::Attributes resource, tracing::BatchExporter::Send send)
    : exporter_(std::move(resource), std::move(send)),
      tracer_(ratio, [this](std::vector<tracing::SpanData> spans) { exporter_.add(std::move(spans)); }) {}

Result<std::unique_ptr<ServerTracing>> ServerTracing::make(const FlagSet& flags, const MakeClient& make_client) {
  const std::string path = flag_text(flags, kFlag);
  if (path.empty()) return std::unique_ptr<ServerTracing>();
  auto config = tracing::read_tracing_config(path);
  if (!config.ok()) return std::move(config.status());
  auto described = collector_client(flags, *config);
  if (!described.ok()) return std::move(described.status());
  auto client = make_client(std::move(*described));
  if (!client.ok()) return std::move(client.status());
  auto send = [client = std::move(*client)](std::string request, std::chrono::steady_clock::time_point deadline) {
    return export_once(client, std::move(request), deadline);
  };
  const double ratio = config->sampling_rate_per_million / kMillion;
  return std::unique_ptr<ServerTracing>(new ServerTracing(ratio, resource_attributes(), std::move(send)));
}

}  // namespace backplane
