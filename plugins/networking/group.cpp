// Assembles the group networking.k8s.io.
#include "backplane/kit/group.hpp"
#include "kinds.hpp"
#include "networking_group_json.hpp"
#include "networking_v1_json.hpp"
#include "networking_v1beta1_json.hpp"

namespace backplane::networking {

Result<std::vector<std::shared_ptr<const SchemaSet>>> networking_schemas() {
  return kit::embedded_schemas({networking_v1_json(), networking_v1beta1_json()});
}

Result<kit::GroupDocument> networking_group() {
  kit::GroupCode code{.kinds = {{"Ingress", ingress_code()},
                                {"IPAddress", ip_address_code()},
                                {"NetworkPolicy", network_policy_code()},
                                {"ServiceCIDR", service_cidr_code()}}};
  add_printers(code);
  return kit::read_group(networking_group_json(), code);
}

}  // namespace backplane::networking
