// Ingresses.
#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "kinds.hpp"

namespace backplane::networking {
namespace {

using namespace kit;

// The annotation that named the class before the field existed.
constexpr std::string_view kClassAnnotation = "kubernetes.io/ingress.class";

class IngressStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override {
    const Value* annotation = find_path(object, {"metadata", "annotations", kClassAnnotation});
    const Value* name = find_path(object, {"spec", "ingressClassName"});
    if (annotation == nullptr || name == nullptr || *annotation == *name) return;
    errors.invalid(at("annotations", kClassAnnotation), text_of(*annotation), "must match `ingressClassName` when both are specified");
  }
};

class IngressStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  std::vector<std::string> warnings(const Object& object, const Object*) const override { return balancer_warnings(object); }
};

}  // namespace

KindCode ingress_code() { return {.make = made<IngressStrategy>(), .make_status = made_status<IngressStatusStrategy>}; }

}  // namespace backplane::networking
