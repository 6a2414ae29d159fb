// IP addresses: their names are addresses, and nothing else is said of a name that is none.
#include "backplane/kit/strategy.hpp"
#include "kinds.hpp"

namespace backplane::networking {
namespace {

class IpAddressStrategy final : public kit::KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  // The schema has said so by now, and who asks after every name that it is no part of a path.
  void check(const Object&, FieldErrors& errors) const override {
    const auto of_paths = [](const FieldError& error) {
      return (error.field == "metadata.name" || error.field == "metadata.generateName") &&
             error.text.find(": may not ") != std::string::npos;
    };
    FieldErrors kept;
    for (const FieldError& error : errors.list()) {
      if (!of_paths(error)) kept.add(error);
    }
    errors = std::move(kept);
  }
};

}  // namespace

kit::KindCode ip_address_code() { return {.make = kit::made<IpAddressStrategy>()}; }

}  // namespace backplane::networking
