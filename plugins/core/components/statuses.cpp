#include "components/statuses.hpp"

#include <array>
#include <chrono>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/kit/table.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::chrono::seconds kCallTimeout{20};
constexpr std::size_t kMostBytes = 10 << 10;
constexpr std::string_view kControllerManager = "https://127.0.0.1:10257";
constexpr std::string_view kScheduler = "https://127.0.0.1:10259";

// A component, the address of its server and the path of its health check.
struct Component {
  std::string name, server, path;
  std::shared_ptr<HttpClient> client;
};

struct Health {
  bool good = false;
  std::string message;
};

Task<Health> ask(std::shared_ptr<HttpClient> client, std::string server, std::string path) {
  HttpCall call;
  call.target = path;
  call.deadline = std::chrono::steady_clock::now() + kCallTimeout;
  auto answer = co_await client->call(std::move(call));
  if (!answer.ok()) co_return Health{false, "Get " + quoted(server + path) + ": " + answer.status().message()};
  const int code = (*answer)->code();
  if (code < 200 || code >= 400) co_return Health{false, "HTTP probe failed with statuscode: " + std::to_string(code)};
  auto body = co_await read_all(**answer, kMostBytes);
  if (!body.ok()) co_return Health{false, body.status().message()};
  co_return Health{true, std::move(*body)};
}

void print_health(const Object& status, std::int64_t, Array& cells) {
  const Object* healthy = find_item(status, "conditions", "type", "Healthy");
  const bool good = healthy != nullptr && get_string(*healthy, "status") == "True";
  cells.emplace_back(healthy == nullptr ? "Unknown" : good ? "Healthy" : "Unhealthy");
  for (const std::string_view member : {"message", "error"}) cells.emplace_back(healthy != nullptr ? get_string(*healthy, member) : "");
}

ColumnTable table() {
  return ColumnTable({name_column(),
                      {.name = "Status", .description = "Whether it is healthy.", .cells = print_health},
                      {.name = "Message", .description = "What it has answered."},
                      {.name = "Error", .description = "Why it could not be asked."}});
}

class ComponentStatuses final : public RestStorage,
                                public Scoper,
                                public SingularNameProvider,
                                public ShortNamesProvider,
                                public TableProvider,
                                public Getter,
                                public Lister {
 public:
  ComponentStatuses(ComponentClients clients, const Schema* schema)
      : components_{{{"controller-manager", std::string(kControllerManager), "/healthz", std::move(clients.controller_manager)},
                     {"scheduler", std::string(kScheduler), "/healthz", std::move(clients.scheduler)},
                     {"etcd-0", "", "/healthz/etcd", std::move(clients.own)}}},
        schema_(schema) {}

  GroupVersionKind kind() const override { return {"", "v1", "ComponentStatus"}; }
  const Schema* schema() const override { return schema_; }
  bool namespaced() const override { return false; }
  std::string singular_name() const override { return "componentstatus"; }
  std::vector<std::string> short_names() const override { return {"cs"}; }
  std::string deprecation_warning() const override { return "v1 ComponentStatus is deprecated in v1.19+"; }
  const TableConvertor& table_convertor() const override { return table_; }
  std::string list_kind() const override { return "ComponentStatusList"; }

  Task<Result<ObjectRef>> get(RequestContext&, std::string name, GetOptions) override {
    for (const Component& component : components_) {
      if (component.name != name) continue;
      auto status = co_await status_of(component);
      co_return status;
    }
    co_return not_found("", "componentstatus", name);
  }

  Task<Result<ListResult>> list(RequestContext&, ListOptions options) override {
    for (const auto& requirement : options.fields.requirements()) {
      if (requirement.field == "metadata.name" || requirement.field == "metadata.namespace") continue;
      co_return bad_request(quoted(requirement.field) + " is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
    }
    std::vector<ObjectRef> found;
    for (const Component& component : components_) {
      if (!is_wanted(component, options)) continue;
      auto status = co_await status_of(component);
      if (!status.ok()) co_return std::move(status).status();
      found.push_back(std::move(*status));
    }
    ListResult out;
    out.items = make_cursor(std::move(found));
    co_return out;
  }

 private:
  // ComponentStatuses have no labels; metadata.name is the only field that a selector can match.
  static bool is_wanted(const Component& component, const ListOptions& options) {
    const auto field = [&](std::string_view label) {
      return label == "metadata.name" ? std::string_view(component.name) : std::string_view();
    };
    return options.labels.matches(Labels()) && options.fields.matches(field);
  }

  Task<Result<ObjectRef>> status_of(const Component& component) const {
    const Health health = co_await ask(component.client, component.server, component.path);
    Object condition;
    condition["type"] = "Healthy";
    condition["status"] = health.good ? "True" : "False";
    condition["message"] = health.message;
    Object status;
    status["kind"] = "ComponentStatus";
    status["apiVersion"] = "v1";
    status["metadata"] = Object{{"name", component.name}};
    status["conditions"] = Array{std::move(condition)};
    Value out(std::move(status));
    Status shaped = schema_->normalize(out, nullptr);
    if (!shaped.ok()) co_return shaped;
    co_return make_object(out.get_object());
  }

  const std::array<Component, 3> components_;
  const Schema* const schema_;
  const ColumnTable table_ = table();
};

}  // namespace

Result<ComponentClients> make_component_clients(Host& host) {
  ComponentClients out;
  out.own = host.client();
  for (const auto& [server, client] : {std::pair{kControllerManager, &out.controller_manager}, std::pair{kScheduler, &out.scheduler}}) {
    ClientConfig config;
    config.server = server;
    config.insecure_skip_tls_verify = true;
    config.max_connections = 1;
    auto made = host.make_client(std::move(config));
    if (!made.ok()) return std::move(made).status();
    *client = std::move(*made);
  }
  return out;
}

std::shared_ptr<RestStorage> make_component_statuses(ComponentClients clients, const Schema* schema) {
  return std::make_shared<ComponentStatuses>(std::move(clients), schema);
}

}  // namespace backplane::core
