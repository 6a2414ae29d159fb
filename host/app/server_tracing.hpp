// Traces of the server as --tracing-config-file configures them: the tracer of its handler chains, and the export to the collector.
//
// Thread-safety: run() and flush() on one executor; the tracer from any thread.
// Lifetime:      outlives the handler chains; run() has ended before it is destroyed.
// Errors:        kBadRequest for a file that cannot be used, with upstream's text.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/flag_set.hpp"
#include "backplane/net/client.hpp"
#include "tracing/batch_exporter.hpp"
#include "tracing/tracer.hpp"

namespace backplane {

// Empty if the flag is not set or its file can be used; otherwise the reason why startup fails.
std::string tracing_problem(const FlagSet& flags);

class ServerTracing {
 public:
  using MakeClient = std::function<Result<std::shared_ptr<HttpClient>>(ClientConfig config)>;
  // Null: the flag is not set.
  static Result<std::unique_ptr<ServerTracing>> make(const FlagSet& flags, const MakeClient& make_client);

  const tracing::Tracer& tracer() const noexcept { return tracer_; }
  // Exports until stop(), and then the remaining spans.
  Task<void> run() { return exporter_.run(); }
  void stop() { exporter_.stop(); }

 private:
  ServerTracing(double ratio, tracing::Attributes resource, tracing::BatchExporter::Send send);

  tracing::BatchExporter exporter_;
  tracing::Tracer tracer_;
};

}  // namespace backplane
