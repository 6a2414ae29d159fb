// A plugin whose kind has a subresource of each role: status, scale, eject (NamedCreater), log (StreamGetter) and shell (Connecter).
#include <backplane/plugin.hpp>
#include <backplane/points/http.hpp>
#include <backplane/rest/api_group.hpp>
#include <backplane/rest/connect.hpp>
#include <backplane/rest/resource_config.hpp>
#include <backplane/rest/scheme.hpp>
#include <backplane/rest/standard_storage.hpp>
#include <backplane/rest/strategy.hpp>
#include <backplane/types/schema.hpp>

#include "widgets_json.hpp"

namespace {

using namespace backplane;

const GroupVersion kVersion{"widgets.example.com", "v1"};

Task<void> say(Exchange& exchange, std::string_view text) {
  std::vector<SharedBytes> body;
  body.emplace_back(std::string(text));
  co_await exchange.respond(200, "text/plain", std::move(body));
}

// The base class of subresources with the kind `kind`.
class Subresource : public RestStorage, public Scoper {
 public:
  Subresource(std::shared_ptr<const SchemaSet> schemas, std::string kind)
      : schemas_(std::move(schemas)), kind_{kVersion.group, kVersion.version, std::move(kind)} {}
  GroupVersionKind kind() const override { return kind_; }
  const Schema* schema() const override { return schemas_->find(kind_); }
  bool namespaced() const override { return true; }

 private:
  const std::shared_ptr<const SchemaSet> schemas_;
  const GroupVersionKind kind_;
};

class Eject final : public Subresource, public NamedCreater {
 public:
  using Subresource::Subresource;
  Task<Result<ObjectRef>> create_named(RequestContext&, std::string, Object& object, WriteOptions) override {
    co_return make_object(object);
  }
};

class Log final : public Subresource, public StreamGetter {
 public:
  using Subresource::Subresource;
  std::vector<std::string> media_types() const override { return {"text/plain"}; }
  std::vector<ConnectParameter> parameters() const override { return {}; }
  Task<Status> get_stream(RequestContext&, std::string, Exchange& exchange) override {
    co_await say(exchange, "logged");
    co_return Status();
  }
};

class Shell final : public Subresource, public Connecter {
 public:
  using Subresource::Subresource;
  std::vector<std::string> connect_methods() const override { return {"GET", "POST"}; }
  Task<void> connect(RequestContext&, std::string, Exchange& exchange) override { co_await say(exchange, "connected"); }
};

class Widgets final : public Plugin {
 public:
  Status provision(Host& host) override {
    const std::string_view document = widgets_json();
    auto schemas = SchemaSet::compile({&document, 1}, {meta_schemas()});
    if (!schemas.ok()) return std::move(schemas).status();
    Status status = host.scheme().add_known_types(kVersion, *schemas, "widgets");
    return status.ok() ? install(host, *schemas) : status;
  }

 private:
  static Status install(Host& host, const std::shared_ptr<const SchemaSet>& schemas) {
    ResourceConfig config;
    config.kind = {kVersion.group, kVersion.version, "Widget"};
    config.resource = "widgets";
    config.schemas = schemas;
    config.schema = schemas->find(config.kind);
    config.strategy = std::make_shared<Strategy>(KindFacts());
    config.storage_prefix = "widgets.example.com/widgets";
    auto storage = host.make_storage(config);
    if (!storage.ok()) return std::move(storage).status();
    auto status = host.make_subresource(*storage, config.strategy);
    if (!status.ok()) return std::move(status).status();
    auto scale = host.make_scale(*storage, Host::ScalePaths());
    if (!scale.ok()) return std::move(scale).status();
    APIGroupInfo group;
    group.group = kVersion.group;
    group.prioritized_versions = {kVersion.version};
    group.storages[kVersion.version] = {{"widgets", *storage},
                                        {"widgets/status", *status},
                                        {"widgets/scale", *scale},
                                        {"widgets/eject", std::make_shared<Eject>(schemas, "Ejection")},
                                        {"widgets/log", std::make_shared<Log>(schemas, "Widget")},
                                        {"widgets/shell", std::make_shared<Shell>(schemas, "Widget")}};
    group.schemas[kVersion.version] = schemas;
    return host.install_api_group(std::move(group));
  }
};

}  // namespace

BACKPLANE_PLUGIN(Widgets)
