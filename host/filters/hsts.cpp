// WithHSTS (--strict-transport-security-directives): sets the header Strict-Transport-Security.
#include "filters/filters.hpp"

namespace backplane {
namespace {

class Hsts final : public Filter {
 public:
  explicit Hsts(std::string value) : value_(std::move(value)) {}
  Step enter(FilterCall& call) const override {
    call.exchange().set_response_header("Strict-Transport-Security", value_);
    return Step::kNext;
  }

 private:
  std::string value_;
};

}  // namespace

FilterPtr with_hsts(const ChainConfig& config) {
  if (config.strict_transport_security_directives.empty()) return nullptr;
  std::string value;
  for (const auto& directive : config.strict_transport_security_directives) value += (value.empty() ? "" : "; ") + directive;
  return std::make_unique<Hsts>(std::move(value));
}

}  // namespace backplane
