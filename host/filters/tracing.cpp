// WithTracing: begins the span of a request after authentication. When the request has ended, the filter ends the span and exports it.
#include "filters/filters.hpp"
#include "tracing/tracer.hpp"

namespace backplane {
namespace {

class WithTracing final : public Filter {
 public:
  explicit WithTracing(const tracing::Tracer& tracer) : tracer_(tracer) {}

  Step enter(FilterCall& call) const override {
    tracer_.begin(call.context, call.exchange(), *tracing::marks_of(call.context));
    return Step::kNextThenLeave;
  }
  void leave(FilterCall& call) const noexcept override { tracer_.end(*tracing::marks_of(call.context), call.exchange().response_code()); }

 private:
  const tracing::Tracer& tracer_;
};

}  // namespace

FilterPtr with_tracing(const ChainConfig& config) {
  return config.tracer != nullptr ? std::make_unique<WithTracing>(*config.tracer) : nullptr;
}

}  // namespace backplane
