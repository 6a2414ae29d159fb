// IPAddress objects, whose names are addresses.
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "kinds.hpp"

namespace backplane::networking {
namespace {

class IpAddressStrategy final : public kit::KindStrategy {
 public:
  using KindStrategy::KindStrategy;

  // generateName becomes the name without a suffix, because a name with a suffix would not be an address.
  void apply_defaults(Object& object) const override {
    ObjectMeta meta(object);
    if (meta.name().empty() && !meta.generate_name().empty()) meta.set("name", std::string(meta.generate_name()));
  }
};

}  // namespace

kit::KindCode ip_address_code() { return {.make = kit::made<IpAddressStrategy>()}; }

}  // namespace backplane::networking
