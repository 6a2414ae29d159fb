// A plugin that serves a group with one kind.  bench/growth.cpp makes copies of it with different digits in their names, and loads them.
#include <backplane/plugin.hpp>
#include "backplane/rest/api_group.hpp"
#include "backplane/rest/resource_config.hpp"
#include "backplane/rest/standard_storage.hpp"
#include "backplane/rest/strategy.hpp"

#include <array>

using namespace backplane;

namespace {

// volatile, so that the compiler stores the name as one string, which bench/growth.cpp replaces in the copies.
const char* volatile growth_name = "growth-0000";

class Plain final : public Strategy {};

class Growth final : public Plugin {
  Status provision(Host& host) override {
    const std::string group = std::string(growth_name) + ".example.com";
    const GroupVersionKind kind{group, "v1", "Thing"};
    const std::string document = R"({"x-backplane-mode":"structural","definitions":{"com.example.)" + std::string(growth_name) +
                                 R"(.v1.Thing":{"x-kubernetes-group-version-kind":[{"group":")" + group +
                                 R"(","kind":"Thing","version":"v1"}],"type":"object","properties":{"spec":{"type":"object",)" +
                                 R"("x-kubernetes-preserve-unknown-fields":true}}}}})";
    const std::array<std::string_view, 1> documents = {document};
    auto schemas = SchemaSet::compile(documents, {meta_schemas()});
    if (!schemas.ok()) return std::move(schemas).status();
    ResourceConfig config;
    config.kind = kind;
    config.resource = "things";
    config.schemas = *schemas;
    config.schema = (*schemas)->find(kind);
    config.strategy = std::make_shared<Plain>();
    config.storage_prefix = group + "/things";
    auto storage = host.make_storage(config);
    if (!storage.ok()) return std::move(storage).status();
    APIGroupInfo info;
    info.group = group;
    info.prioritized_versions = {"v1"};
    info.storages["v1"]["things"] = *storage;
    info.schemas["v1"] = *schemas;
    return host.install_api_group(std::move(info));
  }
};

}  // namespace

BACKPLANE_PLUGIN(Growth)
