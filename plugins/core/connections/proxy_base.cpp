#include "connections/proxy_base.hpp"

#include "connections/forward_request.hpp"
#include "connections/linking_exchange.hpp"
#include "connections/options.hpp"

namespace backplane::core {
namespace {

std::string_view query_part(std::string_view target) {
  const auto question = target.find('?');
  return question == std::string_view::npos ? std::string_view() : target.substr(question);
}

// Returns `path` without the backend's path at its end.
std::string prefix_of(const std::string& path, std::string_view backend_path) {
  std::string suffix(backend_path);
  if (path.ends_with('/') && !suffix.ends_with('/')) suffix += '/';
  return path.ends_with(suffix) ? path.substr(0, path.size() - suffix.size()) : path;
}

}  // namespace

std::vector<std::string> ProxyBase::connect_methods() const { return {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}; }

Result<Object> ProxyBase::read_options(const RequestContext& context, const Query&) const {
  Object out{{"kind", kind_}, {"apiVersion", "v1"}};
  if (const std::string path = path_after_subresource(context.info); !path.empty()) out["path"] = path;
  return out;
}

Task<Status> ProxyBase::connect_with(RequestContext& context, std::string name, Object options, Exchange& exchange) {
  Executor& home = *current_executor();
  auto found = co_await find(context, std::move(name));
  co_await resume_on(home);
  if (!found.ok()) co_return std::move(found).status();
  const std::string path = clean_path(get_string(options, "path"));
  const bool reads = exchange.method() == "GET" || exchange.method() == "HEAD";
  if (path.empty() && reads && !is_upgrade_request(exchange)) {
    // Redirects to the path with a slash at its end, so that relative links of the backend's page resolve correctly.
    exchange.set_response_header("Location", context.info.path + "/" + std::string(query_part(exchange.target())));
    co_await exchange.respond(301, "", {});
    co_return Status();
  }
  ProxyCall call;
  call.backend = found->client;
  call.target = (path.empty() ? "/" : escape_path(path)) + std::string(query_part(exchange.target()));
  call.host = exchange.header("Host");
  call.path_prefix = prefix_of(context.info.path, path);
  LinkingExchange linking(exchange, {found->authority, call.host, call.path_prefix});
  Status done = co_await forward_request(context, linking, std::move(call));
  co_return done;
}

}  // namespace backplane::core
