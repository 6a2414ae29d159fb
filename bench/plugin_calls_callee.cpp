#include "plugin_calls_callee.hpp"

namespace bench {
namespace {

using namespace backplane;

class Quick final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "quick"; }
  std::optional<AuthorizerResult> decide_now(const RequestView&) const override { return std::nullopt; }
};

class Waiting final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "waiting"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes&) override { co_return AuthorizerResult(); }
};

int32_t provision(void*, const bp_host* host, bp_error* error) {
  const bp_str name{BP_SECURITY_TABLE, sizeof(BP_SECURITY_TABLE) - 1};
  const auto* security = static_cast<const bp_security_table*>(host->table(host->context, name, BP_SECURITY_TABLE_VERSION));
  bp_authorizer authorizer{};
  authorizer.struct_size = sizeof(authorizer);
  authorizer.name = {"stable", 6};
  authorizer.decide = decide;
  return security->add_authorizer(host->context, &authorizer, error);
}

}  // namespace

std::shared_ptr<Authorizer> quick_authorizer() { return std::make_shared<Quick>(); }
std::shared_ptr<Authorizer> waiting_authorizer() { return std::make_shared<Waiting>(); }

const bp_plugin& stable_plugin() {
  static const bp_plugin plugin = [] {
    bp_plugin table{};
    table.struct_size = sizeof(table);
    table.provision = provision;
    return table;
  }();
  return plugin;
}

int32_t decide(void*, const bp_access*, bp_output*, bp_error*) { return BP_NO_OPINION; }

}  // namespace bench
