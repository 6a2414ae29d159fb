#include "stable/bridge.hpp"

#include <cstddef>
#include <utility>

#include "stable/context.hpp"
#include "stable/controllers.hpp"

namespace backplane::stable {
namespace {

class BridgedPlugin final : public Plugin {
 public:
  BridgedPlugin(const bp_plugin& table, std::string name, std::function<Status()> process)
      : table_(table), context_(std::move(name), std::move(process)) {}
  ~BridgedPlugin() override {
    const CallScope scope(CallPlace::kLifecycle);
    if (table_.destroy != nullptr) table_.destroy(table_.self);
  }

  Status configure(std::string_view config) override {
    if (table_.configure == nullptr) return {};
    return call([&](bp_error* error) { return table_.configure(table_.self, str(config), error); });
  }
  Status provision(Host& host) override {
    context_.begin(host);
    return call([&](bp_error* error) { return table_.provision(table_.self, &context_.table, error); });
  }
  Status validate() override {
    if (table_.validate == nullptr) return {};
    return call([&](bp_error* error) { return table_.validate(table_.self, error); });
  }

 private:
  template <class Work>
  static Status call(Work work) {
    const CallScope scope(CallPlace::kLifecycle);
    bp_error error{};
    return work(&error) == 0 ? Status() : status_of(error);
  }

  const bp_plugin table_;
  bp_context context_;
};

}  // namespace

Result<std::unique_ptr<Plugin>> make_plugin(Entry entry, std::string name) {
  const CallScope scope(CallPlace::kLifecycle);
  bp_error error{};
  const bp_plugin* const given = entry(&error);
  if (given == nullptr) return status_of(error);
  const bp_plugin table = copy_of(given);
  if (table.provision == nullptr) return Status(Reason::kInternalError, "the plugin's table has no provision()");
  return std::unique_ptr<Plugin>(new BridgedPlugin(table, std::move(name), {}));
}

std::unique_ptr<Plugin> make_plugin(const bp_plugin& table, std::string name, std::function<Status()> process) {
  return std::make_unique<BridgedPlugin>(table, std::move(name), std::move(process));
}

}  // namespace backplane::stable
