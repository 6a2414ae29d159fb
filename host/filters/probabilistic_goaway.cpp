// WithProbabilisticGoaway (--goaway-chance): sends GOAWAY for randomly chosen requests. Their HTTP/2 clients reconnect, so that a load
// balancer can distribute them again.
#include <random>

#include "filters/filters.hpp"

namespace backplane {
namespace {

class ProbabilisticGoaway final : public Filter {
 public:
  explicit ProbabilisticGoaway(double chance) : chance_(chance) {}
  Step enter(FilterCall& call) const override {
    thread_local std::minstd_rand random{std::random_device{}()};
    if (call.exchange().http_major() == 2 && std::uniform_real_distribution<double>(0, 1)(random) < chance_) {
      call.exchange().close_connection_after();
    }
    return Step::kNext;
  }

 private:
  double chance_;
};

}  // namespace

FilterPtr with_probabilistic_goaway(const ChainConfig& config) {
  if (config.goaway_chance <= 0) return nullptr;
  return std::make_unique<ProbabilisticGoaway>(config.goaway_chance);
}

}  // namespace backplane
