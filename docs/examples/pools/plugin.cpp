#include <backplane/plugin.hpp>
#include <backplane/resource.hpp>

#include "group_json.hpp"
#include "pools_v1_json.hpp"
#include "pools_v2_json.hpp"

using namespace backplane;

Status v1_to_v2(Object& pool) {
  Object& spec = ensure_object(pool, "spec");
  spec["size"] = get_bool(spec, "large").value_or(false) ? "large" : "small";
  erase_member(spec, "large");
  return {};
}

Status v2_to_v1(Object& pool) {
  Object& spec = ensure_object(pool, "spec");
  if (get_string(spec, "size") == "large") spec["large"] = true;
  erase_member(spec, "size");
  return {};
}

class Pools final : public Plugin {
  Status provision(Host& host) override {
    const GroupVersionKind v1{"pools.example.com", "v1", "Pool"}, v2{"pools.example.com", "v2", "Pool"};
    if (Status status = host.scheme().add_conversion(v1, v2, v1_to_v2); !status.ok()) return status;
    if (Status status = host.scheme().add_conversion(v2, v1, v2_to_v1); !status.ok()) return status;
    auto types = kit::embedded_schemas({pools_v2_json(), pools_v1_json()});
    return kit::install_group(host, "example.com/pools", kit::read_group(group_json()), std::move(types));
  }
};
BACKPLANE_PLUGIN(Pools)
