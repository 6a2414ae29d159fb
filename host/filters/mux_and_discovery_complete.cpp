// WithMuxAndDiscoveryComplete: marks requests that arrive before all paths are installed. For these requests, an unknown path gets 503 and
// not 404.
#include "filters/filters.hpp"

namespace backplane {
namespace {

class MuxAndDiscoveryComplete final : public Filter {
 public:
  explicit MuxAndDiscoveryComplete(const Signal& signal) : signal_(signal) {}
  Step enter(FilterCall& call) const override {
    call.context.mux_incomplete = !signal_.fired();
    return Step::kNext;
  }

 private:
  const Signal& signal_;
};

}  // namespace

FilterPtr with_mux_and_discovery_complete(const ChainConfig& config) {
  if (config.mux_and_discovery_complete == nullptr) return nullptr;
  return std::make_unique<MuxAndDiscoveryComplete>(*config.mux_and_discovery_complete);
}

}  // namespace backplane
