#include "former_versions.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/rest/former_versions.hpp"
#include "flowcontrol_former_json.hpp"
#include "kinds.hpp"

namespace backplane::flowcontrol {
namespace {

using namespace kit;

// v1beta3 does not distinguish 0 shares from an unset number. This annotation marks an object with 0 shares.
constexpr std::string_view kZeroShares = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";
constexpr std::int64_t kDefaultShares = 30;

Status level_from_v1beta3(Object& level) {
  Object& metadata = ensure_object(level, "metadata");
  Object* annotations = mutable_object(metadata, "annotations");
  const bool keeps_zero = annotations != nullptr && has(*annotations, kZeroShares);
  if (keeps_zero) erase_member(*annotations, kZeroShares);
  Object* limited = mutable_object(ensure_object(level, "spec"), "limited");
  if (limited != nullptr) fill(*limited, "nominalConcurrencyShares", keeps_zero ? 0 : kDefaultShares);
  return {};
}

// For v1beta1 and v1beta2, which name the field assuredConcurrencyShares.
Status level_from_assured_shares(Object& level) {
  Object* limited = mutable_object(ensure_object(level, "spec"), "limited");
  if (limited == nullptr) return {};
  const std::int64_t shares = get_int(*limited, "assuredConcurrencyShares").value_or(0);
  (*limited)["nominalConcurrencyShares"] = shares != 0 ? shares : kDefaultShares;
  erase_member(*limited, "assuredConcurrencyShares");
  return {};
}

}  // namespace

Status add_former_versions(Scheme& scheme) {
  const std::string group = std::string(kGroup) + "/", level = "PriorityLevelConfiguration";
  return add_former_versions(scheme, "flowcontrol", flowcontrol_former_json(), flowcontrol_schemas(),
                             {{{level, group + "v1beta3"}, level_from_v1beta3},
                              {{level, group + "v1beta2"}, level_from_assured_shares},
                              {{level, group + "v1beta1"}, level_from_assured_shares}});
}

}  // namespace backplane::flowcontrol
