// WithCORS (--cors-allowed-origins): adds CORS headers and responds to preflight requests. The filter precedes authentication, because a
// preflight request has no credentials.
#include <algorithm>
#include <boost/regex.hpp>

#include "filters/filters.hpp"

namespace backplane {
namespace {

// The maximum length of an origin: a scheme, "://", a DNS name and a port fit.
constexpr std::size_t kMaxOrigin = 512;

// boost::regex stores its state on the heap. std::regex recurses for each character and could overflow the stack.
bool matches(std::string_view origin, const boost::regex& pattern) {
  try {
    return boost::regex_search(origin.begin(), origin.end(), pattern);
  } catch (const std::runtime_error&) {
    return false;  // the pattern needs too many steps for this origin
  }
}

class Cors final : public Filter {
 public:
  explicit Cors(const std::vector<std::string>& patterns) {
    for (const auto& pattern : patterns) origins_.emplace_back(pattern);
  }

  Step enter(FilterCall& call) const override {
    Exchange& exchange = call.exchange();
    const std::string_view origin = exchange.header("origin");
    if (origin.empty() || !allowed(origin)) return Step::kNext;
    exchange.set_response_header("Access-Control-Allow-Origin", std::string(origin));
    exchange.set_response_header("Access-Control-Allow-Methods", "POST, GET, OPTIONS, PUT, DELETE, PATCH");
    exchange.set_response_header(
        "Access-Control-Allow-Headers",
        "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since");
    exchange.set_response_header("Access-Control-Expose-Headers", "Date");
    exchange.set_response_header("Access-Control-Allow-Credentials", "true");
    if (exchange.method() != "OPTIONS") return Step::kNext;
    call.refusal = Refusal::plain(204, "");
    return Step::kRefuse;
  }

 private:
  bool allowed(std::string_view origin) const {
    if (origin.size() > kMaxOrigin) return false;
    return std::any_of(origins_.begin(), origins_.end(), [&](const boost::regex& pattern) { return matches(origin, pattern); });
  }
  std::vector<boost::regex> origins_;
};

}  // namespace

FilterPtr with_cors(const ChainConfig& config) {
  if (config.cors_allowed_origins.empty()) return nullptr;
  return std::make_unique<Cors>(config.cors_allowed_origins);
}

}  // namespace backplane
