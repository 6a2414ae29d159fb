#include "connections/commands.hpp"

#include "backplane/core/metrics.hpp"
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"
#include "backplane/types/schema.hpp"
#include "connections/forward_request.hpp"
#include "connections/options.hpp"
#include "connections/pods.hpp"
#include "streams/remote_command.hpp"
#include "streams/spdy_tunnel.hpp"

namespace backplane::core {
namespace {

// What differs between exec, attach and portforward.
struct Form {
  std::string_view kind;
  std::string_view subresource;
  std::string_view path;  // the first segment of the path at the kubelet
  bool of_container;      // a container is selected, and is part of the path
  Result<Object> (*read)(const Query& query);
  std::vector<ConnectParameter> (*parameters)();
};

Result<Object> read_exec(const Query& query) { return read_exec_options(query); }
Result<Object> read_attach(const Query& query) { return read_attach_options(query); }

constexpr Form kExec = {"PodExecOptions", "exec", "exec", true, read_exec, exec_parameters};
constexpr Form kAttach = {"PodAttachOptions", "attach", "attach", true, read_attach, attach_parameters};
constexpr Form kPortForward = {"PodPortForwardOptions",   "portforward",          "portForward", false,
                               read_port_forward_options, port_forward_parameters};

class PodCommand final : public RestStorage, public OptionConnecter {
 public:
  PodCommand(const Form& form, CommandOptions options) : form_(form), options_(std::move(options)) {}

  GroupVersionKind kind() const override { return {"", "v1", std::string(form_.kind)}; }
  const Schema* schema() const override { return nullptr; }
  std::vector<std::string> connect_methods() const override { return {"GET", "POST"}; }
  std::vector<ConnectParameter> parameters() const override { return form_.parameters(); }
  Result<Object> read_options(const RequestContext&, const Query& query) const override { return form_.read(query); }

  Task<Status> connect_with(RequestContext& context, std::string name, Object options, Exchange& exchange) override {
    Executor& home = *current_executor();
    Status allowed = co_await check_create(context);
    co_await resume_on(home);
    if (!allowed.ok()) co_return allowed;
    auto pod = co_await options_.pods->get(context, name, GetOptions());
    co_await resume_on(home);
    if (!pod.ok()) co_return std::move(pod).status();
    const Object tree = decode(**pod, context.arena());
    std::string target = "/" + std::string(form_.path) + "/" + context.info.ns + "/" + name;
    if (form_.of_container) {
      auto container = choose_container(tree, get_string(options, "container"));
      if (!container.ok()) co_return std::move(container).status();
      target.append("/").append(*container);
    }
    if (node_of(tree).empty()) co_return bad_request("pod " + name + " does not have a host assigned");
    auto kubelet = co_await options_.kubelets->find(context, std::string(node_of(tree)));
    co_await resume_on(home);
    if (!kubelet.ok()) co_return std::move(kubelet).status();
    target = escape_path(target);
    if (const std::string query = kubelet_query(options); !query.empty()) target.append("?").append(query);
    Status done = co_await join(context, exchange, std::move(*kubelet), std::move(target), std::move(options));
    co_return done;
  }

 private:
  // A POST (SPDY) has been authorized as "create", but a GET (WebSocket) only as "get". Authorizes "create" for a GET, too, so that a user
  // without this permission cannot connect by WebSocket.
  Task<Status> check_create(RequestContext& context) const {
    if (!options_.authorize_create || context.info.verb == "create") co_return Status();
    AuthorizationAttributes wanted = authorization_attributes(context);
    wanted.verb = "create";
    AuthorizerResult result = co_await options_.authorizer->authorize(wanted);
    if (result.decision == Decision::kAllow) co_return Status();
    if (!result.error.ok()) co_return Status(500, Reason::kNone, result.error.message());
    co_return forbidden("", context.info.resource, context.info.name, result.reason);
  }

  bool translates(const Kubelet& kubelet) const { return !(options_.websockets_to_kubelet && kubelet.takes_websockets); }

  Task<Status> join(RequestContext& context, Exchange& exchange, Kubelet kubelet, std::string target, Object options) const {
    auto client = options_.kubelets->client(kubelet);
    if (!client.ok()) co_return std::move(client).status();
    const bool enabled = form_.of_container ? options_.translate_commands : options_.tunnel_port_forward;
    if (enabled) count_route(translates(kubelet) ? "translated_at_apiserver" : "proxied_to_kubelet");
    const bool command = enabled && form_.of_container && translates(kubelet);
    const bool tunnel = enabled && !form_.of_container && translates(kubelet);
    if (command && asks_for_stream_close(exchange)) {
      RemoteCommand wanted = command_of(options);
      wanted.kubelet = *client;
      wanted.url = kubelet.server() + target;
      wanted.target = std::move(target);
      Status done = co_await translate_command(exchange, std::move(wanted));
      co_return done;
    }
    if (tunnel && asks_for_tunnel(exchange)) {
      Status done = co_await tunnel_spdy(exchange, *client, std::move(target));
      co_return done;
    }
    ProxyCall call;
    call.backend = *client;
    call.target = std::move(target);
    call.upgrade_required = true;
    call.forwards_uri = false;
    Status done = co_await forward_request(context, exchange, std::move(call));
    co_return done;
  }

  void count_route(std::string_view route) const {
    static Metric& requests = Metric::counter(
        "apiserver_websocket_streaming_requests_total",
        "Requests of exec, attach and portforward, by the component that translates their WebSockets.", {"subresource", "proxy_type"});
    requests.add({form_.subresource, route});
  }

  static RemoteCommand command_of(const Object& options) {
    RemoteCommand out;
    out.in = get_bool(options, "stdin").value_or(false);
    out.out = get_bool(options, "stdout").value_or(false);
    out.err = get_bool(options, "stderr").value_or(false);
    out.tty = get_bool(options, "tty").value_or(false);
    return out;
  }

  const Form& form_;
  const CommandOptions options_;
};

}  // namespace

std::shared_ptr<RestStorage> make_pod_exec(CommandOptions options) { return std::make_shared<PodCommand>(kExec, std::move(options)); }
std::shared_ptr<RestStorage> make_pod_attach(CommandOptions options) { return std::make_shared<PodCommand>(kAttach, std::move(options)); }
std::shared_ptr<RestStorage> make_pod_port_forward(CommandOptions options) {
  return std::make_shared<PodCommand>(kPortForward, std::move(options));
}

}  // namespace backplane::core
