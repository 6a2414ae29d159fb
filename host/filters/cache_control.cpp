// WithCacheControl: forbids shared caches to store responses, because responses depend on the user. A handler may replace the header.
#include "filters/filters.hpp"

namespace backplane {
namespace {

class CacheControl final : public Filter {
 public:
  Step enter(FilterCall& call) const override {
    call.exchange().set_response_header("Cache-Control", "no-cache, private");
    return Step::kNext;
  }
};

}  // namespace

FilterPtr with_cache_control(const ChainConfig&) { return std::make_unique<CacheControl>(); }

}  // namespace backplane
