#include "backplane/kit/jose_algorithm.hpp"

#include <array>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

constexpr std::array<std::string_view, 9> kJoseNames{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"};

}  // namespace

std::string_view jose_algorithm_name(JoseAlgorithm algorithm) noexcept { return kJoseNames[static_cast<std::size_t>(algorithm)]; }

std::optional<JoseAlgorithm> jose_algorithm_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kJoseNames.size(); ++i) {
    if (kJoseNames[i] == name) return static_cast<JoseAlgorithm>(i);
  }
  return std::nullopt;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
